// Package host is the host's side of the plugin: it starts the process with
// AutoMTLS, opens the host channel, gives every call a deadline, watches the
// process' health, and makes sure that it is gone in the end (invariants 8, 9).
// [Launch] is all that a Go host calls; what the plugin may ask of it is
// [Sessions].
package host
