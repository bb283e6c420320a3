package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"strings"

	"github.com/google/uuid"

	"github.com/draft-sessions/dsh-draft-sessions/plugin/drafts"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
	pb "github.com/draft-sessions/dsh-draft-sessions/shared/proto/draftsessionsv1"
)

// Submission is a send that somebody asked for outside of a page.
type Submission struct {
	DraftID string
	// ID is the prompt's id, "" for a new one. The same id never sends twice.
	ID string
	// Again sends although the outcome of an earlier send is unknown.
	Again bool
	// Verbatim sends a text that looks like a command as plain words.
	Verbatim bool
	// ExpectedTextRevision is the text revision that the sender saw, 0 for any.
	ExpectedTextRevision int64
}

// SendState is what is known of a send.
type SendState string

// The states of a send.
const (
	// Sent: proven and on disk; the draft is gone.
	Sent SendState = "sent"
	// Sending: handed to the host, its message is awaited.
	Sending SendState = "sending"
	// Unknown: handed to a host, and no message of it was found.
	Unknown SendState = "unknown"
	// NotSent: no send is known.
	NotSent SendState = "not_sent"
)

// SendResult is what became of a draft's send.
type SendResult struct {
	DraftID                 string
	State                   SendState
	SubmissionID, SessionID string
	// At is when it was sent, or handed to the host, in ms; 0 when not.
	At int64
}

// Send sends a draft's text as it stands, with the host's plain prompt. The
// submission's id is on disk before the host is asked, and a send that is under
// way is joined rather than repeated. It returns when the send is proven, when
// it turned out not to be, or with [Sending] when ctx ends first.
//
// An earlier send whose outcome is unknown is never repeated by itself
// (invariant 10): OPERATION_UNKNOWN, unless s.Again. Other codes:
// DRAFT_NOT_FOUND; DRAFT_STALE_REVISION; DRAFT_INVALID_INPUT (nothing to send, a
// command line without s.Verbatim, attachments, an id that another draft was
// sent with); OPERATION_CONFLICT (being sent with another id);
// SESSION_UNAVAILABLE (no host, or it refused; the draft is as before).
func (m *Manager) Send(ctx context.Context, s Submission) (SendResult, error) {
	if r, found, err := m.receipt(s.DraftID, s.ID); found || err != nil {
		return r, err
	}
	r, err := m.send(ctx, s)
	if shared.CodeOf(err) == shared.DraftNotFound { // gone meanwhile: sent under this id by another?
		if r, found, receiptErr := m.receipt(s.DraftID, s.ID); found || receiptErr != nil {
			return r, receiptErr
		}
	}
	return r, err
}

func (m *Manager) send(ctx context.Context, s Submission) (SendResult, error) {
	if err := m.opts.Editors.Flush(ctx, s.DraftID); err != nil {
		return SendResult{}, err
	}
	rec, err := m.opts.Store.Get(s.DraftID)
	if err != nil {
		return SendResult{}, err
	}
	if rec.Operation != nil {
		if done, r, err := m.earlier(ctx, rec, s); done || err != nil {
			return r, err
		}
	}
	if rec, _, err = m.Bind(ctx, s.DraftID); err != nil {
		return SendResult{}, err
	}
	// From here on a caller that goes away interrupts nothing: what is on disk as
	// handed over is handed over.
	steady := context.WithoutCancel(ctx)
	rec, joined, err := m.record(steady, rec, s)
	if err != nil {
		return SendResult{}, err
	}
	if joined {
		return m.awaitResult(ctx, rec)
	}
	call := &pb.SendPrompt{SessionId: *rec.SessionID, PromptId: rec.Operation.ID, Text: rec.Text}
	err = m.opts.Host.SendPrompt(steady, rec.Operation.ID, call)
	var refusal *HostError
	if errors.As(err, &refusal) && !refusal.isUnsure() {
		m.after(steady, *rec.SessionID, rec.Operation.ID, false)
		return SendResult{}, err
	}
	// Whatever else went wrong, the host may have taken it: only the history tells.
	m.after(ctx, *rec.SessionID, rec.Operation.ID, true)
	return m.awaitResult(ctx, rec)
}

// isUnsure tells a host that does not know itself from one that refused.
func (e *HostError) isUnsure() bool {
	return e.HostCode == "internal" || e.HostCode == string(shared.OperationUnknown)
}

