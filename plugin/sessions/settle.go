package sessions

import (
	"context"
	"strings"
	"time"

	"github.com/draft-sessions/dsh-draft-sessions/plugin/drafts"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
	pb "github.com/draft-sessions/dsh-draft-sessions/shared/proto/draftsessionsv1"
)

// outcome is what became of a draft when its session's history was read.
type outcome int

const (
	unchanged outcome = iota
	converted         // the send is proven; the draft is an ordinary session
	detached          // a message that is not ours is in its session; the draft has a fresh one
	released          // the send is known not to have happened; the draft is as before
	waiting           // a send is in flight
)

// settle reads the session's whole history and brings the draft in line with
// it. The history is the only evidence: acceptance, blank flags and inbox events
// prove nothing (invariant 2).
func (m *Manager) settle(ctx context.Context, draftID string) (outcome, error) {
	unlock, err := m.locks.lock(ctx, draftID)
	if err != nil {
		return unchanged, err
	}
	defer unlock()
	rec, err := m.opts.Store.Get(draftID)
	if err != nil {
		return unchanged, err
	}
	return m.settleLocked(ctx, rec)
}

func (m *Manager) settleLocked(ctx context.Context, rec shared.DraftRecord) (outcome, error) {
	if rec.SessionID == nil {
		return unchanged, nil
	}
	history, err := m.opts.Host.ReadSession(ctx, *rec.SessionID)
	if err != nil {
		return unchanged, err
	}
	op := rec.Operation
	switch {
	case op != nil && op.SessionID == *rec.SessionID && proven(op, history):
		return converted, m.convert(ctx, rec)
	case m.inFlight(rec):
		return waiting, nil
	case len(history.UserMessages) > 0:
		return detached, m.detach(ctx, rec)
	case rec.State == shared.StateConverting:
		return released, m.release(ctx, rec)
	}
	return unchanged, nil
}

// patience is how much longer the proof of op may take to come.
func (m *Manager) patience(op *shared.Operation) time.Duration {
	limit := proofPatience
	if op.Kind == kindCommand {
		limit = commandPatience
	}
	return limit - m.opts.Now().Sub(time.UnixMilli(op.StartedAt))
}

// convert gives the text up: the history with the proof is flushed first.
func (m *Manager) convert(ctx context.Context, rec shared.DraftRecord) error {
	if err := m.opts.Host.FlushSession(ctx, *rec.SessionID); err != nil {
		return err
	}
	// The proof is looked at once more, now that what is read is what is on disk.
	history, err := m.opts.Host.ReadSession(ctx, *rec.SessionID)
	if err != nil {
		return err
	}
	if !proven(rec.Operation, history) {
		return shared.Errorf(shared.OperationUnknown, "the message was not in the history after it was flushed")
	}
	kept, err := m.opts.Store.Convert(ctx, rec.ID, shared.Receipt{
		DraftID:       rec.ID,
		SessionID:     *rec.SessionID,
		WorkspaceID:   rec.WorkspaceID,
		WorkspacePath: rec.WorkspacePath,
		SubmissionID:  rec.Operation.ID,
		TextHash:      rec.Operation.TextHash,
		At:            m.opts.Now().UnixMilli(),
	})
	if err != nil && shared.CodeOf(err) != shared.StorageUncertain {
		return err
	}
	if err != nil {
		// The draft is gone all the same; a file that a power cut brings back has the
		// send's id, and its proof is found again.
		m.opts.Log.Warn("a sent draft is gone from the file, but perhaps not for good", "draft", rec.ID, "code", shared.CodeOf(err))
	}
	m.opts.Editors.Redirect(rec.ID, kept)
	for _, d := range kept {
		m.opts.Notify(NoticeConflictKept, d)
	}
	return nil
}

