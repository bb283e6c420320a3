package jsonstore

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// Invariant 1: a power cut may not take the folders that were made for the file,
// or what was acknowledged would go with them. Each of them is synced in its parent.
func TestNewFoldersAreSynced(t *testing.T) {
	base := t.TempDir()
	r := &recorder{}
	o := quiet(filepath.Join(base, "storages", "drafts", "list.json"))
	o.FS = r
	mustAdd(t, open(t, o), "one")
	for _, parent := range []string{base, filepath.Join(base, "storages"), filepath.Join(base, "storages", "drafts")} {
		if !slices.ContainsFunc(r.log, func(op operation) bool { return op.kind == "syncdir" && op.name == parent }) {
			t.Errorf("%s was not synced", filepath.Base(parent))
		}
	}
}

// The folders may also have been made by a process that died before it synced
// them, or could not. The first file in them is acknowledged after all are.
func TestFoundFoldersAreSynced(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "storages", "drafts")
	r := &recorder{fail: func(op operation) bool { return op.kind == "syncdir" && op.name == filepath.Dir(dir) }}
	o := quiet(filepath.Join(dir, "list.json"))
	o.FS = r
	_, err := Open(t.Context(), listFormat, o)
	wantCode(t, err, shared.StorageIO)
	s := open(t, o) // All folders are there now.
	_, err = s.Update(t.Context(), add("one"))
	wantCode(t, err, shared.StorageIO)
	if _, err := os.Stat(o.Path); err == nil || words(s) != "" {
		t.Errorf("it was written: %q, %v", words(s), err)
	}
	r.mu.Lock()
	r.fail = nil
	r.mu.Unlock()
	mustAdd(t, s, "one")
	renamed := slices.IndexFunc(r.log, func(op operation) bool { return op.kind == "rename" })
	for _, parent := range []string{base, filepath.Dir(dir)} {
		synced := slices.IndexFunc(r.log, func(op operation) bool { return op.kind == "syncdir" && op.name == parent })
		if synced < 0 || synced > renamed {
			t.Errorf("%s was synced at %d, the file was there at %d", filepath.Base(parent), synced, renamed)
		}
	}
	at := len(r.log)
	mustAdd(t, s, "two")
	if slices.ContainsFunc(r.log[at:], func(op operation) bool { return op.kind == "syncdir" && op.name != dir }) {
		t.Error("every save syncs the folders above")
	}
}
