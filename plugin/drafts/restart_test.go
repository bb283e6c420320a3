package drafts

import (
	"os"
	"strings"
	"testing"

	"github.com/draft-sessions/dsh-draft-sessions/jsonstore"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// What a user sees is what was there before a restart: drafts, conflict copies,
// the trash, from which a draft still comes back to its place, and receipts.
func TestEverythingSurvivesARestart(t *testing.T) {
	path := draftFile(t)
	s := openStore(t, Options{Path: path})
	a, b := create(t, s, CreateParams{Text: "a"}), create(t, s, CreateParams{Text: "b"})
	sent := create(t, s, CreateParams{Text: "sent"})
	bind(t, s, a.ID, "session-a")
	if _, err := s.EditText(t.Context(), Edit{DraftID: b.ID, BaseTextRevision: 1, Text: "b2"}); err != nil {
		t.Fatal(err)
	}
	lost, err := s.EditText(t.Context(), Edit{DraftID: b.ID, EditorKey: "e", BaseTextRevision: 1, Text: "lost"})
	if err != nil || lost.ConflictID == "" {
		t.Fatalf("%+v, %v", lost, err)
	}
	if _, err := s.Delete(t.Context(), a.ID, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Convert(t.Context(), sent.ID, shared.Receipt{SubmissionID: "p", TextHash: sentHash("sent")}); err != nil {
		t.Fatal(err)
	}
	before := readFile(t, path)
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = openStore(t, Options{Path: path})
	}
	if readFile(t, path) != before {
		t.Error("restarting wrote the file")
	}
	if record := get(t, s, b.ID); record.Text != "b2" || len(record.Conflicts) != 1 || record.Conflicts[0].Text != "lost" || record.Conflicts[0].EditorID != "e" {
		t.Errorf("%+v", record)
	}
	restored, err := s.Restore(t.Context(), a.ID)
	if err != nil || restored.Text != "a" || restored.SessionID == nil || *restored.SessionID != "session-a" {
		t.Errorf("undone as %+v, %v", restored, err)
	}
	if texts(s, "w") != "b2 a" {
		t.Errorf("in order %q", texts(s, "w"))
	}
	if kept, err := s.ResolveConflict(t.Context(), b.ID, lost.ConflictID, true); err != nil || kept.Text != "lost" {
		t.Errorf("the copy is opened as %+v, %v", kept, err)
	}
	// The receipt still knows that a late edit with the sent text is none.
	if out, err := s.EditText(t.Context(), Edit{DraftID: sent.ID, Text: "sent"}); err != nil || !out.Dropped {
		t.Errorf("%+v, %v", out, err)
	}
}

// Each limit has its code, and what is refused changes nothing.
func TestLimitsHaveCodes(t *testing.T) {
	s := openStore(t, Options{Path: draftFile(t), LimitPerWorkspace: shared.MinDraftsPerWorkspace})
	record := create(t, s, CreateParams{Text: "x"})
	large := strings.Repeat("x", shared.MaxTextBytes+1)
	for _, test := range []struct {
		name string
		code shared.Code
		do   func() error
	}{
		{"a text", shared.DraftInvalidInput, func() error {
			_, err := s.EditText(t.Context(), Edit{DraftID: record.ID, BaseTextRevision: 1, Text: large})
			return err
		}},
		{"a new draft's text", shared.DraftInvalidInput, func() error {
			_, err := s.Create(t.Context(), CreateParams{WorkspaceID: "w", Text: large})
			return err
		}},
		{"a title", shared.DraftInvalidInput, func() error {
			_, err := s.Update(t.Context(), record.ID, 1, Patch{Title: pointer(large)})
			return err
		}},
		{"drafts", shared.DraftLimitReached, func() error {
			for range shared.MinDraftsPerWorkspace {
				if _, err := s.Create(t.Context(), CreateParams{WorkspaceID: "w", Text: "y"}); err != nil {
					return err
				}
			}
			return nil
		}},
	} {
		if err := test.do(); shared.CodeOf(err) != test.code {
			t.Errorf("%s: %v, want %s", test.name, err, test.code)
		}
	}
	if got := get(t, s, record.ID); got.Text != "x" || got.Title != "" || len(s.Snapshot().Drafts) != shared.MinDraftsPerWorkspace {
		t.Errorf("then %+v among %d", got, len(s.Snapshot().Drafts))
	}
}

// A file that would grow beyond its limit refuses the change that would do it,
// and no other.
func TestFileSizeIsLimited(t *testing.T) {
	path := draftFile(t)
	options := fileOptions(path)
	options.MaxBytes = 1000
	file, err := jsonstore.Open(t.Context(), format, options)
	if err != nil {
		t.Fatal(err)
	}
	s := &Store{file: file, limit: shared.MinDraftsPerWorkspace, now: newClock().now}
	t.Cleanup(func() { _ = s.Close() })
	create(t, s, CreateParams{Text: "small"})
	_, err = s.Create(t.Context(), CreateParams{WorkspaceID: "w", Text: strings.Repeat("x", 1000)})
	wantCode(t, err, shared.DraftLimitReached)
	create(t, s, CreateParams{Text: "also"})
	if info, err := os.Stat(path); err != nil || info.Size() > 1000 || texts(s, "w") != "also small" {
		t.Errorf("%v, %v with %q", info.Size(), err, texts(s, "w"))
	}
}

// A file over the limit is not read, whatever is in it, and not written.
func TestFileOverTheLimit(t *testing.T) {
	path := draftFile(t)
	writeFile(t, path, sharedSession)
	if err := os.Truncate(path, shared.MaxFileBytes+1); err != nil {
		t.Fatal(err)
	}
	s := openStore(t, Options{Path: path})
	_, err := s.Create(t.Context(), CreateParams{WorkspaceID: "w", Text: "x"})
	wantCode(t, err, shared.StorageInvalid)
	if !strings.Contains(s.State().Message, "larger than") {
		t.Errorf("it says %q", s.State().Message)
	}
	if info, err := os.Stat(path); err != nil || info.Size() != shared.MaxFileBytes+1 {
		t.Errorf("the file has %d bytes, %v", info.Size(), err)
	}
}
