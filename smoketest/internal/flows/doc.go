// Package flows has the end-to-end flows of drafts that hold on every host: what a
// person writes, leaves, finds again and sends, and what is killed, replaced or done
// elsewhere meanwhile. A host is reached through a driver ([Host] and its [Tab]s),
// and every flow of [All] is the same code for each of them.
//
// A flow waits for what a person would see and never for a fixed time; it asks the
// disk, the host and the page as three witnesses. Where hosts differ, the driver's
// method says what it stands for; a flow never asks which host it is on.
package flows

import (
	"context"
	"time"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/browser"
	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/contract"
	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/modelstub"
)

// Host drives one home of a host, with one workspace in it. It must not be used from
// two goroutines at once.
type Host interface {
	// Start starts the host, always on the same address, and waits until drafts are on.
	Start(ctx context.Context) error
	// Stop ends the host as a person does, Kill as a power cut does.
	Stop() error
	Kill()
	Running() bool
	// Pid is the running host's process, PluginPids the plugin processes of this home,
	// whoever their parent is now.
	Pid() int
	PluginPids() []int

	// DraftFile is where the drafts are on disk, Document what is there.
	DraftFile() string
	Document() (shared.Document, error)
	// ForgetSession removes every trace of a session while the host is down.
	ForgetSession(sessionID string) error

	// Model answers the agent's requests.
	Model() *modelstub.Stub
	// RefusePrompts makes the host refuse every prompt before it is accepted, or
	// accept them again. It may restart the host.
	RefusePrompts(ctx context.Context, refuse bool) error

	// What another client of the host can do and see.
	Drafts(ctx context.Context) ([]contract.Draft, error)
	NewDraft(ctx context.Context, text string) (contract.Draft, error)
	DeleteDraft(ctx context.Context, draftID string) error
	Notices(ctx context.Context) ([]contract.Notice, error)
	Reconcile(ctx context.Context) error
	Flush(ctx context.Context) error
	Sessions(ctx context.Context) ([]Session, error)
	History(ctx context.Context, sessionID string) (History, error)
	// NewSession makes an ordinary session and gives its id.
	NewSession(ctx context.Context) (sessionID string, err error)
	Prompt(ctx context.Context, sessionID, text string) error
	ArchiveSession(ctx context.Context, sessionID string) error
	SetPermission(ctx context.Context, sessionID, permission string) error

	// Command runs draft-sessions for this home in the workspace's folder and gives what
	// it prints.
	Command(ctx context.Context, stdin string, args ...string) (string, error)

	// Open opens the host's page in a new browser profile.
	Open() (Tab, error)
	// Entry is an address that lets a new browser in, and what the addresses begin with
	// that it shows then; Attach drives a page that was opened with it.
	Entry(ctx context.Context) (link, shown string, err error)
	Attach(page *browser.Page) (Tab, error)
}

// Session is a session that the host has, blank ones included.
type Session struct {
	ID string
	// WorkspaceID is the workspace in whose list it stands, "" for none.
	WorkspaceID string
	Archived    bool
	Blank       bool
}

// History is what a session's log says.
type History struct {
	// Messages are the texts of its user messages, oldest first.
	Messages   []string
	Permission string
}

// Composer is the field in which a draft is written.
type Composer struct {
	Text    string
	Focused bool
	// Start and End are the selection, in UTF-16 units.
	Start, End int
}

// Row is a draft's row in the page.
type Row struct{ ID, Title string }

// Tab drives one tab of a host's page. It must not be used from two goroutines at once.
type Tab interface {
	// PressNewDraft clicks the button for a new draft.
	PressNewDraft() error
	// Writable is the draft that is open and takes text, "" for none.
	Writable() (draftID string, err error)
	// OpenRow clicks a draft's row, DeleteRow takes "Delete" in its menu, OpenVersions
	// opens its conflict copies, Undo clicks "Undo".
	OpenRow(draftID string) error
	DeleteRow(draftID string) error
	OpenVersions(draftID string) error
	Undo() error
	// KeepVersion makes the first conflict copy of the draft that is shown a draft.
	KeepVersion() error
	Rows() ([]Row, error)

	Composer() (Composer, error)
	// FocusComposer clicks into the field and puts the caret at its end.
	FocusComposer() error
	// MoveCaret puts the caret of the focused field there, in UTF-16 units.
	MoveCaret(offset int) error
	// Blur takes the keyboard away from the field.
	Blur() error
	Type(text string, pause time.Duration) error
	// Write types at the end of the field, key by key; Paste puts it there in one step.
	Write(text string) error
	Paste(text string) error
	Compose(text string) error
	CommitComposition(text string) error
	// Send presses the keys that send what is in the field.
	Send() error

	// AwaitText waits until the field holds text, as far as the page can show it
	// exactly; AwaitSaved until the page says "saved", said after the last key.
	AwaitText(text string, limit time.Duration) error
	AwaitSaved(draftID string, limit time.Duration) error
	// AwaitEmpty waits until a field without text shows, of a draft or of none.
	AwaitEmpty(limit time.Duration) error
	// AwaitSent waits until the page shows a sent session as an ordinary one.
	AwaitSent(sessionID string, limit time.Duration) error
	// AwaitRefused waits until the page has given up a send and says so.
	AwaitRefused(limit time.Duration) error
	// SaveState is saved, saving, not_saved, or "" for nothing.
	SaveState(draftID string) (string, error)
	// Notices are the kinds of the notices that are shown, NoticesSeen of all since the
	// page was loaded: those of the contract, "paused", "elsewhere", "conflict", and the
	// code of what is wrong with the draft file.
	Notices() ([]string, error)
	NoticesSeen() ([]string, error)
	SeesText(text string) (bool, error)

	ReloadPage() error
	Look() *browser.Page
}
