package sidebar_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/draft-sessions/dsh-draft-sessions/plugin/sidebar"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

func TestTitle(t *testing.T) {
	long := strings.Repeat("界", 200)
	for _, c := range []struct{ name, title, text, want string }{
		{"empty", "", "", ""},
		{"blank", "", " \n\t\r\n", ""},
		{"first line", "", "fix it\nand more", "fix it"},
		{"first line with something on it", "", "\n\n  second \r\nthird", "second"},
		{"given title wins", "Mine", "text", "Mine"},
		{"control characters", "", "a\x07b\tc", "a b c"},
		{"exactly the bound", "", strings.Repeat("x", 120), strings.Repeat("x", 120)},
		{"counts characters, not bytes", "", long, strings.Repeat("界", 119) + "…"},
	} {
		if got := sidebar.Title(shared.DraftRecord{Title: c.title, Text: c.text}); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestRowsOrder(t *testing.T) {
	doc := &shared.Document{Drafts: []shared.DraftRecord{
		{ID: "b2", WorkspaceID: "b", Order: 1},
		{ID: "a3", WorkspaceID: "a", Order: 2},
		{ID: "a1", WorkspaceID: "a", Order: 5, Pinned: true},
		{ID: "b1", WorkspaceID: "b", Order: 0},
		{ID: "a2", WorkspaceID: "a", Order: 1, CreatedAt: 9},
		{ID: "a2-older", WorkspaceID: "a", Order: 1, CreatedAt: 3},
	}}
	before := slices.Clone(doc.Drafts)
	var got []string
	for _, row := range sidebar.Rows(doc, map[string]sidebar.SaveState{"b2": {State: "not_saved", Code: shared.StorageIO}}) {
		got = append(got, row.DraftId)
		if want := map[bool]string{true: "not_saved", false: "saved"}[row.DraftId == "b2"]; row.SaveState != want {
			t.Errorf("%s: save state %s, want %s", row.DraftId, row.SaveState, want)
		}
	}
	if want := []string{"a1", "a2", "a2-older", "a3", "b1", "b2"}; !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
	for i := range before {
		if before[i].ID != doc.Drafts[i].ID {
			t.Fatal("Rows reordered the document itself")
		}
	}
}

// Invariant 4: a reserved id is as much a draft's as a bound one.
func TestSessionIDs(t *testing.T) {
	s := "s1"
	doc := &shared.Document{Drafts: []shared.DraftRecord{{SessionID: &s, ReservedSessionID: "r1"}, {ReservedSessionID: "s1"}, {}}}
	if got := sidebar.SessionIDs(doc); !slices.Equal(got, []string{"r1", "s1"}) {
		t.Errorf("got %v", got)
	}
}