// earlier deals with a send that was asked for before: done with its result, or
// not done when a new one may begin.
func (m *Manager) earlier(ctx context.Context, rec shared.DraftRecord, s Submission) (done bool, r SendResult, err error) {
	_, err = m.settle(ctx, rec.ID)
	if err != nil && shared.CodeOf(err) != shared.DraftNotFound {
		return false, r, err
	}
	if r, found, err := m.receipt(rec.ID, rec.Operation.ID); found || err != nil {
		return true, r, err
	}
	if rec, err = m.opts.Store.Get(rec.ID); err != nil {
		return false, r, err
	}
	op := rec.Operation
	switch {
	case op == nil:
		return false, r, nil
	case m.inFlight(rec) && s.ID != "" && s.ID != op.ID:
		return false, r, shared.Errorf(shared.OperationConflict, "the draft is being sent already, as submission %s", op.ID)
	case m.inFlight(rec):
		m.after(ctx, *rec.SessionID, op.ID, true)
		r, err = m.awaitResult(ctx, rec)
		return true, r, err
	case op.Kind == kindCommand && shared.TextHash(strings.TrimSpace(rec.Text)) != op.TextHash:
		return false, r, nil // A command that was run; the text is another one.
	case s.Again && s.ID != op.ID:
		return false, r, nil
	}
	return false, r, shared.Errorf(shared.OperationUnknown, "the draft was handed to the host before, as submission %s, and no message of it was found: whether it was sent is not known", op.ID)
}

// commandLine is a text that a composer would run as a command.
var commandLine = regexp.MustCompile(`^/[a-z][a-z0-9_-]*(\s|$)`)

// record puts the submission on disk before the host is asked. joined: somebody
// else did just now, under the same id, and asks the host.
func (m *Manager) record(ctx context.Context, rec shared.DraftRecord, s Submission) (recorded shared.DraftRecord, joined bool, err error) {
	unlock, err := m.locks.lock(ctx, rec.ID)
	if err != nil {
		return rec, false, err
	}
	defer unlock()
	if s.ID == "" {
		s.ID = uuid.NewString()
	}
	recorded, err = m.opts.Store.Modify(ctx, rec.ID, func(d *shared.DraftRecord) error {
		text := strings.TrimSpace(d.Text)
		switch {
		case d.SessionID != nil && m.inFlight(*d) && d.Operation.ID == s.ID:
			joined = true
			return drafts.ErrNoChange
		case d.SessionID == nil:
			return shared.Errorf(shared.OperationConflict, "the draft lost its session meanwhile; try again")
		case m.inFlight(*d):
			return shared.Errorf(shared.OperationConflict, "the draft is being sent already, as submission %s", d.Operation.ID)
		case s.ExpectedTextRevision != 0 && s.ExpectedTextRevision != d.TextRevision:
			return shared.Errorf(shared.DraftStaleRevision, "the draft's text is at revision %d, not %d", d.TextRevision, s.ExpectedTextRevision)
		case text == "":
			return shared.Errorf(shared.DraftInvalidInput, "the draft is empty; there is nothing to send")
		case !s.Verbatim && commandLine.MatchString(text):
			return shared.Errorf(shared.DraftInvalidInput, "the draft begins with a slash: a page would run it as a command, this would send it as plain words")
		case hasAttachments(d.Content):
			return shared.Errorf(shared.DraftInvalidInput, "the draft has attachments, which only a page can send")
		}
		d.Operation = &shared.Operation{
			Kind: kindPrompt, ID: s.ID, SessionID: *d.SessionID,
			StartedAt: m.opts.Now().UnixMilli(), HostInstance: m.opts.Host.Instance(), TextHash: shared.TextHash(text),
		}
		d.State = shared.StateConverting
		return nil
	})
	return recorded, joined, err
}

func hasAttachments(c *shared.Content) bool {
	if c == nil || len(c.Attachments) == 0 {
		return false
	}
	var list []json.RawMessage
	return json.Unmarshal(c.Attachments, &list) != nil || len(list) > 0
}

