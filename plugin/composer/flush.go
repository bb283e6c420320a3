package composer

import (
	"context"
	"errors"
	"time"

	"github.com/draft-sessions/dsh-draft-sessions/plugin/sidebar"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// Flush saves every accepted edit of a draft, or of all drafts when draftID is
// "", and returns when each is on disk or its save has failed. It returns the
// failures joined; the edits are kept and tried again.
func (es *Editors) Flush(ctx context.Context, draftID string) error {
	return es.flush(ctx, func(ed *editor) bool {
		return draftID == "" || ed.draftID == draftID || ed.target == draftID
	})
}

func (es *Editors) flush(ctx context.Context, which func(*editor) bool) error {
	es.mu.Lock()
	var waiting []*editor
	for _, ed := range es.editors {
		if which(ed) && ed.pending() {
			waiting = append(waiting, ed)
			if !ed.saving { // its last save failed for good; once more
				ed.saving = true
				es.savers.Go(func() { es.save(ed) })
			}
			signal(ed.urgent)
		}
	}
	es.mu.Unlock()
	var failures []error
	for _, ed := range waiting {
		failures = append(failures, es.await(ctx, ed))
	}
	return errors.Join(failures...)
}

// await waits until nothing of the editor is pending, a save has failed, or ctx ends.
func (es *Editors) await(ctx context.Context, ed *editor) error {
	for {
		es.mu.Lock()
		pending, settled := ed.pending(), ed.settled
		es.mu.Unlock()
		if !pending {
			return nil
		}
		signal(ed.urgent)
		select {
		case <-settled:
			es.mu.Lock()
			pending, failed := ed.pending(), ed.failed
			es.mu.Unlock()
			if pending && failed != nil {
				return failed
			}
		case <-ctx.Done():
			return shared.Errorf(shared.OperationUnknown, "the save was still under way: %w", ctx.Err())
		}
	}
}

// Close forgets an editor once its edits are saved; a page that leaves calls it.
func (es *Editors) Close(draftID, editorID string, generation int64) {
	es.mu.Lock()
	defer es.mu.Unlock()
	ed := es.editors[key{draftID, editorID}]
	if ed == nil || ed.generation != generation {
		return
	}
	if ed.pending() {
		signal(ed.urgent)
		ed.used = time.Time{} // forgotten once it is saved
		return
	}
	delete(es.editors, ed.key)
}

// IsOpen tells whether some page has an editor open on the draft.
func (es *Editors) IsOpen(draftID string) bool {
	es.mu.Lock()
	defer es.mu.Unlock()
	for _, ed := range es.editors {
		if ed.target == draftID {
			return true
		}
	}
	return false
}

// Redirect tells the open editors of a sent draft where their text is kept, when
// it had gone on after what was sent: their next edits go there, and Saved names it.
func (es *Editors) Redirect(draftID string, kept []shared.DraftRecord) {
	es.mu.Lock()
	defer es.mu.Unlock()
	for _, ed := range es.editors {
		if ed.target != draftID || !ed.edited {
			continue
		}
		for _, d := range kept {
			if d.Text == ed.savedText {
				ed.target, ed.base = d.ID, d.TextRevision
				break
			}
		}
	}
}

// Replaced makes what the open editors of a draft write conflict copies until they
// are opened again: the file was replaced, and the text that they were based on is
// not in it. Revisions of another file's history cannot be compared with theirs.
func (es *Editors) Replaced(draftID string) {
	es.mu.Lock()
	defer es.mu.Unlock()
	for _, ed := range es.editors {
		if ed.target == draftID {
			ed.base, ed.baseless = -1, true
		}
	}
}

// AwaitText waits until match accepts the newest text of an open editor of the
// draft: the last keys of a send may still be under way when its prompt comes.
// It returns false when ctx ends first or no editor is open.
func (es *Editors) AwaitText(ctx context.Context, draftID string, match func(text string, content *shared.Content) bool) bool {
	for {
		es.mu.Lock()
		arrived, open := es.arrived, false
		for _, ed := range es.editors {
			if ed.target != draftID {
				continue
			}
			open = true
			if ed.edited && match(ed.accepted.text, ed.accepted.content) {
				es.mu.Unlock()
				return true
			}
		}
		es.mu.Unlock()
		if !open {
			return false
		}
		select {
		case <-arrived:
		case <-ctx.Done():
			return false
		}
	}
}

// Writer is the id of the editor that is just saving this text, "" when none is.
// The store tells of a change before the save returns, so its subscribers learn
// here whose words they are: a page must not take its own for another's.
func (es *Editors) Writer(draftID, text string) string {
	es.mu.Lock()
	defer es.mu.Unlock()
	for _, ed := range es.editors {
		if ed.target == draftID && ed.writing != nil && ed.writing.text == text {
			return ed.editorID
		}
	}
	return ""
}

// SaveStates gives the drafts with an edit that is not on disk yet.
func (es *Editors) SaveStates() map[string]sidebar.SaveState {
	es.mu.Lock()
	defer es.mu.Unlock()
	states := map[string]sidebar.SaveState{}
	for _, ed := range es.editors {
		if !ed.pending() {
			continue
		}
		state := sidebar.SaveState{State: "saving"}
		if ed.failed != nil {
			state = sidebar.SaveState{State: "not_saved", Code: shared.CodeOf(ed.failed), Message: shared.MessageOf(ed.failed)}
		}
		if states[ed.target].State != "not_saved" {
			states[ed.target] = state
		}
	}
	return states
}

// Stop saves what is pending, as long as ctx allows, and ends all savers. It
// returns what could not be saved. No edit is accepted afterwards.
func (es *Editors) Stop(ctx context.Context) error {
	es.mu.Lock()
	es.closed = true
	es.mu.Unlock()
	err := es.Flush(ctx, "")
	es.stop()
	es.savers.Wait()
	return err
}
