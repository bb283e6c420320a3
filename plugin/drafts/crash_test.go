package drafts

import (
	"io/fs"
	"path/filepath"
	"sync/atomic"
	"syscall"

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
