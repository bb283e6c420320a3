package shared

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// cut is data as lines.
func cut(data []byte) [][]byte {
	return slices.DeleteFunc(bytes.SplitAfter(data, []byte("\n")), func(line []byte) bool { return len(line) == 0 })
}

// Whatever member of a record is replaced, its line is not used again: a member
// forgotten in the comparison would never reach the disk.
func TestSameRecordSeesEveryMember(t *testing.T) {
	base := DraftRecord{}
	if copied := base; !SameRecord(&base, &copied) {
		t.Error("a record is not the same as itself")
	}
	for i := range reflect.TypeFor[DraftRecord]().NumField() {
		other := base
		field := reflect.ValueOf(&other).Elem().Field(i)
		switch field.Kind() {
		case reflect.Pointer:
			field.Set(reflect.New(field.Type().Elem()))
		case reflect.Slice:
			field.Set(reflect.MakeSlice(field.Type(), 1, 1))
		case reflect.String:
			field.SetString("x")
		case reflect.Bool:
			field.SetBool(true)
		default:
			field.SetInt(1)
		}
		if name := reflect.TypeFor[DraftRecord]().Field(i).Name; SameRecord(&base, &other) || sameTrashEntry(&TrashEntry{Record: base}, &TrashEntry{Record: other}) {
			t.Errorf("a replaced %s goes unseen", name)
		}
	}
	if sameTrashEntry(&TrashEntry{}, &TrashEntry{DeletedAt: 1}) || reflect.TypeFor[TrashEntry]().NumField() != 2 {
		t.Error("a trash entry has members that go unseen")
	}
	one, other := []Conflict{{ID: "a"}}, []Conflict{{ID: "a"}}
	if SameRecord(&DraftRecord{Conflicts: one}, &DraftRecord{Conflicts: other}) {
		t.Error("equal copies of conflicts pass for the same")
	}
}

// numbered is a document of n drafts.
func numbered(n int) *Document {
	doc := EmptyDocument()
	for i := range n {
		r := validRecord()
		r.ID, r.Text = fmt.Sprint(i), strings.Repeat("text\n", 20)+fmt.Sprint(i)
		doc.Drafts = append(doc.Drafts, r)
	}
	return doc
}

// Unchanged records are not encoded again: their lines are the very same bytes.
func TestUnchangedRecordsKeepTheirLines(t *testing.T) {
	first := numbered(200)
	lines, err := EncodeLines(first, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	next := *first
	next.Generation++
	next.Drafts = slices.Clone(first.Drafts)
	next.Drafts[7].Text, next.Drafts[7].Revision = "new", 2
	next.Drafts = slices.Delete(next.Drafts, 50, 51)
	next.Drafts = append(next.Drafts[1:], next.Drafts[0]) // moved to the end
	again, err := EncodeLines(&next, first, lines)
	if err != nil {
		t.Fatal(err)
	}
	had := map[*byte]bool{}
	for _, line := range lines {
		had[&line[0]] = true
	}
	fresh := 0
	for _, line := range again[1 : len(again)-1] {
		if !had[&line[0]] {
			fresh++
		}
	}
	// The changed one, the last one's comma, and the comma of the one moved there.
	if fresh != 3 {
		t.Errorf("%d lines are new, want 3", fresh)
	}
	if full, err := EncodeDocument(&next); err != nil || !bytes.Equal(full, bytes.Join(again, nil)) {
		t.Errorf("%v, not what would be written from scratch", err)
	}
}

// Known lines are not parsed again: their records are the very same.
func TestKnownLinesKeepTheirRecords(t *testing.T) {
	first := numbered(300)
	lines, err := EncodeLines(first, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	read, ours, err := DecodeLines(lines, nil, nil)
	if err != nil || len(ours) != len(lines) {
		t.Fatalf("%d lines are kept: %v", len(ours), err)
	}
	next := *read
	next.Drafts = slices.Clone(read.Drafts)
	next.Drafts[3].Text = "elsewhere"
	changed, err := EncodeLines(&next, read, ours)
	if err != nil {
		t.Fatal(err)
	}
	// A poisoned record shows whether it is taken or parsed.
	read.Drafts[100].Title = "poison"
	again, _, err := DecodeLines(changed, read, ours)
	if err != nil || again.Drafts[3].Text != "elsewhere" || again.Drafts[100].Title != "poison" || again.Drafts[99].Title != "" {
		t.Errorf("%+v, %v", again.Drafts[100], err)
	}
}

// Any changes, written with what is known and read with what is known, give what
// they would give from scratch.
func TestLinesAgreeWithTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc := numbered(rapid.IntRange(0, 6).Draw(t, "drafts"))
		lines, err := EncodeLines(doc, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(1, 6).Draw(t, "steps") {
			next := *doc
			next.Generation++
			next.Drafts, next.Trash, next.Receipts = slices.Clone(doc.Drafts), slices.Clone(doc.Trash), slices.Clone(doc.Receipts)
			at := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "at") }
			switch step := rapid.IntRange(0, 6).Draw(t, "step"); {
			case step == 0:
				r := validRecord()
				r.ID = fmt.Sprint("n", next.Generation, len(doc.Drafts))
				next.Drafts = slices.Insert(next.Drafts, at(len(next.Drafts)+1), r)
			case step == 1 && len(next.Drafts) > 0:
				i := at(len(next.Drafts))
				next.Trash = append(next.Trash, TrashEntry{Record: next.Drafts[i], DeletedAt: 5})
				next.Drafts = slices.Delete(next.Drafts, i, i+1)
			case step == 2 && len(next.Drafts) > 0:
				i := at(len(next.Drafts))
				session := fmt.Sprint("s", next.Generation)
				next.Drafts[i].Revision++
				next.Drafts[i].SessionID = &session
			case step == 3 && len(next.Drafts) > 1:
				i, j := at(len(next.Drafts)), at(len(next.Drafts))
				next.Drafts[i], next.Drafts[j] = next.Drafts[j], next.Drafts[i]
			case step == 4:
				next.Receipts = append(next.Receipts, Receipt{DraftID: "z", WorkspaceID: "w", At: next.Generation})
			case step == 5:
				next.RestoreTarget = &RestoreTarget{DraftID: "<&>", At: 1}
			case step == 6 && len(next.Trash) > 0:
				next.Trash = next.Trash[1:]
			}
			if len(next.Trash) > 1 && next.Trash[0].Record.ID == next.Trash[len(next.Trash)-1].Record.ID {
				continue
			}
			whole, err := EncodeDocument(&next)
			if err != nil {
				t.Fatal(err)
			}
			changed, err := EncodeLines(&next, doc, lines)
			if err != nil || !bytes.Equal(whole, bytes.Join(changed, nil)) {
				t.Fatalf("%v, written as\n%s\nwant\n%s", err, bytes.Join(changed, nil), whole)
			}
			read, ours, err := DecodeLines(changed, doc, lines)
			if err != nil || ours == nil {
				t.Fatalf("%v, kept %d lines", err, len(ours))
			}
			plain, err := DecodeDocument(whole)
			if err != nil || !reflect.DeepEqual(plain, read) {
				t.Fatalf("%v, read as %+v, want %+v", err, read, plain)
			}
			doc, lines = read, ours
		}
	})
}

