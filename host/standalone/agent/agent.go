// Package agent is what the standalone host asks of whatever answers prompts: a
// model behind an API, a program that speaks the Agent Client Protocol, or the
// offline echo. An [Agent] serves any number of sessions; [Agent.Run] runs one
// turn of one session and tells what happens through its [Output].
//
// The host keeps the conversation (package sessions) and hands it over with
// every turn, so an agent may be as forgetful as it likes. What it must
// remember itself, such as the id of a conversation in another process, it
// leaves with [Output.Remember] and finds again in [Turn.State].
package agent

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"
)

// Agent answers prompts. Its methods are called concurrently; Run at most once
// at a time for one session.
type Agent interface {
	// Describe tells what may be chosen. It is asked often and answers from
	// memory; an agent that learns its models later says so through Changed.
	Describe() Description
	// Run runs one turn and returns when it has ended, also when ctx ends: then
	// with [Cancelled], after what it said so far went to out. An error means that
	// the turn failed; its text is shown to the person and holds neither the
	// prompt nor a credential. A coded error (*shared.Error) keeps its code.
	Run(ctx context.Context, turn Turn, out Output) (Stop, error)
	// Forget ends what the agent keeps for a session; it may be opened again later.
	Forget(sessionID string)
	// Close ends everything that the agent started and waits for it.
	Close() error
}

// Description is what a person may choose for a session.
type Description struct {
	// ID is short and stable, such as "echo", "openai" or "acp".
	ID string `json:"id"`
	// Title is for people; Note is one sentence about what this agent is.
	Title string `json:"title"`
	Note  string `json:"note"`
	// Models, Presets and Permissions are empty where there is nothing to choose.
	Models       []Choice `json:"models"`
	DefaultModel string   `json:"defaultModel"`
	// Presets have ids of the form "<agent>/<preset>"; the first is the default.
	Presets           []Choice `json:"presets"`
	Permissions       []Choice `json:"permissions"`
	DefaultPermission string   `json:"defaultPermission"`
	// Available is false when it cannot run now; Message says why.
	Available bool   `json:"available"`
	Message   string `json:"message"`
}

// Choice is one model, preset or permission.
type Choice struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
}

// Turn is one prompt with what came before it.
type Turn struct {
	SessionID    string
	SubmissionID string
	// Folder is the workspace's folder, absolute.
	Folder string
	// Model, Preset and Permission are the session's choices, "" for the default.
	Model, Preset, Permission string
	// History are the earlier messages, oldest first; Prompt is the new one.
	History []Message
	Prompt  string
	// State is what the agent last left with [Output.Remember], nil when nothing.
	State jsontext.Value
}

// Message is one message of a conversation.
type Message struct {
	// Role is "user" or "assistant".
	Role string
	Text string
}

// Stop says how a turn ended without an error.
type Stop string

// How turns end.
const (
	Completed Stop = "completed"
	Cancelled Stop = "cancelled"
	// Truncated: the agent ran into a limit of its own; what it said is there.
	Truncated Stop = "truncated"
	// Refused: the agent declined to go on.
	Refused Stop = "refused"
)

// Output takes what an agent does, in order. Its methods may be called from any
// goroutine of the turn, not after Run has returned.
type Output interface {
	// Text and Thought append to the message that is being streamed.
	Text(delta string)
	Thought(delta string)
	// Plan replaces the plan, Tool the tool call of the same id. They are on disk
	// when they return without an error.
	Plan(entries []PlanEntry) error
	Tool(call ToolCall) error
	// Notice is a remark for the person.
	Notice(code, message string) error
	// Ask asks the person, or answers by the session's permission, and waits. It returns the chosen option's id, or
	// [ErrCancelled] when the turn was cancelled or the request dismissed.
	Ask(ctx context.Context, request PermissionRequest) (optionID string, err error)
	// Remember keeps state for the next turn of the session; on disk on return.
	Remember(state jsontext.Value) error
}

// PlanEntry is one step of a plan.
type PlanEntry struct {
	Text     string `json:"text"`
	Priority string `json:"priority"`
	Status   string `json:"status"`
}

// ToolCall is a tool call as it stands now.
type ToolCall struct {
	ID        string        `json:"toolCallId"`
	Title     string        `json:"title"`
	Kind      string        `json:"kind"`
	Status    string        `json:"status"`
	Content   []ToolContent `json:"content"`
	Locations []Location    `json:"locations"`
	// Input is the call's input as JSON text, cut at [MaxToolInput] bytes.
	Input string `json:"input"`
}

// Permissions that the host itself acts on in [Output.Ask]; an agent whose tools
// ask offers them in its description.
const (
	// PermissionAsk asks the person every time.
	PermissionAsk = "ask"
	// PermissionAllow allows what is asked, once each time.
	PermissionAllow = "allow"
	// PermissionReject rejects it.
	PermissionReject = "reject"
)

// MaxToolInput bounds ToolCall.Input, in bytes.
const MaxToolInput = 16 << 10

// ToolContent is a piece of what a tool call produced.
type ToolContent struct {
	// Type is "text", "diff" or "terminal".
	Type    string `json:"type"`
	Text    string `json:"text,omitempty"`
	Path    string `json:"path,omitempty"`
	OldText string `json:"oldText,omitempty"`
	NewText string `json:"newText,omitempty"`
}

// Location is a file that a tool call is about. Line is 0 when it has none.
type Location struct {
	Path string `json:"path"`
	Line int    `json:"line"`
}

// PermissionRequest asks whether a tool call may run.
type PermissionRequest struct {
	ToolCallID string             `json:"toolCallId"`
	Title      string             `json:"title"`
	Options    []PermissionOption `json:"options"`
}

// PermissionOption is one answer that may be given.
type PermissionOption struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Kind is allow_once, allow_always, reject_once or reject_always.
	Kind string `json:"kind"`
}
