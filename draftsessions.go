// Package draftsessions documents the project and embeds what every host needs
// to know before it starts the plugin.
//
// A draft is an unsent task for a coding agent: its text lies in a file of ours,
// and it is bound to a real blank session of the agent host. The plugin process
// (package plugin, started as "draft-sessions plugin") decides everything about
// drafts; a host (package host, or the DSH bundle in host/dsh) starts it, offers
// it sessions over the host channel, and shows its rows. Package shared holds
// what both sides agree on, package jsonstore the durable file.
package draftsessions

import _ "embed"

// Compatibility is compatibility.json: which hosts and versions are tested and pinned.
//
//go:embed compatibility.json
var Compatibility []byte
