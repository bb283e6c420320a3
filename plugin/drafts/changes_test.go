package drafts

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// Subscribers are told which drafts changed, whoever changed them, and which of
// their texts.
func TestSubscribeRecords(t *testing.T) {
	path := draftFile(t)
	s, other := openStore(t, Options{Path: path}), openStore(t, Options{Path: path})
	first, second := create(t, s, CreateParams{Text: "one"}), create(t, s, CreateParams{Text: "two"})
	names := map[string]string{first.ID: "one", second.ID: "two"}
	var mu sync.Mutex
	var heard []string
	cancel := s.SubscribeRecords(func(changes []RecordChange, state State) {
		mu.Lock()
		defer mu.Unlock()
		var parts []string
		for _, c := range changes {
			parts = append(parts, fmt.Sprintf("%s %v>%v text %v", names[c.ID], c.Before != nil, c.After != nil, c.TextChanged()))
		}
		heard = append(heard, strings.Join(parts, ", ")+string(state.Code))
	})
	if _, err := other.EditText(t.Context(), Edit{DraftID: first.ID, BaseTextRevision: 1, Text: "changed"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Reorder(t.Context(), "w", []string{first.ID, second.ID}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Delete(t.Context(), second.ID, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Restore(t.Context(), second.ID); err != nil {
		t.Fatal(err)
	}
	cancel()
	want := []string{"one true>true text true", "one true>true text false, two true>true text false", "two true>false text true", "two false>true text true"}
	mu.Lock()
	defer mu.Unlock()
	if !slices.Equal(heard, want) {
		t.Errorf("heard %q, want %q", heard, want)
	}
}

func TestChangesOfOneDocument(t *testing.T) {
	doc, err := shared.DecodeDocument([]byte(sharedSession))
	if err != nil {
		t.Fatal(err)
	}
	same := *doc
	if got := append(Changes(doc, doc), Changes(doc, &same)...); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}
