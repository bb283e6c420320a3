package shared

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// saved is a file with some of everything.
func saved(t interface{ Fatal(...any) }, drafts int) []byte {
	doc := EmptyDocument()
	doc.Generation = 7
	for i := range drafts {
		session := fmt.Sprintf("session-%d", i)
		doc.Drafts = append(doc.Drafts, DraftRecord{
			Version: RecordVersion, ID: fmt.Sprintf("draft-%d", i), SessionID: &session, WorkspaceID: "w", Text: strings.Repeat("words ", i),
			CreatedAt: 1, UpdatedAt: 2, State: StateReady, Revision: 1, TextRevision: 1,
		})
	}
	deleted := doc.Drafts[0]
	deleted.SessionID = nil
	doc.Trash = []TrashEntry{{Record: deleted, DeletedAt: 3}}
	data, err := EncodeDocument(doc)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func idsOf(doc *Document) []string {
	var ids []string
	for _, r := range doc.Drafts {
		ids = append(ids, r.ID)
	}
	return ids
}

func TestSalvageTakesWholeRecords(t *testing.T) {
	whole := string(saved(t, 4))
	lines := strings.SplitAfter(whole, "\n")
	for name, c := range map[string]struct {
		data  string
		ids   string
		lost  int
		trash int
	}{
		"nothing wrong":       {whole, "draft-0 draft-1 draft-2 draft-3", 0, 1},
		"one byte of a draft": {strings.Replace(whole, `"draft-1"`, `"draft-1`, 1), "draft-0 draft-2 draft-3", 1, 1},
		"cut in a draft":      {whole[:strings.Index(whole, `"draft-2"`)], "draft-0 draft-1", 1, 0},
		"its head cut off":    {whole[len(lines[0])+5:], "draft-1 draft-2 draft-3", 1, 1},
		"zeros at its end":    {strings.Join(lines[:3], "") + strings.Repeat("\x00", 4096), "draft-0 draft-1", 1, 0},
		"a draft twice":       {strings.Replace(whole, lines[2], lines[2]+lines[2], 1), "draft-0 draft-1 draft-2 draft-3", 1, 1},
		"another's record":    {strings.Replace(whole, `"draft-1"`, `"draft-1","more":1`, 1), "draft-0 draft-2 draft-3", 1, 1},
		"empty":               {"", "", 0, 0},
		"no draft file":       {"words\nand more\n", "", 2, 0},
		"a picture":           {"\x89PNG\r\n\x1a\n", "", 2, 0},
	} {
		doc, lost := SalvageDocument([]byte(c.data))
		if got := strings.Join(idsOf(doc), " "); got != c.ids || lost != c.lost || len(doc.Trash) != c.trash {
			t.Errorf("%s: %q with %d deleted, %d lost; want %q, %d, %d", name, got, len(doc.Trash), lost, c.ids, c.trash, c.lost)
		}
	}
}

func TestSalvageUnbindsTheSecondOfASession(t *testing.T) {
	data := bytes.Replace(saved(t, 3), []byte(`"session-1"`), []byte(`"session-0"`), 1)
	doc, lost := SalvageDocument(data)
	if lost != 0 || len(doc.Drafts) != 3 || doc.Drafts[0].SessionID == nil || doc.Drafts[1].SessionID != nil || doc.Drafts[1].State != StateDraft || doc.Drafts[2].SessionID == nil {
		t.Errorf("%d lost of %+v", lost, doc.Drafts)
	}
}

// Whatever happens to one stretch of the file: what is salvaged is valid, and every
// record that was not touched is there.
func TestSalvageLosesOnlyWhatIsDamaged(t *testing.T) {
	whole := saved(t, 12)
	rapid.Check(t, func(t *rapid.T) {
		data := bytes.Clone(whole)
		from := rapid.IntRange(0, len(data)-1).Draw(t, "from")
		n := rapid.IntRange(1, min(200, len(data)-from)).Draw(t, "length")
		damage := rapid.SliceOfN(rapid.Byte(), n, n).Draw(t, "damage")
		copy(data[from:], damage)
		doc, _ := SalvageDocument(data)
		if err := ValidateDocument(doc); err != nil {
			t.Fatalf("salvaged something that is not valid: %v", err)
		}
		ids, start := idsOf(doc), 0
		for i, line := range bytes.SplitAfter(whole, []byte("\n")) {
			end := start + len(line)
			if id := fmt.Sprintf("draft-%d", i-1); i >= 1 && i <= 12 && (end <= from || start >= from+n) && !slices.Contains(ids, id) {
				// A newline before it may have gone: then two lines are one.
				if start == 0 || data[start-1] == '\n' {
					t.Fatalf("%s was not touched and is lost", id)
				}
			}
			start = end
		}
	})
}
