package jsonstore

import (
	"path/filepath"
	"slices"
	"testing"
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
