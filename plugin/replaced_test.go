package plugin

import (
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
	pb "github.com/draft-sessions/dsh-draft-sessions/shared/proto/draftsessionsv1"
)

// editing is a page with an open editor.
type editing struct {
	s      *server
	id     string
	opened *pb.OpenEditorResponse
	seq    int64
}

func (s *server) edits(t *testing.T, draftID, editorID string) *editing {
	t.Helper()
	opened, err := s.OpenEditor(t.Context(), &pb.OpenEditorRequest{DraftId: draftID, EditorId: editorID})
	if err != nil {
		t.Fatal(err)
	}
	return &editing{s: s, id: editorID, opened: opened}
}

// saves types a text and waits until it is on disk.
func (e *editing) saves(t *testing.T, text string, base int64) {
	t.Helper()
	e.seq++
	edit := &pb.EditRequest{DraftId: e.opened.Draft.Id, EditorId: e.id, Epoch: e.opened.Epoch, Generation: e.opened.Generation, Seq: e.seq, Text: text, BaseTextRevision: base}
	if _, err := e.s.Edit(t.Context(), edit); err != nil {
		t.Fatal(err)
	}
	if err := e.s.editors.Flush(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
}

// replace puts an older file in the place of the draft file, as a person with a backup does.
func (s *server) replace(t *testing.T, old []byte) {
	t.Helper()
	beside := s.config.StorePath + ".old"
	if err := os.WriteFile(beside, old, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(beside, s.config.StorePath); err != nil {
		t.Fatal(err)
	}
	if err := s.store.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func (s *server) file(t *testing.T) []byte {
	t.Helper()
	data, err := os.ReadFile(s.config.StorePath)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Reload, when the file was replaced by an older one: the record stays as it is in
// that file, and what a page shows is a conflict copy, also when it had been saved
// (invariant 6). Pages are told, and work on once they have opened the draft again.
func TestAnOlderFileKeepsWhatPagesShow(t *testing.T) {
	s := startServer(t)
	d, err := s.Create(t.Context(), &pb.CreateRequest{WorkspaceId: "w", Text: "old"})
	if err != nil {
		t.Fatal(err)
	}
	old := s.file(t)
	page := s.edits(t, d.Id, "e")
	page.saves(t, "old and", 1)
	page.saves(t, "old and new", 2)
	w, stop := s.hub.watch()
	defer stop()
	s.replace(t, old)
	told := false
	for !told {
		if c := (<-w.events).GetTextChanged(); c != nil {
			if !c.Replaced || c.Text != "old" || c.DraftId != d.Id {
				t.Fatalf("told %v", c)
			}
			told = true
		}
	}

	// Another process writes the revision that the page knew: still not its text.
	for range 2 {
		got, err := s.store.Get(d.Id)
		if err != nil {
			t.Fatal(err)
		}
		text := got.Text + "er"
		if _, err := s.Update(t.Context(), &pb.UpdateRequest{DraftId: d.Id, ExpectedRevision: got.Revision, Text: &text}); err != nil {
			t.Fatal(err)
		}
	}
	page.saves(t, "old and new!", 3)
	got, err := s.store.Get(d.Id)
	if err != nil || got.Text != "olderer" || len(got.Conflicts) != 1 || got.Conflicts[0].Text != "old and new!" {
		t.Fatalf("record %+v, %v", got, err)
	}
	again := s.edits(t, d.Id, "e")
	again.saves(t, "olderer, newer", got.TextRevision)
	if got, err := s.store.Get(d.Id); err != nil || got.Text != "olderer, newer" || len(got.Conflicts) != 1 {
		t.Errorf("opened again: %+v, %v", got, err)
	}
}

// The same for a page that was away meanwhile: what it shows was saved, and is in
// the file no longer.
func TestAReloadAfterAnOlderFileKeepsWhatWasShown(t *testing.T) {
	s := startServer(t)
	d, err := s.Create(t.Context(), &pb.CreateRequest{WorkspaceId: "w", Text: "old"})
	if err != nil {
		t.Fatal(err)
	}
	old := s.file(t)
	s.edits(t, d.Id, "e").saves(t, "old and new", 1)
	s.replace(t, old)
	shown := "old and new"
	opened, err := s.OpenEditor(t.Context(), &pb.OpenEditorRequest{DraftId: d.Id, EditorId: "e2", HostText: &shown,
		BaseDraftId: d.Id, BaseTextRevision: 2, BaseHash: shared.TextHash(shown), BaseEditorId: "e"})
	if err != nil {
		t.Fatal(err)
	}
	if opened.Show != "record" || opened.Draft.Text != "old" || len(opened.Draft.Conflicts) != 1 || opened.Draft.Conflicts[0].Text != shown || opened.ConflictId != opened.Draft.Conflicts[0].Id {
		t.Errorf("opened %v", opened)
	}
}

// A file without the draft: what pages show becomes one new draft, however many
// pages show it, and the page is told that nobody deleted it.
func TestAFileWithoutTheDraftKeepsWhatPagesShow(t *testing.T) {
	s := startServer(t)
	if _, err := s.Create(t.Context(), &pb.CreateRequest{WorkspaceId: "w", Text: "another"}); err != nil {
		t.Fatal(err)
	}
	old := s.file(t)
	d, err := s.Create(t.Context(), &pb.CreateRequest{WorkspaceId: "w", WorkspacePath: "/w", Text: "mine", AgentPresetId: "review"})
	if err != nil {
		t.Fatal(err)
	}
	one, two := s.edits(t, d.Id, "one"), s.edits(t, d.Id, "two")
	w, stop := s.hub.watch()
	defer stop()
	s.replace(t, old)
	for {
		if r := (<-w.events).GetRemoved(); r != nil {
			if r.DraftId != d.Id || r.Reason != "lost" {
				t.Fatalf("told %v", r)
			}
			break
		}
	}
	one.saves(t, "mine", 1)
	two.saves(t, "mine", 1)
	var kept []shared.DraftRecord
	for _, r := range s.store.Snapshot().Drafts {
		if r.Text == "mine" {
			kept = append(kept, r)
		}
	}
	if len(kept) != 1 || kept[0].WorkspaceID != "w" || kept[0].WorkspacePath != "/w" || kept[0].AgentPresetID != "review" || kept[0].ID == d.Id {
		t.Fatalf("kept %+v", kept)
	}
	if notices := s.hub.sidebar().Notices; len(notices) != 1 || notices[0].Kind != "lost" || notices[0].DraftId != kept[0].ID {
		t.Errorf("notices %v", notices)
	}
}

// What a page lists of the trash has a bounded size, whole characters, the newest first.
func TestTrashIsListedWithItsFirstWords(t *testing.T) {
	s := startServer(t)
	for _, text := range []string{"first", strings.Repeat("界", 300)} {
		d, err := s.Create(t.Context(), &pb.CreateRequest{WorkspaceId: "w", Text: text})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Delete(t.Context(), &pb.RevisionRef{DraftId: d.Id}); err != nil {
			t.Fatal(err)
		}
	}
	list, err := s.ListTrash(t.Context(), &pb.ListTrashRequest{Preview: 200})
	if err != nil || len(list.Entries) != 2 {
		t.Fatalf("%v, %v", list, err)
	}
	newest, oldest := list.Entries[0], list.Entries[1]
	if newest.DeletedAt < oldest.DeletedAt || utf8.RuneCountInString(newest.Draft.Text) != 200 || !utf8.ValidString(newest.Draft.Text) || utf8.RuneCountInString(newest.Title) != 120 {
		t.Errorf("the newest has %d characters, title %q", utf8.RuneCountInString(newest.Draft.Text), newest.Title)
	}
	if oldest.Draft.Text != "first" || oldest.Title != "first" {
		t.Errorf("the oldest is %v", oldest)
	}
	if whole, err := s.ListTrash(t.Context(), &pb.ListTrashRequest{}); err != nil || utf8.RuneCountInString(whole.Entries[0].Draft.Text) != 300 {
		t.Errorf("without a preview: %v", err)
	}
}
