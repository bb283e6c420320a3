package drafts

import (
	"testing"
	"time"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// The trash lets go of what is older than its age, also when it is nearly empty.
func TestOldTrashGoes(t *testing.T) {
	c := newClock()
	s := openStore(t, Options{Path: draftFile(t), Now: c.now})
	old, fresh := create(t, s, CreateParams{Text: "old"}), create(t, s, CreateParams{Text: "fresh"})
	for _, record := range []shared.DraftRecord{old, fresh} {
		if _, err := s.Delete(t.Context(), record.ID, 0); err != nil {
			t.Fatal(err)
		}
		c.advance(shared.TrashAge + time.Millisecond)
	}
	if trash := s.Snapshot().Trash; len(trash) != 1 || trash[0].Record.ID != fresh.ID {
		t.Errorf("in the trash: %+v", trash)
	}
	// Nothing was deleted since, so the file still has it: nobody is shown it.
	if shown := Trashed(s.Snapshot(), c.now()); len(shown) != 0 {
		t.Errorf("shown: %+v", shown)
	}
	if shown := Trashed(s.Snapshot(), c.now().Add(-2*time.Millisecond)); len(shown) != 1 {
		t.Errorf("shown: %+v", shown)
	}
}
