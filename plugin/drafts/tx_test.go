package drafts

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// However many records a change asks for, puts and removes, it finds each where
// it stands.
func TestPlacesFollowTheChange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc := shared.EmptyDocument()
		for i := range rapid.IntRange(0, 30).Draw(t, "drafts") {
			doc.Drafts = append(doc.Drafts, shared.DraftRecord{ID: fmt.Sprint(i), Revision: 1})
		}
		x := newTx(doc, 1, 20)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			id := fmt.Sprint(rapid.IntRange(0, 40).Draw(t, "id"))
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0:
				x.store(shared.DraftRecord{ID: id, Revision: 2})
			case 1:
				x.remove(id)
			}
			if at := x.is(id); at != indexOf(x.doc.Drafts, id) {
				t.Fatalf("%s is at %d of %+v", id, at, x.doc.Drafts)
			}
			if at := x.was(id); at != indexOf(doc.Drafts, id) {
				t.Fatalf("%s was at %d of %+v", id, at, doc.Drafts)
			}
		}
	})
}

// A change that may not be safe from a power cut yet is told of with its record,
// so whoever asked can go on with it, and asking again makes nothing twice.
func TestUncertainChangesGiveTheirRecord(t *testing.T) {
	fsys := &faultyFS{}
	s := openFaulty(t, t.Context(), Options{Path: draftFile(t)}, fsys)
	create(t, s, CreateParams{Text: "first"})
	fsys.folderSyncFails.Store(true)
	p := CreateParams{ID: "new", WorkspaceID: "w", Text: "text"}
	for range 2 {
		record, err := s.Create(t.Context(), p)
		wantCode(t, err, shared.StorageUncertain)
		if record.ID != "new" || record.Text != "text" || record.Revision != 1 {
			t.Errorf("created %+v", record)
		}
	}
	deleted, err := s.Delete(t.Context(), "new", 1)
	wantCode(t, err, shared.StorageUncertain)
	if deleted == 0 {
		t.Error("nobody knows when it was deleted")
	}
	fsys.folderSyncFails.Store(false)
	record, err := s.Restore(t.Context(), "new")
	if err != nil || record.Text != "text" || texts(s, "w") != "text first" {
		t.Errorf("restored %+v among %q, %v", record, texts(s, "w"), err)
	}
}
