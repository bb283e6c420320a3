package sessions

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/draft-sessions/dsh-draft-sessions/plugin/drafts"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
	pb "github.com/draft-sessions/dsh-draft-sessions/shared/proto/draftsessionsv1"
)

// Bind makes sure that a draft has a live blank session, creating it again with
// its preset and permission when it is gone or archived. recreated tells that
// there was one before. When the host refuses, the draft is in state error with
// LastError and its text is kept. Codes: DRAFT_NOT_FOUND (also when it turns out
// to have been sent), OPERATION_CONFLICT (it is being sent and its session is
// gone), SESSION_UNAVAILABLE, those of the store.
func (m *Manager) Bind(ctx context.Context, draftID string) (rec shared.DraftRecord, recreated bool, err error) {
	all, err := m.opts.Host.ListWorkspaces(ctx)
	if err != nil {
		return shared.DraftRecord{}, false, err
	}
	return m.bind(ctx, draftID, all)
}

func (m *Manager) bind(ctx context.Context, draftID string, all *pb.ListWorkspacesResult) (shared.DraftRecord, bool, error) {
	unlock, err := m.locks.lock(ctx, draftID)
	if err != nil {
		return shared.DraftRecord{}, false, err
	}
	defer unlock()
	return m.bindLocked(ctx, draftID, all)
}

func (m *Manager) bindLocked(ctx context.Context, draftID string, all *pb.ListWorkspacesResult) (shared.DraftRecord, bool, error) {
	rec, err := m.opts.Store.Get(draftID)
	if err != nil {
		return rec, false, err
	}
	if ws := workspaceOf(all, rec); rec.SessionID != nil && (ws == nil || !alive(all, ws, *rec.SessionID)) {
		// Before a session is called missing: the list may be older than the session.
		if all, err = m.opts.Host.ListWorkspaces(ctx); err != nil {
			return rec, false, err
		}
	}
	ws := workspaceOf(all, rec)
	if ws == nil {
		return m.fail(ctx, rec, shared.Errorf(shared.SessionUnavailable, "the workspace is not in the host any more; add its folder again or move the draft"))
	}
	if rec.SessionID != nil && alive(all, ws, *rec.SessionID) {
		rec, err = m.opts.Store.Modify(ctx, rec.ID, func(d *shared.DraftRecord) error {
			if d.WorkspaceID == ws.WorkspaceId && (d.State == shared.StateReady || d.State == shared.StateConverting) {
				return drafts.ErrNoChange
			}
			adopt(d, ws)
			d.State, d.LastError = shared.StateReady, ""
			return nil
		})
		return rec, false, err
	}
	had := rec.SessionID != nil
	if had && rec.Operation != nil {
		// A session that went with a send under way may hold its proof: a new one
		// beside it would offer the sent text again (invariants 2 and 10).
		switch what, err := m.settleLocked(ctx, rec); {
		case err != nil:
			return rec, false, err
		case what == converted:
			return rec, false, shared.Errorf(shared.DraftNotFound, "the draft was sent")
		case what == waiting:
			return rec, false, shared.Errorf(shared.OperationConflict, "the draft is being sent")
		case what == detached:
			rec, err = m.opts.Store.Get(draftID)
			return rec, true, err
		}
		if rec, err = m.opts.Store.Get(draftID); err != nil {
			return rec, false, err
		}
	}
	for _, sessionID := range m.identities(rec, all) {
		bound, err := m.create(ctx, rec, ws, sessionID)
		if err == nil {
			return bound, had, nil
		}
		var refusal *HostError
		if !errors.As(err, &refusal) && !errors.Is(err, errNotBlank) {
			return m.fail(ctx, rec, err) // the outcome is open: the reserved id stays for the next try
		}
		m.opts.Log.Info("a session id could not be used", "draft", rec.ID, "session", sessionID, "error", err)
		if errors.As(err, &refusal) && !refusal.ofIdentity() {
			return m.fail(ctx, rec, err)
		}
	}
	return m.fail(ctx, rec, shared.Errorf(shared.SessionUnavailable, "the host refused every session for the draft"))
}

var errNotBlank = errors.New("the session already has messages")

// ofIdentity tells whether another session id may succeed where this one was refused.
func (e *HostError) ofIdentity() bool {
	return e.HostCode == "session-conflict" || e.HostCode == "agent-preset-conflict"
}

// identities are the session ids to try, best first: one that is already
// reserved, the one that the draft had (creating it again attaches it), a new one.
func (m *Manager) identities(rec shared.DraftRecord, all *pb.ListWorkspacesResult) []string {
	var ids []string
	if rec.ReservedSessionID != "" {
		ids = append(ids, rec.ReservedSessionID)
	}
	if rec.SessionID != nil {
		ids = append(ids, *rec.SessionID)
	}
	ids = slices.DeleteFunc(ids, func(id string) bool { return slices.Contains(all.ArchivedSessionIds, id) })
	return append(ids, newSessionID())
}

