// Package shared is what a host and the plugin agree on: the draft record and
// its limits, the reason codes of errors, and the handshake of the plugin
// process. It imports nothing else of the project. Start with [DraftRecord],
// [Code] and [Handshake].
package shared
