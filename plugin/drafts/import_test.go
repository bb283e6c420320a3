package drafts

import (
	"path/filepath"
	"testing"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

func openPlain(t *testing.T) *Store {
	t.Helper()
	s, err := Open(t.Context(), Options{Path: filepath.Join(t.TempDir(), "drafts.json"), LimitPerWorkspace: 20, Poll: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func foreign(id, text string) shared.DraftRecord {
	session := "session-of-another-home"
	return shared.DraftRecord{
		ID: id, WorkspaceID: "w", WorkspacePath: "/w", Text: text, Title: "title " + id, CreatedAt: 10, UpdatedAt: 20,
		SessionID: &session, Revision: 9, TextRevision: 8, Order: 7, State: shared.StateReady,
		Conflicts: []shared.Conflict{{ID: "c", Text: "other words", At: 15}},
	}
}

func TestImport(t *testing.T) {
	s := openPlain(t)
	if _, err := s.Create(t.Context(), CreateParams{WorkspaceID: "w", Text: "was here"}); err != nil {
		t.Fatal(err)
	}
	records := []shared.DraftRecord{foreign("a", "one"), foreign("b", "two"), foreign("", "three")}
	got, err := s.Import(t.Context(), records, false)
	if err != nil {
		t.Fatal(err)
	}
	shown := InOrder(s.Snapshot(), "w")
	if len(shown) != 4 || shown[0].ID != "a" || shown[1].ID != "b" || shown[2].ID != got[2].Record.ID || got[2].Record.ID == "" || shown[3].Text != "was here" {
		t.Fatalf("order %+v", shown)
	}
	a := shown[0]
	if a.SessionID != nil || a.State != shared.StateDraft || a.Revision != 1 || a.TextRevision != 1 || a.CreatedAt != 10 || a.UpdatedAt != 20 ||
		a.Title != "title a" || len(a.Conflicts) != 1 || a.Conflicts[0].Text != "other words" {
		t.Errorf("taken over: %+v", a)
	}
	before := s.State().Generation
	again, err := s.Import(t.Context(), records[:2], false)
	if err != nil || !again[0].Existed || !again[1].Existed || s.State().Generation != before {
		t.Errorf("the same again: %+v, %v", again, err)
	}
	copies, err := s.Import(t.Context(), records[:2], true)
	if err != nil || copies[0].Existed || copies[0].Record.ID == "a" || len(InOrder(s.Snapshot(), "w")) != 6 {
		t.Errorf("as copies: %+v, %v", copies, err)
	}
}

// One record that cannot be taken leaves all out (invariant 6).
func TestImportIsAllOrNothing(t *testing.T) {
	s := openPlain(t)
	if _, err := s.Import(t.Context(), []shared.DraftRecord{foreign("a", "one"), foreign("gone", "text")}, false); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Delete(t.Context(), "gone", 0); err != nil {
		t.Fatal(err)
	}
	lost := "\xff"
	broken := foreign("x", "y")
	broken.Title = lost
	homeless := foreign("x", "y")
	homeless.WorkspaceID = ""
	many := []shared.DraftRecord{}
	for range 20 {
		many = append(many, foreign("", "one of many"))
	}
	for name, test := range map[string]struct {
		records []shared.DraftRecord
		code    shared.Code
		place   string
	}{
		"another text":     {[]shared.DraftRecord{foreign("n", "new"), foreign("a", "changed")}, shared.OperationConflict, "drafts[1]"},
		"deleted here":     {[]shared.DraftRecord{foreign("gone", "other"), foreign("n", "new")}, shared.OperationConflict, "drafts[0]"},
		"twice":            {[]shared.DraftRecord{foreign("n", "new"), foreign("n", "new")}, shared.DraftInvalidInput, "drafts[0]"},
		"not well-formed":  {[]shared.DraftRecord{foreign("n", "new"), broken}, shared.DraftInvalidInput, "drafts[1]"},
		"no workspace":     {[]shared.DraftRecord{foreign("n", "new"), homeless}, shared.DraftInvalidInput, "drafts[1]"},
		"more than fit in": {many, shared.DraftLimitReached, "drafts[0]"},
	} {
		before := s.State().Generation
		_, err := s.Import(t.Context(), test.records, false)
		if shared.CodeOf(err) != test.code || len(shared.MessageOf(err)) < len(test.place) || shared.MessageOf(err)[:len(test.place)] != test.place {
			t.Errorf("%s: %v", name, err)
		}
		if s.State().Generation != before {
			t.Errorf("%s: something was written", name)
		}
	}
	back, err := s.Import(t.Context(), []shared.DraftRecord{foreign("gone", "text")}, false)
	if err != nil || back[0].Record.ID != "gone" || len(s.Snapshot().Trash) != 0 {
		t.Errorf("the deleted one with the same text: %+v, %v", back, err)
	}
}

func TestPlainEditKeepsWhatFits(t *testing.T) {
	s := openPlain(t)
	file := func(offset int64) shared.Occurrence {
		return shared.Occurrence{Source: "reference", Ref: "@a.ts", Offset: offset, Length: 5, Label: "a.ts", ClipboardText: "@a.ts"}
	}
	r, err := s.Create(t.Context(), CreateParams{WorkspaceID: "w", Text: "see @a.ts and @a.ts", Content: &shared.Content{Occurrences: []shared.Occurrence{file(4), file(14)}}})
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.EditText(t.Context(), Edit{DraftID: r.ID, BaseTextRevision: r.TextRevision, Text: "see @a.ts and more", FitContent: true})
	if err != nil || out.Record.Content == nil || len(out.Record.Content.Occurrences) != 1 || out.Record.Content.Occurrences[0].Offset != 4 {
		t.Errorf("%+v, %v", out.Record.Content, err)
	}
}
