package sidebar_test

import (
	"testing"

	"github.com/draft-sessions/dsh-draft-sessions/plugin/sidebar"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// A duplicate is told from its source by a number, by age and not by place; nobody
// gets a number that is another draft's own title.
func TestEqualTitlesHaveNumbers(t *testing.T) {
	doc := &shared.Document{Drafts: []shared.DraftRecord{
		{ID: "1", WorkspaceID: "a", CreatedAt: 1, Order: 4, Text: "fix it\nand more"},
		{ID: "2", WorkspaceID: "a", CreatedAt: 2, Order: 1, Text: "fix it"},
		{ID: "3", WorkspaceID: "a", CreatedAt: 3, Order: 2, Title: "fix it", Text: "else"},
		{ID: "4", WorkspaceID: "a", CreatedAt: 4, Order: 0, Text: "fix it (3)"},
		{ID: "5", WorkspaceID: "a", CreatedAt: 5, Order: 0},
		{ID: "6", WorkspaceID: "a", CreatedAt: 6, Order: 0, Text: " "},
		{ID: "7", WorkspaceID: "b", CreatedAt: 7, Order: 0, Text: "fix it"},
		{ID: "8", WorkspaceID: "a", CreatedAt: 7, Order: 0, Text: "fix it (3)"},
	}}
	want := map[string]string{
		"1": "fix it", "2": "fix it (2)", "3": "fix it (4)", "4": "fix it (3)", "5": "", "6": "", "7": "fix it", "8": "fix it (3) (2)",
	}
	rows := sidebar.Rows(doc, nil)
	if len(rows) != len(want) {
		t.Fatalf("%d rows", len(rows))
	}
	for _, row := range rows {
		if row.Title != want[row.DraftId] {
			t.Errorf("draft %s is %q, want %q", row.DraftId, row.Title, want[row.DraftId])
		}
	}
}
