package shared

import (
	"crypto/sha256"
	"encoding/hex"
	"github.com/go-json-experiment/json/jsontext"
)

// RecordVersion is the version of a record and of the document that is written.
const RecordVersion = 2

// State is where a draft is between writing and sending.
type State string

// The states of a draft.
const (
	// StateDraft: not bound to a session yet.
	StateDraft State = "draft"
	// StateMaterializing: a session id is reserved on disk and the host is asked to create it.
	StateMaterializing State = "materializing"
	// StateReady: bound to a live blank session.
	StateReady State = "ready"
	// StateConverting: a send was handed to the host; its proof is awaited.
	StateConverting State = "converting"
	// StateError: the host refused to create the session; LastError says why, the text is kept.
	StateError State = "error"
)

// Document is the draft file, version 2.
type Document struct {
	Version int `json:"version"`
	// Generation counts the commits of the file, across processes.
	Generation int64         `json:"generation"`
	Drafts     []DraftRecord `json:"drafts"`
	Trash      []TrashEntry  `json:"trash"`
	// RestoreTarget is what a host shows again after a restart.
	RestoreTarget *RestoreTarget `json:"restoreTarget,omitzero"`
	Receipts      []Receipt      `json:"receipts,omitempty"`
}

// DraftRecord is one draft. Records are values: a change makes a new one with
// Revision + 1, and with TextRevision + 1 when Text or Content changed.
type DraftRecord struct {
	Version int    `json:"version"`
	ID      string `json:"id"`
	// SessionID is the bound session, nil while unbound.
	SessionID *string `json:"sessionId"`
	// ReservedSessionID is on disk before the host is asked to create it (invariant 13).
	ReservedSessionID string `json:"reservedSessionId,omitempty"`
	WorkspaceID       string `json:"workspaceId"`
	WorkspacePath     string `json:"workspacePath,omitempty"`
	Text              string `json:"text"`
	Title             string `json:"title,omitempty"`
	CreatedAt         int64  `json:"createdAt"`
	UpdatedAt         int64  `json:"updatedAt"`
	Order             int64  `json:"order"`
	Pinned            bool   `json:"pinned,omitzero"`
	AgentPresetID     string `json:"agentPresetId,omitempty"`
	State             State  `json:"state"`
	LastError         string `json:"lastError,omitempty"`
	Revision          int64  `json:"revision"`
	TextRevision      int64  `json:"textRevision"`
	// TextEditorID is the editor whose edit Text is, "" when it came another way. A
	// page whose own save it did not hear of is no stranger to its text.
	TextEditorID string `json:"textEditorId,omitempty"`
	// Conflicts are losing texts of concurrent edits; only the user removes them.
	Conflicts []Conflict `json:"conflicts,omitempty"`
	Content   *Content   `json:"content,omitzero"`
	Settings  *Settings  `json:"settings,omitzero"`
	Operation *Operation `json:"operation,omitzero"`
}

// Conflict is a text that lost against a newer one, kept until the user removes it.
type Conflict struct {
	ID       string   `json:"id"`
	Text     string   `json:"text"`
	At       int64    `json:"at"`
	EditorID string   `json:"editorId,omitempty"`
	Content  *Content `json:"content,omitzero"`
}

// Content is what a composer holds beside plain text. Offsets are UTF-16 code
// units into Text, as a browser counts. Later issues fill the members that are
// raw JSON; they survive every write.
type Content struct {
	Occurrences       []Occurrence   `json:"occurrences,omitempty"`
	Attachments       jsontext.Value `json:"attachments,omitempty"`
	References        jsontext.Value `json:"references,omitempty"`
	PastedBlocks      jsontext.Value `json:"pastedBlocks,omitempty"`
	Selections        jsontext.Value `json:"selections,omitempty"`
	SessionReferences jsontext.Value `json:"sessionReferences,omitempty"`
	Invocations       jsontext.Value `json:"invocations,omitempty"`
}

// Occurrence is a reference inside the text, such as a picked file: the range
// holds ClipboardText, which sends the same prompt as the chip that it stands for.
type Occurrence struct {
	Source        string         `json:"source"`
	Ref           string         `json:"ref"`
	Offset        int64          `json:"offset"`
	Length        int64          `json:"length"`
	Label         string         `json:"label"`
	Appearance    jsontext.Value `json:"appearance,omitempty"`
	ClipboardText string         `json:"clipboardText"`
}

// Settings are the choices that the draft's session gets again when it is re-created.
type Settings struct {
	// ModelSource is "default" or "explicit".
	ModelSource string         `json:"modelSource,omitempty"`
	Model       string         `json:"model,omitempty"`
	Effort      string         `json:"effort,omitempty"`
	Mode        string         `json:"mode,omitempty"`
	Permission  string         `json:"permission,omitempty"`
	Quality     string         `json:"quality,omitempty"`
	Goal        jsontext.Value `json:"goal,omitempty"`
	MCP         jsontext.Value `json:"mcp,omitempty"`
}

// Operation is a send whose proof is awaited. It is on disk before the host
// admits the prompt, so a restart knows which id to look for (invariant 2).
type Operation struct {
	// Kind is "prompt" (proof: a user message carrying ID) or "command" (proof:
	// a user message without an id after AfterSeq).
	Kind      string `json:"kind"`
	ID        string `json:"id"`
	SessionID string `json:"sessionId"`
	StartedAt int64  `json:"startedAt"`
	AfterSeq  int64  `json:"afterSeq,omitzero"`
	// HostInstance is the host process that was asked; when it is gone, nothing is in flight.
	HostInstance string `json:"hostInstance,omitempty"`
	// TextHash is the hash of the text that was sent.
	TextHash string `json:"textHash"`
}

// TrashEntry is a deleted draft, kept 30 days and at most 200.
type TrashEntry struct {
	Record    DraftRecord `json:"record"`
	DeletedAt int64       `json:"deletedAt"`
}

// RestoreTarget is the draft that a host shows again after a restart.
type RestoreTarget struct {
	DraftID string `json:"draftId"`
	At      int64  `json:"at"`
}

// Receipt remembers a sent draft, so that late edits and repeated observations
// find out what became of it. It holds no text.
type Receipt struct {
	DraftID   string `json:"draftId"`
	SessionID string `json:"sessionId"`
	// WorkspaceID and WorkspacePath are where a late edit's new draft goes.
	WorkspaceID   string `json:"workspaceId"`
	WorkspacePath string `json:"workspacePath,omitempty"`
	SubmissionID  string `json:"submissionId"`
	TextHash      string `json:"textHash"`
	At            int64  `json:"at"`
}

// TextHash is the hex SHA-256 of text: the hash of a base (design.md, Reload).
func TextHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
