package drafts

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// Invariants 5 and 6: no text is lost, none is mixed.
func TestEditText(t *testing.T) {
	s := newStore(t)
	id := create(t, s, CreateParams{Text: "base"}).ID
	occurrence := &shared.Content{Occurrences: []shared.Occurrence{{Ref: "@f", Length: 2, ClipboardText: "@f"}}}
	conflictOf := map[string]string{} // by the name of the step that made it
	for _, test := range []struct {
		name      string
		edit      Edit
		changed   bool
		dropped   bool
		text      string
		conflicts string
		same      string // the copy is that of this earlier step
		newCopy   bool
	}{
		{"on the newest", Edit{EditorKey: "a", BaseTextRevision: 1, Text: "one"}, true, false, "one", "", "", false},
		{"the same again, on the old base", Edit{EditorKey: "a", BaseTextRevision: 1, Text: "one"}, false, false, "one", "", "", false},
		{"the same again, on the newest", Edit{EditorKey: "a", BaseTextRevision: 2, Text: "one"}, false, false, "one", "", "", false},
		{"new content", Edit{EditorKey: "a", BaseTextRevision: 2, Text: "@f", Content: occurrence}, true, false, "@f", "", "", false},
		{"the same content", Edit{EditorKey: "a", BaseTextRevision: 3, Text: "@f", Content: occurrence}, false, false, "@f", "", "", false},
		{"content taken away", Edit{EditorKey: "a", BaseTextRevision: 3, Text: "@f", Content: &shared.Content{}}, true, false, "@f", "", "", false},
		{"blank on an old base", Edit{EditorKey: "b", BaseTextRevision: 1, Text: " \n"}, false, true, "@f", "", "", false},
		{"b loses", Edit{EditorKey: "b", BaseTextRevision: 1, Text: "bee"}, true, false, "@f", "bee", "", true},
		{"b types on", Edit{EditorKey: "b", BaseTextRevision: 1, Text: "beer"}, true, false, "@f", "beer", "b loses", false},
		{"b repeats", Edit{EditorKey: "b", BaseTextRevision: 1, Text: "beer"}, false, false, "@f", "beer", "b loses", false},
		{"c loses", Edit{EditorKey: "c", BaseTextRevision: 2, Text: "sea", Content: occurrence}, true, false, "@f", "beer sea", "", true},
		{"d has c's text", Edit{EditorKey: "d", BaseTextRevision: 2, Text: "sea"}, false, false, "@f", "beer sea", "c loses", false},
		{"nobody loses", Edit{BaseTextRevision: 2, Text: "no one"}, true, false, "@f", "beer sea no one", "", true},
		{"nobody else loses", Edit{BaseTextRevision: 2, Text: "none"}, true, false, "@f", "beer sea no one none", "", true},
		{"emptied on the newest", Edit{EditorKey: "a", BaseTextRevision: 4, Text: ""}, true, false, "", "beer sea no one none", "", false},
	} {
		before := get(t, s, id)
		test.edit.DraftID = id
		out, err := s.EditText(t.Context(), test.edit)
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		after := get(t, s, id)
		var copies []string
		for _, c := range after.Conflicts {
			copies = append(copies, c.Text)
			if c.ID == out.ConflictID && test.newCopy {
				conflictOf[test.name] = c.ID
			}
		}
		if out.Changed != test.changed || out.Dropped != test.dropped || out.NewDraft || after.Text != test.text || strings.Join(copies, " ") != test.conflicts ||
			test.newCopy && conflictOf[test.name] == "" || test.same != "" && out.ConflictID != conflictOf[test.same] {
			t.Errorf("%s: %+v with copies %q", test.name, out, copies)
		}
		if (after.Revision == before.Revision+1) != test.changed || out.Record.Revision != after.Revision {
			t.Errorf("%s: revision from %d to %d", test.name, before.Revision, after.Revision)
		}
		if moved := after.Text != before.Text || (after.Content == nil) != (before.Content == nil); (after.TextRevision == before.TextRevision+1) != moved {
			t.Errorf("%s: text revision from %d to %d", test.name, before.TextRevision, after.TextRevision)
		}
	}
	if got := get(t, s, id).Conflicts[1]; got.EditorID != "c" || len(got.Content.Occurrences) != 1 || got.At == 0 {
		t.Errorf("the copy is %+v", got)
	}
}

