package drafts

import (
	"context"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// Edit is the whole text of one editor.
type Edit struct {
	DraftID string
	// EditorID is kept on the record as the one whose text it is.
	EditorID string
	// EditorKey names the editor: its conflict copy, if it has one, is kept up to
	// date rather than joined by another. "" has none.
	EditorKey string
	// BaseTextRevision is the text revision that the edit was made on.
	BaseTextRevision int64
	Text             string
	// Content is all that the editor holds beside the text; nil is nothing.
	Content *shared.Content
	// Home is the draft as the editor found it, nil when that is not known: where its
	// text goes when the file was replaced by one that knows nothing of the draft.
	Home *shared.DraftRecord
	// FitContent is set by an editor that knows plain text only: what the record
	// holds beside its text stays, as far as it fits the new one. Content is nil.
	FitContent bool
}

// EditOutcome says where the text of an edit is now.
type EditOutcome struct {
	// Record is the draft that holds the text, or, with a ConflictID, holds the
	// copy; with Dropped it is the draft that the edit was for, if there still is one.
	Record shared.DraftRecord
	// Changed is set when something was written.
	Changed bool
	// ConflictID is the copy that holds the text, since the record had moved on.
	ConflictID string
	// NewDraft: the draft was sent, deleted or lost, and the text is this new one.
	NewDraft bool
	// Lost: it is that because nothing is known of the draft any more.
	Lost bool
	// Dropped: the text is nothing that could be lost: blank, or what was sent or
	// deleted.
	Dropped bool
}

// EditText saves what was typed in one editor. It never loses a text and never
// mixes two (invariants 5, 6):
//
//   - Made on the newest text: it becomes the text. The same text is a success
//     without a write, so an edit may be repeated.
//   - Made on an older one: equal to the newest, it is a success. Else it becomes
//     a conflict copy (one for each editor and text), and the record's own text
//     stays. A blank one is dropped. DRAFT_LIMIT_REACHED at [shared.MaxConflicts].
//   - The draft is gone: blank, or what was sent or deleted, it is dropped. Else
//     it becomes a new unbound draft of the same workspace. When neither a receipt
//     nor the trash knows the draft, that is the workspace of Home, and a draft that
//     has the text already is found again; without Home DRAFT_NOT_FOUND.
//
// With DRAFT_STORAGE_UNCERTAIN the outcome is returned too.
func (s *Store) EditText(ctx context.Context, e Edit) (EditOutcome, error) {
	var out EditOutcome
	err := s.update(ctx, func(t *tx) (err error) {
		out, err = t.edit(e)
		return err
	})
	if err != nil && shared.CodeOf(err) != shared.StorageUncertain {
		return EditOutcome{}, err
	}
	return out, err
}

func (t *tx) edit(e Edit) (EditOutcome, error) {
	e.Content = normalContent(cloneContent(e.Content))
	record, err := t.get(e.DraftID)
	switch {
	case err != nil:
		return t.lateEdit(e)
	case e.BaseTextRevision == record.TextRevision:
		next := record
		if e.FitContent {
			e.Content = fitContent(e.Text, record.Content)
		}
		next.Text, next.Content = e.Text, e.Content
		t.editor = e.EditorID
		next, err := t.amend(record, next)
		return EditOutcome{Record: next, Changed: err == nil}, err
	case e.Text == record.Text:
		return EditOutcome{Record: record}, ErrNoChange
	case isBlank(e.Text):
		return EditOutcome{Record: record, Dropped: true}, ErrNoChange
	}
	return t.conflict(record, e)
}

// conflict keeps the text of an edit that lost beside the record's own.
func (t *tx) conflict(record shared.DraftRecord, e Edit) (EditOutcome, error) {
	for _, c := range record.Conflicts {
		if c.Text == e.Text {
			return EditOutcome{Record: record, ConflictID: c.ID}, ErrNoChange
		}
	}
	copy := shared.Conflict{Text: e.Text, At: t.now, EditorID: e.EditorKey, Content: e.Content}
	conflicts := slices.Clone(record.Conflicts)
	own := slices.IndexFunc(conflicts, func(c shared.Conflict) bool { return e.EditorKey != "" && c.EditorID == e.EditorKey })
	if own >= 0 {
		copy.ID = conflicts[own].ID
		conflicts[own] = copy
	} else {
		id, err := uuid.NewV7()
		if err != nil {
			return EditOutcome{}, shared.Errorf(shared.StorageIO, "make an id: %w", err)
		}
		copy.ID = id.String()
		conflicts = append(conflicts, copy)
	}
	record.Conflicts = conflicts
	record = t.change(record)
	return EditOutcome{Record: record, Changed: true, ConflictID: copy.ID}, nil
}

// lateEdit is an edit of a draft that was sent or deleted.
func (t *tx) lateEdit(e Edit) (EditOutcome, error) {
	if isBlank(e.Text) {
		return EditOutcome{Dropped: true}, ErrNoChange
	}
	receipt, trashed, known := t.fate(e.DraftID)
	if !known && e.Home == nil {
		return EditOutcome{}, notFound()
	}
	if receipt != nil && receipt.TextHash == sentHash(e.Text) ||
		trashed != nil && strings.TrimSpace(trashed.Record.Text) == strings.TrimSpace(e.Text) {
		return EditOutcome{Dropped: true}, ErrNoChange
	}
	var home shared.DraftRecord
	switch {
	case trashed != nil:
		home = trashed.Record
	case receipt != nil:
		home.WorkspaceID, home.WorkspacePath = receipt.WorkspaceID, receipt.WorkspacePath
	default:
		home = *e.Home
	}
	// A retry whose first attempt was written after all finds its draft. A lost draft
	// may be open in several pages: the first one's is every one's.
	for _, r := range t.doc.Drafts {
		if r.WorkspaceID == home.WorkspaceID && r.Text == e.Text && (!known || len(shared.SessionsOf(&r)) == 0) {
			return EditOutcome{Record: r, NewDraft: true, Lost: !known}, ErrNoChange
		}
	}
	record, err := t.sibling(home, e.Text, e.Content)
	if err != nil {
		return EditOutcome{}, err
	}
	return EditOutcome{Record: t.insertFirst(record), Changed: true, NewDraft: true, Lost: !known}, nil
}

// fate finds what became of a draft that is gone: the newest receipt or the
// trash entry of its id.
func (t *tx) fate(id string) (receipt *shared.Receipt, trashed *shared.TrashEntry, known bool) {
	for i := range t.doc.Receipts {
		if t.doc.Receipts[i].DraftID == id {
			receipt = &t.doc.Receipts[i]
		}
	}
	if i := t.trashIndex(id); i >= 0 {
		trashed = &t.doc.Trash[i]
	}
	return receipt, trashed, receipt != nil || trashed != nil
}

// ResolveConflict removes one conflict copy of a draft and returns the draft;
// with keepAsDraft the copy becomes an unbound draft right after it, which is
// returned instead. Errors: DRAFT_NOT_FOUND for the draft or the copy,
// DRAFT_LIMIT_REACHED.
func (s *Store) ResolveConflict(ctx context.Context, id, conflictID string, keepAsDraft bool) (shared.DraftRecord, error) {
	return s.updateRecord(ctx, func(t *tx) (shared.DraftRecord, error) {
		record, err := t.get(id)
		if err != nil {
			return record, err
		}
		i := slices.IndexFunc(record.Conflicts, func(c shared.Conflict) bool { return c.ID == conflictID })
		if i < 0 {
			return record, shared.Errorf(shared.DraftNotFound, "no such conflict copy: it was resolved already")
		}
		lost := record.Conflicts[i]
		if keepAsDraft {
			if err := t.roomFor(record.WorkspaceID); err != nil {
				return record, err
			}
		}
		record.Conflicts = slices.Delete(slices.Clone(record.Conflicts), i, i+1)
		if len(record.Conflicts) == 0 {
			record.Conflicts = nil
		}
		record = t.change(record)
		if !keepAsDraft {
			return record, nil
		}
		kept, err := t.sibling(record, lost.Text, lost.Content)
		if err != nil {
			return record, err
		}
		kept.Pinned = record.Pinned
		return t.insertAfter(kept, id), nil
	})
}

// TakeConflict lets a conflict copy and the draft's own text change places: the
// person wants the text that had lost, and the one that gives way is not lost
// either (invariant 6). A blank one leaves no copy. Errors: DRAFT_NOT_FOUND for
// the draft or the copy.
func (s *Store) TakeConflict(ctx context.Context, id, conflictID string) (shared.DraftRecord, error) {
	return s.updateRecord(ctx, func(t *tx) (shared.DraftRecord, error) {
		record, err := t.get(id)
		if err != nil {
			return record, err
		}
		i := slices.IndexFunc(record.Conflicts, func(c shared.Conflict) bool { return c.ID == conflictID })
		if i < 0 {
			return record, shared.Errorf(shared.DraftNotFound, "no such conflict copy: it was resolved already")
		}
		next := record
		next.Conflicts = slices.Clone(record.Conflicts)
		next.Text, next.Content = record.Conflicts[i].Text, record.Conflicts[i].Content
		// No editor owns it: what its editor types on must not overwrite it.
		next.Conflicts[i] = shared.Conflict{ID: conflictID, Text: record.Text, At: t.now, Content: record.Content}
		if isBlank(record.Text) {
			next.Conflicts = slices.Delete(next.Conflicts, i, i+1)
		}
		return t.amend(record, next)
	})
}
