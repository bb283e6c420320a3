// Package standalone is a small complete host for drafts: sessions, workspaces,
// agents and a page of its own, in one process beside the plugin's. [Start] is
// the whole host; the command "draft-sessions up" adds a terminal to it.
//
// The parts, each in a package of its own:
//
//	home        the folder, its lock, how programs find a running host
//	workspaces  the folders that a person works in
//	eventlog    an append-only log in one file
//	sessions    sessions, prompts and their receipts, turns
//	agent       what answers prompts: echo, openai, acp
//	bridge      the plugin process
//	server      HTTP, JSON, server-sent events (API.md)
//	web         the page
//
// # What is durable
//
// A prompt's receipt and its user message are on disk before an agent is asked;
// every event of a session is on disk before a page is told; drafts are the
// plugin's (package drafts). A crash at any point loses nothing that was
// acknowledged, and nothing runs twice.
package standalone
