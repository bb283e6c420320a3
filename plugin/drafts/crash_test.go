package drafts

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/draft-sessions/dsh-draft-sessions/jsonstore"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// dyingFS is the file system as a process leaves it that is killed at a certain
// call: that one and all after it do nothing, so nothing is cleaned up either.
type dyingFS struct {
	jsonstore.OS
	left atomic.Int64 // calls until the end
}

func (f *dyingFS) dead() bool { return f.left.Add(-1) < 0 }

func (f *dyingFS) Create(name string, perm fs.FileMode) (jsonstore.File, error) {
	if f.dead() {
		return nil, syscall.EIO
	}
	file, err := f.OS.Create(name, perm)
	if err != nil {
		return nil, err
	}
	return &dyingFile{file, f}, nil
}

func (f *dyingFS) Rename(from, to string) error {
	if f.dead() {
		return syscall.EIO
	}
	return f.OS.Rename(from, to)
}

func (f *dyingFS) Remove(name string) error {
	if f.dead() {
		return syscall.EIO
	}
	return f.OS.Remove(name)
}

func (f *dyingFS) Open(name string) (jsonstore.File, error) {
	if f.dead() {
		return nil, syscall.EIO
	}
	return f.OS.Open(name)
}

type dyingFile struct {
	jsonstore.File
	fs *dyingFS
}

func (f *dyingFile) Write(p []byte) (int, error) {
	if f.fs.dead() {
		n, _ := f.File.Write(p[:len(p)/2]) // Torn on purpose.
		return n, syscall.EIO
	}
	return f.File.Write(p)
}

func (f *dyingFile) Sync() error {
	if f.fs.dead() {
		return syscall.EIO
	}
	return nil // Power cuts are package jsonstore's question.
}

// Crash is a process that dies during a save, at any call of it. What it
// acknowledged is there; what it did not is there whole, or not at all.
func (m *machine) Crash(t *rapid.T) {
	path := m.stores[0].State().Path
	fsys := &dyingFS{}
	fsys.left.Store(1 << 30)
	dying, err := openOn(m.ctx, Options{Path: path, LimitPerWorkspace: 1000}, fsys)
	if err != nil {
		t.Fatal(err)
	}
	d := &modelDraft{id: uuid.NewString(), workspace: someWorkspace.Draw(t, "workspace"), text: someText.Draw(t, "text"), textRevision: 1}
	fsys.left.Store(rapid.Int64Range(0, 7).Draw(t, "calls"))
	_, err = dying.Create(m.ctx, CreateParams{ID: d.id, WorkspaceID: d.workspace, Text: d.text})
	if closeErr := dying.Close(); closeErr != nil {
		t.Fatal(closeErr)
	}
	m.Reopen(t)
	next := m.stores[0]
	if err := next.Refresh(m.ctx); err != nil {
		t.Fatal(err)
	}
	if _, errGet := next.Get(d.id); errGet == nil {
		m.known = append(m.known, d.id)
		m.insert(d, 0)
	} else if err == nil || shared.CodeOf(err) == shared.StorageUncertain {
		t.Fatalf("a draft that was written is gone: %v, %v", err, errGet)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".*.tmp")); err != nil || len(left) > 0 {
		t.Fatalf("the next start left %v, %v", left, err)
	}
}

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
	for name, test := range map[string]struct {
		code shared.Code
		do   func() error
	}{
		"a text": {shared.DraftInvalidInput, func() error {
			_, err := s.EditText(t.Context(), Edit{DraftID: record.ID, BaseTextRevision: 1, Text: large})
			return err
		}},
		"a new draft's text": {shared.DraftInvalidInput, func() error {
			_, err := s.Create(t.Context(), CreateParams{WorkspaceID: "w", Text: large})
			return err
		}},
		"a title": {shared.DraftInvalidInput, func() error {
			_, err := s.Update(t.Context(), record.ID, 1, Patch{Title: pointer(large)})
			return err
		}},
		"drafts": {shared.DraftLimitReached, func() error {
			for range shared.MinDraftsPerWorkspace {
				if _, err := s.Create(t.Context(), CreateParams{WorkspaceID: "w", Text: "y"}); err != nil {
					return err
				}
			}
			return nil
		}},
	} {
		if err := test.do(); shared.CodeOf(err) != test.code {
			t.Errorf("%s: %v, want %s", name, err, test.code)
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
