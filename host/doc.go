// Package host is the host's side of the plugin, for a host written in Go.
//
// A host that wants drafts for as long as it runs calls [Supervise]: it passes the
// gate, starts the process, starts it again when it ends, gives up when it does
// not stay, and says in a [Status] which of these it is. [Supervisor.Client] calls
// the plugin while it is there. What the plugin may ask of the host is [Sessions].
// [Launch] is one process without supervision, for tests and commands.
//
// The gate has one order: the manifest beside the binary (package manifest), the
// binary's checksum, the handshake, who the process is, and its decision on the
// facts of the host ([Options.Facts]). A miss is a [StartError] whose reasons say
// what was expected, what was found and what to do; a mismatch is never tried again
// (invariant 8). Every call has a deadline, a process that does not answer is
// killed with what it started, and none is left behind (invariant 9).
//
// The Node half of the DSH bundle keeps the same rules (host/dsh/server).
package host