// awaitResult waits until the send that is on rec has become something.
func (m *Manager) awaitResult(ctx context.Context, rec shared.DraftRecord) (SendResult, error) {
	changed := make(chan struct{}, 1)
	defer m.opts.Store.Subscribe(func(_, _ *shared.Document) {
		select {
		case changed <- struct{}{}:
		default:
		}
	})()
	op := rec.Operation
	for {
		if r, found, err := m.receipt(rec.ID, op.ID); found || err != nil {
			return r, err
		}
		now, err := m.opts.Store.Get(rec.ID)
		switch {
		case shared.CodeOf(err) == shared.DraftNotFound:
			if r, found, err := m.receipt(rec.ID, op.ID); found || err != nil {
				return r, err // Converted between the two looks.
			}
			return SendResult{}, err
		case err != nil:
			return SendResult{}, err
		case now.Operation == nil || now.Operation.ID != op.ID:
			return SendResult{}, shared.Errorf(shared.SessionUnavailable, "the host did not take it; the draft is as before")
		case now.State != shared.StateConverting:
			return SendResult{}, shared.Errorf(shared.OperationUnknown, "no message of submission %s was found in the session: whether it was sent is not known", op.ID)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return resultOf(now, Sending), nil
		}
	}
}

// SendStatus tells what became of a draft's send, and settles it when its proof
// is there by now. Codes: DRAFT_NOT_FOUND, those of the host.
func (m *Manager) SendStatus(ctx context.Context, draftID string) (SendResult, error) {
	rec, err := m.opts.Store.Get(draftID)
	if err == nil && rec.Operation != nil && rec.SessionID != nil {
		if _, err = m.settle(ctx, draftID); err != nil && shared.CodeOf(err) != shared.DraftNotFound {
			return SendResult{}, err
		}
		rec, err = m.opts.Store.Get(draftID)
	}
	if err != nil {
		if r, found, _ := m.receipt(draftID, ""); found {
			return r, nil
		}
		return SendResult{}, err
	}
	switch {
	case rec.Operation == nil:
		return SendResult{DraftID: rec.ID, State: NotSent}, nil
	case m.inFlight(rec):
		return resultOf(rec, Sending), nil
	}
	return resultOf(rec, Unknown), nil
}

func resultOf(rec shared.DraftRecord, state SendState) SendResult {
	op := rec.Operation
	return SendResult{DraftID: rec.ID, State: state, SubmissionID: op.ID, SessionID: op.SessionID, At: op.StartedAt}
}

// receipt finds the proof of a draft's send, of any when submissionID is "".
func (m *Manager) receipt(draftID, submissionID string) (SendResult, bool, error) {
	receipts := m.opts.Store.Snapshot().Receipts
	for i := len(receipts) - 1; i >= 0; i-- {
		r := receipts[i]
		if submissionID != "" && r.SubmissionID == submissionID && r.DraftID != draftID {
			return SendResult{}, false, shared.Errorf(shared.DraftInvalidInput, "another draft was sent under that submission id")
		}
		if r.DraftID == draftID && (submissionID == "" || r.SubmissionID == submissionID) {
			return SendResult{DraftID: draftID, State: Sent, SubmissionID: r.SubmissionID, SessionID: r.SessionID, At: r.At}, true, nil
		}
	}
	return SendResult{}, false, nil
}

// Relocate moves a draft to the workspace of that id or folder. With a host it is
// [Manager.Move]; without one the draft is unbound, until a host of the home
// opens or reconciles it. Codes: those of Move.
func (m *Manager) Relocate(ctx context.Context, draftID, workspaceID, path string) (shared.DraftRecord, error) {
	all, err := m.opts.Host.ListWorkspaces(ctx)
	if err == nil {
		ws := workspaceOf(all, shared.DraftRecord{WorkspaceID: workspaceID, WorkspacePath: path})
		if ws == nil {
			return shared.DraftRecord{}, shared.Errorf(shared.DraftInvalidInput, "the host has no such workspace; add the folder there first")
		}
		return m.Move(ctx, draftID, ws.WorkspaceId, "")
	}
	if m.opts.Host.Instance() != "" || shared.CodeOf(err) != shared.SessionUnavailable {
		return shared.DraftRecord{}, err
	}
	unlock, err := m.locks.lock(ctx, draftID)
	if err != nil {
		return shared.DraftRecord{}, err
	}
	defer unlock()
	return m.opts.Store.Modify(ctx, draftID, func(d *shared.DraftRecord) error {
		if d.Operation != nil {
			return shared.Errorf(shared.OperationConflict, "the draft was handed to the host; start the host, so that it can tell whether it was sent")
		}
		d.WorkspaceID, d.WorkspacePath = workspaceID, path
		// The same session in another folder is a conflict for a host.
		d.SessionID, d.ReservedSessionID, d.State, d.LastError = nil, "", shared.StateDraft, ""
		return nil
	})
}
