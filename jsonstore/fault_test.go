package jsonstore

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// Invariant 1: the order of one save on disk.
func TestSaveOrder(t *testing.T) {
	fsys := &faultFS{}
	o := quiet(filepath.Join(t.TempDir(), "list.json"))
	o.FS = fsys
	s := open(t, o)
	mustAdd(t, s, "one")
	fsys.arm(0)
	mustAdd(t, s, "two")
	want := []string{"stat folder", "stat file", "pread temp", "create temp", "write temp", "sync temp", "fstat temp", "rename file",
		"open folder", "sync folder", "close folder"}
	// The replaced file is closed after the answer, whenever that is.
	got := slices.DeleteFunc(fsys.calls(), func(call string) bool { return call == "close temp" })
	if !slices.Equal(got, want) {
		t.Errorf("a save is\n%v, want\n%v", got, want)
	}
}

// faults are what a file system may answer.
var faults = []error{syscall.EIO, syscall.ENOSPC, syscall.EROFS, syscall.EACCES, syscall.EINTR, errShort}

// Invariant 1: a fault before the rename leaves the old bytes and no temporary
// file; after it the new file is whole, the answer is UNCERTAIN and the snapshot
// follows the disk. Either way repeating the change succeeds.
func TestFaultAtEveryCallOfASave(t *testing.T) {
	for _, fault := range faults {
		t.Run(fault.Error(), func(t *testing.T) {
			outcomes := map[shared.Code]int{}
			for n := 1; ; n++ {
				code, more := faultyDuringSave(t, n, fault)
				if !more {
					break
				}
				outcomes[code]++
			}
			if fault == errShort {
				if outcomes[shared.StorageIO] < 1 {
					t.Errorf("outcomes %v", outcomes)
				}
			} else if outcomes[shared.StorageIO] < 6 || outcomes[shared.StorageUncertain] != 2 {
				t.Errorf("outcomes %v", outcomes)
			}
		})
	}
}

// faultyDuringSave makes the n-th call of one save fail, checks what is left and
// that the next save works. It is false when a save has no n-th call.
func faultyDuringSave(t *testing.T, n int, fault error) (code shared.Code, more bool) {
	fsys := &faultFS{fail: fault}
	dir := t.TempDir()
	o := quiet(filepath.Join(dir, "list.json"))
	o.FS = fsys
	s := open(t, o)
	mustAdd(t, s, "one")
	before := read(t, o.Path)

	fsys.arm(n)
	doc, err := s.Update(t.Context(), add("two"))
	calls := fsys.calls()
	fsys.arm(0)
	if len(calls) < n {
		return "", false
	}
	at, code := calls[n-1], shared.CodeOf(err)
	renamed := slices.Contains(calls[:n-1], "rename file")
	switch {
	case at == "pread temp", renamed && strings.HasPrefix(at, "close"):
		// A look that fails is followed by reading; nothing depends on these closes.
		if code != "" {
			t.Errorf("%s: %v", at, err)
		}
	case renamed:
		if code != shared.StorageUncertain || doc == nil || words(s) != "one two" {
			t.Errorf("%s: %v with snapshot %q", at, err, words(s))
		}
	case fault == errShort && at != "write temp":
		return "", true // Only a write is short.
	default:
		if code != shared.StorageIO || read(t, o.Path) != before || words(s) != "one" {
			t.Errorf("%s: %v with snapshot %q and file %s", at, err, words(s), read(t, o.Path))
		}
		if fault != errShort && !errors.Is(err, fault) {
			t.Errorf("%s: the cause is lost in %v", at, err)
		}
	}
	if got := names(t, dir); !slices.Equal(got, []string{"list.json"}) {
		t.Errorf("%s: left %v", at, got)
	}
	if _, err := s.Update(t.Context(), add("two")); err != nil {
		t.Errorf("%s: the retry: %v", at, err)
	}
	if words(s) != "one two" || s.State().Code != "" || !strings.Contains(read(t, o.Path), `["one","two"]`) {
		t.Errorf("%s: after the retry %q, %+v, %s", at, words(s), s.State(), read(t, o.Path))
	}
	return code, true
}

