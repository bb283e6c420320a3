package drafts

import (
	"slices"

	"github.com/draft-sessions/dsh-draft-sessions/jsonstore"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// RecordChange is what became of one draft. Before is nil for a draft that is
// new, After for one that was sent or deleted.
type RecordChange struct {
	ID            string
	Before, After *shared.DraftRecord
}

// TextChanged tells whether there is another text or content than before.
func (c RecordChange) TextChanged() bool {
	return c.Before == nil || c.After == nil || c.Before.TextRevision != c.After.TextRevision || c.Before.Text != c.After.Text
}

// Changes are the drafts that differ between two documents, in the order of
// after, those that are gone last. It costs little for documents of one store:
// records that were not touched are the very same in both.
func Changes(before, after *shared.Document) []RecordChange {
	if before == after {
		return nil
	}
	was := make(map[string]*shared.DraftRecord, len(before.Drafts))
	for i := range before.Drafts {
		was[before.Drafts[i].ID] = &before.Drafts[i]
	}
	var changes []RecordChange
	for i := range after.Drafts {
		r := &after.Drafts[i]
		old := was[r.ID]
		delete(was, r.ID)
		if old == nil || !shared.SameRecord(old, r) {
			changes = append(changes, RecordChange{ID: r.ID, Before: old, After: r})
		}
	}
	for i := range before.Drafts {
		if r := &before.Drafts[i]; was[r.ID] != nil {
			changes = append(changes, RecordChange{ID: r.ID, Before: r})
		}
	}
	return changes
}

// SubscribeRecords has fn called as [Store.Subscribe] does, with the drafts that
// changed and how the file is. changes is empty when only the state, the order
// of records or something beside the drafts changed.
func (s *Store) SubscribeRecords(fn func(changes []RecordChange, state State)) (cancel func()) {
	return s.file.Subscribe(func(c jsonstore.Change[*shared.Document]) {
		fn(slices.Clip(Changes(c.Before, c.After)), stateOf(c.State))
	})
}