// A reorder or rebind never makes an honest edit stale.
func TestEditTextIsComparedByTextRevision(t *testing.T) {
	s := newStore(t)
	record := create(t, s, CreateParams{Text: "base"})
	create(t, s, CreateParams{})
	bind(t, s, record.ID, "s")
	if err := s.Reorder(t.Context(), "w", []string{record.ID}); err != nil {
		t.Fatal(err)
	}
	out, err := s.EditText(t.Context(), Edit{DraftID: record.ID, BaseTextRevision: record.TextRevision, Text: "typed"})
	if err != nil || out.ConflictID != "" || get(t, s, record.ID).Text != "typed" {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestEditTextRefuses(t *testing.T) {
	s := newStore(t)
	record := create(t, s, CreateParams{Text: "base"})
	for name, edit := range map[string]Edit{
		"invalid Unicode":    {DraftID: record.ID, BaseTextRevision: 1, Text: "\xff"},
		"too long":           {DraftID: record.ID, BaseTextRevision: 1, Text: strings.Repeat("x", shared.MaxTextBytes+1)},
		"too long a copy":    {DraftID: record.ID, BaseTextRevision: 9, Text: strings.Repeat("x", shared.MaxTextBytes+1)},
		"content outside it": {DraftID: record.ID, BaseTextRevision: 1, Text: "x", Content: &shared.Content{Occurrences: []shared.Occurrence{{Offset: 1, Length: 1}}}},
	} {
		if _, err := s.EditText(t.Context(), edit); shared.CodeOf(err) != shared.DraftInvalidInput {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := s.EditText(t.Context(), Edit{DraftID: "nobody", Text: "x"})
	wantCode(t, err, shared.DraftNotFound)
	if out, err := s.EditText(t.Context(), Edit{DraftID: "nobody", Text: " "}); err != nil || !out.Dropped {
		t.Errorf("a blank edit of nobody's: %+v, %v", out, err)
	}
	for i := range shared.MaxConflicts {
		if _, err := s.EditText(t.Context(), Edit{DraftID: record.ID, BaseTextRevision: 9, Text: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	_, err = s.EditText(t.Context(), Edit{DraftID: record.ID, BaseTextRevision: 9, Text: "one more"})
	wantCode(t, err, shared.DraftLimitReached)
	if got := get(t, s, record.ID); got.Text != "base" || len(got.Conflicts) != shared.MaxConflicts {
		t.Errorf("%q with %d copies", got.Text, len(got.Conflicts))
	}
}

// An edit that arrives for a sent or deleted draft becomes a new draft, unless
// nothing would be lost.
func TestLateEdits(t *testing.T) {
	for _, end := range []string{"sent", "deleted", "deleted, then proven sent"} {
		t.Run(end, func(t *testing.T) {
			s := newStore(t)
			record := create(t, s, CreateParams{Text: "the text\n", WorkspacePath: "/p", AgentPresetID: "code"})
			bind(t, s, record.ID, "s")
			receipt := shared.Receipt{SubmissionID: "p", TextHash: shared.TextHash("the text")}
			if end != "sent" {
				if _, err := s.Delete(t.Context(), record.ID, 0); err != nil {
					t.Fatal(err)
				}
			}
			if end != "deleted" {
				if kept, err := s.Convert(t.Context(), record.ID, receipt); err != nil || len(kept) != 0 {
					t.Fatal(kept, err)
				}
			}
			for _, text := range []string{"", " \t", "the text", "the text\n", " the text"} {
				out, err := s.EditText(t.Context(), Edit{DraftID: record.ID, BaseTextRevision: 1, Text: text})
				if err != nil || !out.Dropped || out.NewDraft || out.Changed {
					t.Errorf("%q: %+v, %v", text, out, err)
				}
			}
			late, err := s.EditText(t.Context(), Edit{DraftID: record.ID, EditorKey: "e", BaseTextRevision: 1, Text: "the text and more"})
			if err != nil || !late.NewDraft || !late.Changed || late.Dropped {
				t.Fatalf("%+v, %v", late, err)
			}
			if r := late.Record; r.ID == record.ID || r.WorkspaceID != "w" || r.WorkspacePath != "/p" || r.SessionID != nil || r.State != shared.StateDraft {
				t.Errorf("kept as %+v", r)
			}
			again, err := s.EditText(t.Context(), Edit{DraftID: record.ID, EditorKey: "e", BaseTextRevision: 1, Text: "the text and more"})
			if err != nil || again.Changed || !again.NewDraft || again.Record.ID != late.Record.ID {
				t.Errorf("a retry made %+v, %v", again, err)
			}
			if got := texts(s, "w"); got != "the text and more" {
				t.Errorf("then %q", got)
			}
		})
	}
}

// Invariant 1: after an uncertain save a retry makes no conflict copy and no
// second draft, and the outcome says what is in the file.
func TestUncertainEditsAreRepeated(t *testing.T) {
	fsys := &faultyFS{}
	s := openFaulty(t, t.Context(), Options{Path: draftFile(t)}, fsys)
	record := create(t, s, CreateParams{Text: "base"})
	gone := create(t, s, CreateParams{Text: "gone"})
	if _, err := s.Delete(t.Context(), gone.ID, 0); err != nil {
		t.Fatal(err)
	}
	for _, edit := range []Edit{
		{DraftID: record.ID, EditorKey: "a", BaseTextRevision: 1, Text: "typed"},
		{DraftID: record.ID, EditorKey: "b", BaseTextRevision: 1, Text: "lost"},
		{DraftID: gone.ID, EditorKey: "c", BaseTextRevision: 1, Text: "late"},
	} {
		fsys.folderSyncFails.Store(true)
		first, err := s.EditText(t.Context(), edit)
		wantCode(t, err, shared.StorageUncertain)
		second, err := s.EditText(t.Context(), edit)
		wantCode(t, err, shared.StorageUncertain)
		fsys.folderSyncFails.Store(false)
		third, err := s.EditText(t.Context(), edit)
		if err != nil || third.Changed {
			t.Errorf("%s: %+v, %v", edit.Text, third, err)
		}
		for _, out := range []EditOutcome{second, third} {
			if out.Record.ID != first.Record.ID || out.ConflictID != first.ConflictID || out.Record.TextRevision != first.Record.TextRevision || first.Record.ID == "" {
				t.Errorf("%s: first %+v, then %+v", edit.Text, first, out)
			}
		}
	}
	if got := get(t, s, record.ID); got.Text != "typed" || len(got.Conflicts) != 1 || texts(s, "w") != "late typed" {
		t.Errorf("%+v of %q", got, texts(s, "w"))
	}

	fsys.createFails.Store(true)
	_, err := s.EditText(t.Context(), Edit{DraftID: record.ID, BaseTextRevision: 2, Text: "not saved"})
	wantCode(t, err, shared.StorageIO)
	if get(t, s, record.ID).Text != "typed" {
		t.Error("a failed save changed the snapshot")
	}
	fsys.createFails.Store(false)
	if _, err := s.EditText(t.Context(), Edit{DraftID: record.ID, BaseTextRevision: 2, Text: "saved"}); err != nil {
		t.Error(err)
	}
}

func TestResolveConflict(t *testing.T) {
	s := newStore(t)
	record := create(t, s, CreateParams{Text: "base", AgentPresetID: "code"})
	create(t, s, CreateParams{Text: "before"})
	var copies []string
	for _, text := range []string{"one", "two"} {
		out, err := s.EditText(t.Context(), Edit{DraftID: record.ID, BaseTextRevision: 9, Text: text})
		if err != nil {
			t.Fatal(err)
		}
		copies = append(copies, out.ConflictID)
	}
	kept, err := s.ResolveConflict(t.Context(), record.ID, copies[0], true)
	if err != nil || kept.Text != "one" || kept.SessionID != nil || kept.AgentPresetID != "code" || texts(s, "w") != "before base one" {
		t.Errorf("kept %+v, %v in %q", kept, err, texts(s, "w"))
	}
	left, err := s.ResolveConflict(t.Context(), record.ID, copies[1], false)
	if err != nil || left.ID != record.ID || left.Conflicts != nil || left.Text != "base" || left.TextRevision != 1 {
		t.Errorf("left %+v, %v", left, err)
	}
	_, err = s.ResolveConflict(t.Context(), record.ID, copies[1], false)
	wantCode(t, err, shared.DraftNotFound)
	_, err = s.ResolveConflict(t.Context(), "nobody", copies[1], false)
	wantCode(t, err, shared.DraftNotFound)
}

func TestTrash(t *testing.T) {
	c := newClock()
	s := openStore(t, Options{Path: draftFile(t), Now: c.now, LimitPerWorkspace: 1000})
	first, second, third := create(t, s, CreateParams{Text: "c"}), create(t, s, CreateParams{Text: "b"}), create(t, s, CreateParams{Text: "a"})
	second = bind(t, s, second.ID, "s")
	_, err := s.Delete(t.Context(), second.ID, second.Revision+1)
	wantCode(t, err, shared.DraftStaleRevision)
	_, err = s.Delete(t.Context(), "nobody", 0)
	wantCode(t, err, shared.DraftNotFound)
	at, err := s.Delete(t.Context(), second.ID, second.Revision)
	if err != nil || at != c.now().UnixMilli() || texts(s, "w") != "a c" || len(s.Snapshot().Trash) != 1 {
		t.Errorf("deleted at %d, %v: %q", at, err, texts(s, "w"))
	}
	_, err = s.Get(second.ID)
	wantCode(t, err, shared.DraftNotFound)

	back, err := s.Restore(t.Context(), second.ID)
	if err != nil || back.SessionID == nil || back.TextRevision != second.TextRevision || back.Revision != second.Revision+1 || texts(s, "w") != "a b c" || len(s.Snapshot().Trash) != 0 {
		t.Errorf("restored %+v, %v in %q", back, err, texts(s, "w"))
	}
	if again, err := s.Restore(t.Context(), second.ID); err != nil || again.Revision != back.Revision {
		t.Errorf("restored again as %+v, %v", again, err)
	}
	_, err = s.Restore(t.Context(), "nobody")
	wantCode(t, err, shared.DraftNotFound)

	// Its session went to another draft meanwhile (invariant 4).
	if _, err := s.Delete(t.Context(), second.ID, 0); err != nil {
		t.Fatal(err)
	}
	bind(t, s, first.ID, "s")
	if back, err = s.Restore(t.Context(), second.ID); err != nil || back.SessionID != nil || back.State != shared.StateDraft || back.Text != "b" {
		t.Errorf("restored %+v, %v", back, err)
	}

	// Bounds, applied at each delete.
	if _, err := s.Delete(t.Context(), third.ID, 0); err != nil {
		t.Fatal(err)
	}
	c.advance(shared.TrashAge + time.Millisecond)
	for i := range shared.MaxTrash + 1 {
		id := create(t, s, CreateParams{Text: fmt.Sprint(i)}).ID
		if _, err := s.Delete(t.Context(), id, 0); err != nil {
			t.Fatal(err)
		}
	}
	trash := s.Snapshot().Trash
	if len(trash) != shared.MaxTrash || trash[0].Record.Text != "1" {
		t.Errorf("%d in the trash, the oldest %q", len(trash), trash[0].Record.Text)
	}
	if slices.ContainsFunc(trash, func(e shared.TrashEntry) bool { return e.Record.ID == third.ID }) {
		t.Error("an entry is older than it may be")
	}
}

// Invariant 6: taking the losing text loses neither.
func TestTakeConflictSwapsTheTexts(t *testing.T) {
	s := newStore(t)
	rec := create(t, s, CreateParams{WorkspaceID: "w", Text: "base"})
	edit := func(key, text string, base int64) EditOutcome {
		t.Helper()
		out, err := s.EditText(t.Context(), Edit{DraftID: rec.ID, EditorKey: key, BaseTextRevision: base, Text: text})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	winner := edit("a.1", "theirs", rec.TextRevision)
	lost := edit("b.1", "mine", rec.TextRevision)
	got, err := s.TakeConflict(t.Context(), rec.ID, lost.ConflictID)
	if err != nil || got.Text != "mine" || got.TextRevision != winner.Record.TextRevision+1 || len(got.Conflicts) != 1 || got.Conflicts[0].Text != "theirs" {
		t.Fatalf("%+v, %v", got, err)
	}
	// What the loser's editor types on, still on the old base, does not overwrite the copy.
	if again := edit("b.1", "mine, and more", rec.TextRevision); again.ConflictID == lost.ConflictID || len(again.Record.Conflicts) != 2 {
		t.Fatalf("%+v", again)
	}
	_, err = s.TakeConflict(t.Context(), rec.ID, "none")
	wantCode(t, err, shared.DraftNotFound)
}
