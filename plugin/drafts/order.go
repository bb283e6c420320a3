package drafts

import (
	"cmp"
	"context"
	"slices"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// InOrder are the drafts of one workspace as they are shown: pinned ones first,
// each group in manual order. Equal positions, which only foreign files have, are
// ordered by creation, newest first.
func InOrder(doc *shared.Document, workspaceID string) []shared.DraftRecord {
	var list []shared.DraftRecord
	for i := range doc.Drafts {
		if doc.Drafts[i].WorkspaceID == workspaceID {
			list = append(list, doc.Drafts[i])
		}
	}
	slices.SortStableFunc(list, compareShown)
	return list
}

func compareShown(a, b shared.DraftRecord) int {
	if a.Pinned != b.Pinned {
		if a.Pinned {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(a.Order, b.Order), cmp.Compare(b.CreatedAt, a.CreatedAt), cmp.Compare(a.ID, b.ID))
}

// Reorder gives the drafts of a workspace the positions 0, 1, 2 and so on: first
// those named, then the others in the order they had. Pinned drafts are shown
// before the others all the same. DRAFT_NOT_FOUND when an id is none of the
// workspace's, DRAFT_INVALID_INPUT when one is named twice. A change of position
// raises the revision, but is no edit: updatedAt and textRevision stay.
func (s *Store) Reorder(ctx context.Context, workspaceID string, ids []string) error {
	return s.update(ctx, func(t *tx) error {
		list := InOrder(t.doc, workspaceID)
		rank := make(map[string]int, len(ids))
		for i, id := range ids {
			if at := t.is(id); at < 0 || t.doc.Drafts[at].WorkspaceID != workspaceID {
				return notFound()
			}
			if _, twice := rank[id]; twice {
				return shared.Errorf(shared.DraftInvalidInput, "a draft is named twice")
			}
			rank[id] = i
		}
		slices.SortStableFunc(list, func(a, b shared.DraftRecord) int {
			return cmp.Compare(rankOf(rank, a.ID), rankOf(rank, b.ID))
		})
		if !t.number(list, 0) {
			return ErrNoChange
		}
		return nil
	})
}

// rankOf puts what is not named after everything that is.
func rankOf(rank map[string]int, id string) int {
	if at, named := rank[id]; named {
		return at
	}
	return len(rank)
}

// number gives the records consecutive positions and tells whether any moved.
func (t *tx) number(list []shared.DraftRecord, from int64) (moved bool) {
	for i, record := range list {
		if at := from + int64(i); record.Order != at {
			record.Order = at
			record.Revision = t.nextRevision(record)
			t.store(record)
			moved = true
		}
	}
	return moved
}

// group are the other drafts that stand with record: same workspace, same pin.
func (t *tx) group(record shared.DraftRecord) []shared.DraftRecord {
	return slices.DeleteFunc(InOrder(t.doc, record.WorkspaceID), func(r shared.DraftRecord) bool {
		return r.Pinned != record.Pinned || r.ID == record.ID
	})
}

// insertFirst stores a record before all others of its group; these are
// renumbered only if there is no position left before them.
func (t *tx) insertFirst(record shared.DraftRecord) shared.DraftRecord {
	others := t.group(record)
	record.Order = 0
	if len(others) > 0 && others[0].Order > 0 {
		record.Order = others[0].Order - 1
	} else {
		t.number(others, 1)
	}
	t.store(record)
	return record
}

// insertAt stores a record as the i-th of its group and renumbers the others.
func (t *tx) insertAt(record shared.DraftRecord, i int) shared.DraftRecord {
	others := t.group(record)
	i = min(i, len(others))
	record.Order = int64(i)
	t.number(others[:i], 0)
	t.number(others[i:], int64(i)+1)
	t.store(record)
	return record
}

// insertAfter stores a record right after another one of its group.
func (t *tx) insertAfter(record shared.DraftRecord, id string) shared.DraftRecord {
	return t.insertAt(record, indexOf(t.group(record), id)+1)
}
