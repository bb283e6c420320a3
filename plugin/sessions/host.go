// Package sessions binds drafts to real blank sessions of the host and gives a
// draft's text up when, and only when, its send is proven. Start with [New];
// [Manager.NewDraft] and [Manager.Bind] create sessions, [Manager.Reconcile]
// compares the drafts with what the host has, and [Manager.BeforePrompt] to
// [Manager.UserMessage] follow a send.
//
// The order on disk is invariant 13: a session id is reserved in the draft file
// before the host is asked to create exactly that session, so a crash in between
// leaks nothing and a retry creates nothing twice.
package sessions

import (
	"context"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/draft-sessions/dsh-draft-sessions/plugin/drafts"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
	pb "github.com/draft-sessions/dsh-draft-sessions/shared/proto/draftsessionsv1"
)

// Host is what the plugin asks of its host. Every side effect carries an
// idempotency key: the same key never has its effect twice. Errors carry a code
// of package shared; the host's own code is in a [HostError].
type Host interface {
	// CreateSession creates exactly the session of that id, or finds it, and flushes it.
	CreateSession(ctx context.Context, idempotencyKey string, call *pb.CreateSession) (*pb.CreateSessionResult, error)
	ListWorkspaces(ctx context.Context) (*pb.ListWorkspacesResult, error)
	// ReadSession reads the whole history of a session, live or not.
	ReadSession(ctx context.Context, sessionID string) (*pb.ReadSessionResult, error)
	// FlushSession returns when the session's history is on disk.
	FlushSession(ctx context.Context, sessionID string) error
	// SendPrompt returns when the host has admitted the prompt. Its id is the
	// idempotency key; a refusal is a [HostError], any other error leaves the outcome open.
	SendPrompt(ctx context.Context, idempotencyKey string, call *pb.SendPrompt) error
	// Instance names the host process, "" when it does not tell.
	Instance() string
}

// HostError is a refusal of the host with its own code, such as "session-conflict".
type HostError struct{ HostCode, Message string }

func (e *HostError) Error() string { return e.HostCode + ": " + e.Message }

// Editors is what the sessions need of the open editors.
type Editors interface {
	Flush(ctx context.Context, draftID string) error
	IsOpen(draftID string) bool
	Redirect(draftID string, kept []shared.DraftRecord)
	AwaitText(ctx context.Context, draftID string, match func(text string, content *shared.Content) bool) bool
}

// The kinds of notices.
const (
	NoticeDetached     = "detached"
	NoticeRecreated    = "recreated"
	NoticeConflictKept = "conflict_kept"
	NoticeMoved        = "moved"
)

// Timing of a send.
const (
	// lastKeys is how long a prompt waits for the keys typed right before it.
	lastKeys = 500 * time.Millisecond
	// proofPatience is how long the user message of an accepted prompt is awaited.
	// It is measured to come within 0.1 s; later ones are still found by Reconcile.
	proofPatience = 30 * time.Second
	// commandPatience is the same for a command, which may start no turn at all:
	// what is typed after it waits so long. A message that comes later still counts.
	commandPatience = time.Second
)

// Options configure [New].
type Options struct {
	Store   *drafts.Store
	Host    Host
	Editors Editors
	Log     hclog.Logger
	// Notify tells the pages what was done on its own.
	Notify func(kind string, d shared.DraftRecord)
	Now    func() time.Time
}