// A failed sync is never reported as success later: a retry that finds its
// change in the file is acknowledged only after everything was written and synced
// again, and stays uncertain while that fails. A change of another store is
// acknowledged only after a sync too.
func TestUncertainStaysUncertainUntilWrittenAgain(t *testing.T) {
	for n := 1; ; n++ {
		fsys := &faultFS{}
		o := quiet(filepath.Join(t.TempDir(), "list.json"))
		o.FS = fsys
		s := open(t, o)
		mustAdd(t, s, "one")
		fsys.arm(10) // "sync folder", see TestSaveOrder
		_, err := s.Update(t.Context(), add("two"))
		wantCode(t, err, shared.StorageUncertain)

		fsys.arm(n)
		doc, err := s.Update(t.Context(), add("two"))
		calls := fsys.calls()
		if len(calls) < n {
			synced := slices.Index(calls, "sync temp")
			if err != nil || synced < 0 || slices.Index(calls, "rename file") < synced || !slices.Contains(calls, "sync folder") {
				t.Errorf("%v after %v", err, calls)
			}
			break
		}
		if slices.Contains(calls[:n-1], "create temp") && !strings.HasPrefix(calls[n-1], "close") || calls[n-1] == "create temp" {
			wantCode(t, err, shared.StorageUncertain)
			if doc == nil || words(s) != "one two" {
				t.Errorf("%s: %q", calls[n-1], words(s))
			}
		}

		fsys.arm(0)
		other := open(t, o)
		fsys.arm(0)
		if _, err := other.Update(t.Context(), add("two")); err != nil || !slices.Contains(fsys.calls(), "sync folder") {
			t.Errorf("another store acknowledges with %v after %v", err, fsys.calls())
		}
		mustAdd(t, s, "two")
	}
}

// The migration is crash-safe: a fault at any call leaves the old file, byte for
// byte, in its place or in the backup, and repeating the change finishes it.
func TestFaultAtEveryCallOfAMigration(t *testing.T) {
	const old = `{"version":1,  "words":"one"}`
	for n := 1; ; n++ {
		fsys := &faultFS{}
		dir := t.TempDir()
		o := quiet(filepath.Join(dir, "list.json"))
		o.FS = fsys
		write(t, o.Path, old)
		s := open(t, o)
		fsys.arm(n)
		_, err := s.Update(t.Context(), add("two"))
		calls := fsys.calls()
		fsys.arm(0)
		if len(calls) < n {
			break
		}
		at := calls[n-1]
		if read(t, o.Path) == old {
			wantCode(t, err, shared.StorageIO)
		} else if backup := read(t, filepath.Join(dir, "list.v1.json")); backup != old {
			t.Errorf("%s: the backup is %s", at, backup)
		}
		if _, err := s.Update(t.Context(), add("two")); err != nil {
			t.Errorf("%s: the retry: %v", at, err)
		}
		if got := names(t, dir); !slices.Equal(got, []string{"list.json", "list.v1.json"}) {
			t.Errorf("%s: left %v", at, got)
		}
		if read(t, filepath.Join(dir, "list.v1.json")) != old || words(s) != "one two" {
			t.Errorf("%s: ended with %q", at, words(s))
		}
	}
}

// A file that cannot be read for a moment is served from the snapshot and used
// again when it can be.
func TestFaultAtEveryCallOfAReRead(t *testing.T) {
	for n := 1; ; n++ {
		fsys := &faultFS{}
		o := quiet(filepath.Join(t.TempDir(), "list.json"))
		o.FS = fsys
		s := open(t, o)
		mustAdd(t, s, "one")
		write(t, o.Path, `{"version":2,"generation":5,"words":["other"]}`)
		fsys.arm(n)
		err := s.Refresh(t.Context())
		calls := fsys.calls()
		fsys.arm(0)
		if len(calls) < n {
			break
		}
		if at := calls[n-1]; !strings.HasPrefix(at, "close") {
			if shared.CodeOf(err) != shared.StorageIO || words(s) != "one" || s.State().Code != shared.StorageIO {
				t.Errorf("%s: %v with %q in %+v", at, err, words(s), s.State())
			}
		}
		if err := s.Refresh(t.Context()); err != nil || words(s) != "other" || s.State().Code != "" {
			t.Errorf("%s: then %v with %q in %+v", calls[n-1], err, words(s), s.State())
		}
	}
}
