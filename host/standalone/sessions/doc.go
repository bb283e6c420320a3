// Package sessions keeps the standalone host's sessions: each an append-only
// event log (package eventlog) from which everything else is derived. Start
// with [Open]; [Store.Create] makes a session under an id of the caller's,
// [Store.Prompt] admits a prompt and runs a turn of the session's agent.
//
// # Prompts
//
// A prompt carries a submission id. On disk are, in this order: its receipt
// (prompt/received), the plugin's consent, its user message, and only then the
// agent is asked. So the same id never runs twice: [Store.Prompt] with an id that
// is known answers what became of it. A user message without the end of its turn
// after a restart has an unknown outcome: that is written down and shown, and it
// is never run again by itself (invariant 10). A receipt without a user message
// proves that nothing ran, so the same request may be repeated.
package sessions