// detach leaves the session to the message that is not ours and gives the draft
// a fresh one; its text is not touched.
func (m *Manager) detach(ctx context.Context, rec shared.DraftRecord) error {
	all, err := m.opts.Host.ListWorkspaces(ctx)
	if err != nil {
		return err
	}
	rec, err = m.opts.Store.Modify(ctx, rec.ID, func(d *shared.DraftRecord) error {
		d.SessionID, d.ReservedSessionID = nil, newSessionID()
		d.Operation, d.State = nil, shared.StateMaterializing
		return nil
	})
	if err != nil {
		return err
	}
	m.opts.Notify(NoticeDetached, rec)
	_, _, err = m.bindLocked(ctx, rec.ID, all)
	return err
}

// release ends the wait for a send that left no message. It may still prove
// itself later, so its id stays on the record. A command that ran without
// starting a turn (such as a permission switch) is done with, and its line was no
// task: the host has emptied the composer of it, and an open editor says what
// stands there now; where none is open the line goes here.
func (m *Manager) release(ctx context.Context, rec shared.DraftRecord) error {
	abandoned := !m.opts.Editors.IsOpen(rec.ID)
	_, err := m.opts.Store.Modify(ctx, rec.ID, func(d *shared.DraftRecord) error {
		if d.State != shared.StateConverting {
			return drafts.ErrNoChange
		}
		d.State = shared.StateReady
		op := d.Operation
		if op == nil { // a file of another hand
			return nil
		}
		ran := op.Kind == kindCommand && op.HostInstance == m.opts.Host.Instance()
		if ran && abandoned && shared.TextHash(strings.TrimSpace(d.Text)) == op.TextHash {
			d.Text, d.Content = "", nil
		}
		return nil
	})
	return err
}

// Tally counts what a reconcile did.
type Tally struct{ Recreated, Converted, Detached, Failed int }

// ReconcileSoon reconciles all drafts in the background.
func (m *Manager) ReconcileSoon() {
	m.background("reconciling the drafts", "", func(ctx context.Context) error {
		tally, err := m.Reconcile(ctx, "")
		m.opts.Log.Info("reconciled", "recreated", tally.Recreated, "converted", tally.Converted, "detached", tally.Detached, "failed", tally.Failed)
		return err
	})
}

// Reconcile compares every draft (of one workspace, or of all when workspaceID
// is "") with what the host has: settles sends that were under way, creates
// missing sessions again, binds drafts that have none. A draft whose workspace is
// gone is left as it is. One draft's failure does not stop the others.
func (m *Manager) Reconcile(ctx context.Context, workspaceID string) (Tally, error) {
	var tally Tally
	all, err := m.opts.Host.ListWorkspaces(ctx)
	if err != nil {
		return tally, err
	}
	for _, d := range m.opts.Store.Snapshot().Drafts {
		if workspaceID != "" && d.WorkspaceID != workspaceID {
			continue
		}
		if err := m.reconcile(ctx, d, all, &tally); err != nil {
			if ctx.Err() != nil {
				return tally, ctx.Err()
			}
			tally.Failed++
			m.opts.Log.Warn("could not reconcile a draft", "draft", d.ID, "code", shared.CodeOf(err), "error", err)
		}
	}
	return tally, nil
}

func (m *Manager) reconcile(ctx context.Context, d shared.DraftRecord, all *pb.ListWorkspacesResult, tally *Tally) error {
	if d.SessionID != nil {
		what, err := m.settle(ctx, d.ID)
		switch {
		case err != nil:
			return err
		case what == converted:
			tally.Converted++
			return nil
		case what == detached:
			tally.Detached++
			return nil
		case what == waiting:
			m.follow(d.ID, *d.SessionID)
			return nil
		}
	}
	if workspaceOf(all, d) == nil {
		return nil
	}
	rec, recreated, err := m.bind(ctx, d.ID, all)
	if shared.CodeOf(err) == shared.DraftNotFound {
		return nil // sent or deleted meanwhile
	}
	if recreated {
		tally.Recreated++
		m.opts.Notify(NoticeRecreated, rec)
	}
	return err
}