// create reserves the id on disk, has the host create exactly that session, and
// binds the draft to it (invariant 13).
func (m *Manager) create(ctx context.Context, rec shared.DraftRecord, ws *pb.Workspace, sessionID string) (shared.DraftRecord, error) {
	if rec.ReservedSessionID != sessionID || rec.SessionID != nil {
		var err error
		rec, err = m.opts.Store.Modify(ctx, rec.ID, func(d *shared.DraftRecord) error {
			d.SessionID, d.ReservedSessionID = nil, sessionID
			d.State = shared.StateMaterializing
			adopt(d, ws)
			return nil
		})
		if err != nil {
			return rec, err
		}
	}
	call := &pb.CreateSession{SessionId: sessionID, WorkspaceId: ws.WorkspaceId, AgentPresetId: rec.AgentPresetID}
	if rec.Settings != nil {
		call.Permission = rec.Settings.Permission
	}
	if _, err := m.opts.Host.CreateSession(ctx, fmt.Sprintf("create:%s:%d", sessionID, rec.Revision), call); err != nil {
		return rec, err
	}
	history, err := m.opts.Host.ReadSession(ctx, sessionID)
	if err != nil {
		return rec, err
	}
	if len(history.UserMessages) > 0 { // an id that came back with a past
		return rec, errNotBlank
	}
	return m.opts.Store.Modify(ctx, rec.ID, func(d *shared.DraftRecord) error {
		if d.ReservedSessionID != sessionID {
			return shared.Errorf(shared.OperationConflict, "another process bound the draft meanwhile")
		}
		d.SessionID, d.ReservedSessionID = &sessionID, ""
		d.State, d.LastError = shared.StateReady, ""
		if d.Operation != nil && d.Operation.SessionID != sessionID {
			d.Operation = nil // it was of another session
		} // Of this one, lost and made again: what became of its send is still not known (invariant 10).
		adopt(d, ws)
		return nil
	})
}

// fail marks the draft with why it has no session; its text is not touched.
func (m *Manager) fail(ctx context.Context, rec shared.DraftRecord, cause error) (shared.DraftRecord, bool, error) {
	if code := shared.CodeOf(cause); code != shared.SessionUnavailable && code != shared.OperationUnknown {
		return rec, false, cause // the store's own trouble is not the draft's
	}
	message := cause.Error()
	var coded *shared.Error
	if errors.As(cause, &coded) {
		message = coded.Message
	}
	failed, err := m.opts.Store.Modify(context.WithoutCancel(ctx), rec.ID, func(d *shared.DraftRecord) error {
		if d.State == shared.StateError && d.LastError == message {
			return drafts.ErrNoChange
		}
		d.State, d.LastError = shared.StateError, message
		return nil
	})
	return failed, false, errors.Join(cause, err)
}

// Move takes a draft to another workspace. With sessionID the host has already
// put its text into that blank session; else a fresh one is created there.
// Codes: DRAFT_NOT_FOUND, DRAFT_INVALID_INPUT (no such workspace),
// OPERATION_CONFLICT (the session is another draft's, or the draft is being
// sent: its proof would be searched in the wrong session), SESSION_UNAVAILABLE.
func (m *Manager) Move(ctx context.Context, draftID, workspaceID, sessionID string) (shared.DraftRecord, error) {
	all, err := m.opts.Host.ListWorkspaces(ctx)
	if err != nil {
		return shared.DraftRecord{}, err
	}
	i := slices.IndexFunc(all.Workspaces, func(w *pb.Workspace) bool { return w.WorkspaceId == workspaceID })
	if i < 0 {
		return shared.DraftRecord{}, shared.Errorf(shared.DraftInvalidInput, "the host has no such workspace")
	}
	unlock, err := m.locks.lock(ctx, draftID)
	if err != nil {
		return shared.DraftRecord{}, err
	}
	defer unlock()
	if owner, ok := m.draftOf(sessionID); ok && owner.ID != draftID {
		return shared.DraftRecord{}, shared.Errorf(shared.OperationConflict, "the session belongs to another draft")
	}
	rec, err := m.opts.Store.Modify(ctx, draftID, func(d *shared.DraftRecord) error {
		if m.inFlight(*d) {
			return shared.Errorf(shared.OperationConflict, "the draft is being sent")
		}
		adopt(d, all.Workspaces[i])
		d.Operation, d.LastError = nil, ""
		if sessionID != "" {
			d.SessionID, d.ReservedSessionID, d.State = &sessionID, "", shared.StateReady
			return nil
		}
		d.SessionID, d.ReservedSessionID, d.State = nil, newSessionID(), shared.StateMaterializing
		return nil
	})
	if err != nil {
		return rec, err
	}
	if sessionID == "" {
		if rec, _, err = m.bindLocked(ctx, draftID, all); err != nil {
			return rec, err
		}
	} else if err := m.opts.Host.FlushSession(ctx, sessionID); err != nil {
		m.opts.Log.Warn("could not flush a session", "session", sessionID, "code", shared.CodeOf(err))
	}
	m.opts.Notify(NoticeMoved, rec)
	return rec, nil
}

func adopt(d *shared.DraftRecord, ws *pb.Workspace) {
	d.WorkspaceID = ws.WorkspaceId
	if ws.Path != "" {
		d.WorkspacePath = ws.Path
	}
}

// workspaceOf finds a draft's workspace by id, then by path: a folder that was
// added again has a new id.
func workspaceOf(all *pb.ListWorkspacesResult, rec shared.DraftRecord) *pb.Workspace {
	for _, w := range all.Workspaces {
		if w.WorkspaceId == rec.WorkspaceID {
			return w
		}
	}
	for _, w := range all.Workspaces {
		if rec.WorkspacePath != "" && w.Path == rec.WorkspacePath {
			return w
		}
	}
	return nil
}

// alive: in the workspace's own list, whatever the host's session list says.
func alive(all *pb.ListWorkspacesResult, ws *pb.Workspace, sessionID string) bool {
	return slices.Contains(ws.SessionIds, sessionID) && !slices.Contains(all.ArchivedSessionIds, sessionID)
}
