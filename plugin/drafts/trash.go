package drafts

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// Delete moves a draft to the trash and returns when that was, in ms. An
// expectedRevision of 0 deletes whatever the revision is, another one must be the
// draft's: DRAFT_STALE_REVISION. The trash keeps the newest [shared.MaxTrash]
// entries of the last [shared.TrashAge]. The draft's session stays as it is
// (invariant 12). DRAFT_NOT_FOUND when there is no such draft.
func (s *Store) Delete(ctx context.Context, id string, expectedRevision int64) (int64, error) {
	var at int64
	err := s.update(ctx, func(t *tx) error {
		record, err := t.get(id)
		if err != nil {
			return err
		}
		if expectedRevision != 0 && record.Revision != expectedRevision {
			return stale(record.Revision, expectedRevision)
		}
		at = t.now
		t.remove(id)
		t.dropTrash(id)
		t.doc.Trash = append(t.doc.Trash, shared.TrashEntry{Record: record, DeletedAt: at})
		oldest := t.now - shared.TrashAge.Milliseconds()
		t.doc.Trash = slices.DeleteFunc(t.doc.Trash, func(e shared.TrashEntry) bool { return e.DeletedAt < oldest })
		t.doc.Trash = t.doc.Trash[max(0, len(t.doc.Trash)-shared.MaxTrash):]
		return nil
	})
	if err != nil && shared.CodeOf(err) != shared.StorageUncertain {
		return 0, err
	}
	return at, err
}

// Restore takes a draft out of the trash under its own id, to the place it had.
// If a session of it belongs to another draft now, it comes back unbound
// (invariant 4). A draft that is not deleted is returned as it is. Errors:
// DRAFT_NOT_FOUND, DRAFT_LIMIT_REACHED.
func (s *Store) Restore(ctx context.Context, id string) (shared.DraftRecord, error) {
	return s.updateRecord(ctx, func(t *tx) (shared.DraftRecord, error) {
		if record, err := t.get(id); err == nil {
			return record, ErrNoChange
		}
		i := t.trashIndex(id)
		if i < 0 {
			return shared.DraftRecord{}, notFound()
		}
		record := t.doc.Trash[i].Record
		if err := t.roomFor(record.WorkspaceID); err != nil {
			return record, err
		}
		t.dropTrash(id)
		for _, session := range shared.SessionsOf(&record) {
			if t.ownerOf(session) != "" {
				record = unbound(record)
				break
			}
		}
		record.Revision++
		record.UpdatedAt = t.now
		before := slices.DeleteFunc(t.group(record), func(r shared.DraftRecord) bool { return r.Order >= record.Order })
		return t.insertAt(record, len(before)), nil
	})
}

// Trashed are the entries of the trash that are kept for the user, the newest first:
// those of the last [shared.TrashAge].
func Trashed(doc *shared.Document, now time.Time) []shared.TrashEntry {
	oldest := now.Add(-shared.TrashAge).UnixMilli()
	kept := slices.DeleteFunc(slices.Clone(doc.Trash), func(e shared.TrashEntry) bool { return e.DeletedAt < oldest })
	slices.SortStableFunc(kept, func(a, b shared.TrashEntry) int { return cmp.Compare(b.DeletedAt, a.DeletedAt) })
	return kept
}

// unbound is r without session, and without a send, whose proof would be
// searched in that session.
func unbound(r shared.DraftRecord) shared.DraftRecord {
	r.SessionID, r.ReservedSessionID, r.Operation = nil, "", nil
	r.State, r.LastError = shared.StateDraft, ""
	return r
}

func (t *tx) trashIndex(id string) int {
	return slices.IndexFunc(t.doc.Trash, func(e shared.TrashEntry) bool { return e.Record.ID == id })
}

func (t *tx) dropTrash(id string) {
	t.doc.Trash = slices.DeleteFunc(t.doc.Trash, func(e shared.TrashEntry) bool { return e.Record.ID == id })
}