// A record that stands twice is refused, also when both are known.
func TestKnownRecordsAreStillUnique(t *testing.T) {
	doc := numbered(3)
	session := "s"
	doc.Drafts[0].SessionID = &session
	lines, err := EncodeLines(doc, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, drafts := range map[string][]DraftRecord{
		"twice":     {doc.Drafts[0], doc.Drafts[1], doc.Drafts[2], doc.Drafts[0]},
		"in a row":  {doc.Drafts[0], doc.Drafts[0], doc.Drafts[1], doc.Drafts[2]},
		"a session": {doc.Drafts[0], doc.Drafts[1], {Version: 2, ID: "n", ReservedSessionID: "s", WorkspaceID: "w", State: StateDraft, Revision: 1, TextRevision: 1}},
	} {
		next := *doc
		next.Drafts = drafts
		if _, err := EncodeLines(&next, doc, lines); CodeOf(err) != DraftInvalidInput {
			t.Errorf("%s is written: %v", name, err)
		}
	}
	twice := [][]byte{lines[0], lines[1], lines[1], lines[2], lines[3], lines[4]}
	if _, _, err := DecodeLines(twice, doc, lines); CodeOf(err) != StorageInvalid || !strings.Contains(err.Error(), "drafts[1]: id") {
		t.Errorf("a line that stands twice is read: %v", err)
	}
}

// A file that is not in our form is read all the same, and not by lines.
func TestForeignFormsAreRead(t *testing.T) {
	for name, data := range map[string]string{
		"indented":            "{\n \"version\": 2,\n \"generation\": 1,\n \"drafts\": [],\n \"trash\": []\n}\n",
		"no last line feed":   strings.TrimSuffix(fullDocument, "\n"),
		"another order":       "{\"generation\":1,\"version\":2,\"trash\":[],\"drafts\":[]}\n",
		"an empty list":       "{\"version\":2,\"generation\":1,\"drafts\":[],\"trash\":[],\"receipts\":[]}\n",
		"two records a line":  strings.Replace(fullDocument, "},\n{\"version\":2,\"id\":\"b\"", "},{\"version\":2,\"id\":\"b\"", 1),
		"comma before a line": strings.Replace(fullDocument, "},\n{\"version\":2,\"id\":\"b\"", "}\n,{\"version\":2,\"id\":\"b\"", 1),
	} {
		doc, lines, err := DecodeLines(cut([]byte(data)), nil, nil)
		if err != nil || lines != nil {
			t.Errorf("%s: %v, kept %d lines", name, err, len(lines))
			continue
		}
		if plain, err := DecodeDocument([]byte(data)); err != nil || !reflect.DeepEqual(plain, doc) {
			t.Errorf("%s: read as %+v, want %+v", name, doc, plain)
		}
	}
}
