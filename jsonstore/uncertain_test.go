package jsonstore

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// callIn is the number of a call among those of one update.
func callIn(t *testing.T, calls []string, want string) int {
	t.Helper()
	at := slices.Index(calls, want)
	if at < 0 {
		t.Fatalf("no %q in %v", want, calls)
	}
	return at + 1
}

// A sync of what another process wrote that fails once is not tried again: the
// system may have forgotten the data, so everything is written anew.
func TestSyncThatFailedIsNotRepeated(t *testing.T) {
	for _, call := range []string{"sync file", "open folder", "sync folder"} {
		path := filepath.Join(t.TempDir(), "list.json")
		mustAdd(t, open(t, quiet(path)), "one")
		satisfied := func() (*Store[*list], *faultFS) {
			fsys := &faultFS{}
			o := quiet(path)
			o.FS = fsys
			s := open(t, o)
			fsys.arm(0)
			return s, fsys
		}
		s, fsys := satisfied()
		mustAdd(t, s, "one")
		number := callIn(t, fsys.calls(), call)

		s, fsys = satisfied()
		fsys.arm(number)
		_, err := s.Update(t.Context(), add("one"))
		wantCode(t, err, shared.StorageUncertain)
		fsys.arm(0)
		mustAdd(t, s, "one")
		if calls := fsys.calls(); callIn(t, calls, "rename file") < callIn(t, calls, "sync temp") || !slices.Contains(calls, "sync folder") {
			t.Errorf("after a failed %s it is acknowledged after %v", call, calls)
		}
	}
}

// After a failed sync of the folder the snapshot follows the disk: the next
// update reads what is there before it changes anything.
func TestUncertainFileIsReadAgain(t *testing.T) {
	fsys := &faultFS{}
	o := quiet(filepath.Join(t.TempDir(), "list.json"))
	o.FS = fsys
	s := open(t, o)
	mustAdd(t, s, "one")
	fsys.arm(0)
	mustAdd(t, s, "two")
	fsys.arm(callIn(t, fsys.calls(), "sync folder"))
	_, err := s.Update(t.Context(), add("three"))
	wantCode(t, err, shared.StorageUncertain)
	fsys.arm(0)
	mustAdd(t, s, "four")
	calls := fsys.calls()
	if callIn(t, calls, "read file") > callIn(t, calls, "create temp") {
		t.Errorf("it wrote before it looked: %v", calls)
	}
}
