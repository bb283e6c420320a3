package jsonstore

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// What another process writes is seen without asking (invariant 14).
func TestWatchSeesOtherWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "list.json")
	s := open(t, Options{Path: path, Poll: time.Hour})
	other := open(t, quiet(path))
	for _, word := range []string{"one", "two", "three"} {
		mustAdd(t, other, word)
		eventually(t, "the watcher sees "+word, func() bool { return s.Snapshot() != nil && words(s) == words(other) })
	}
	write(t, path, "broken")
	eventually(t, "the watcher sees the broken file", func() bool { return s.State().Code == shared.StorageInvalid })
	write(t, path, `{"version":2,"generation":9,"words":["good"]}`)
	eventually(t, "the store recovers by itself", func() bool { return s.State().Code == "" && words(s) == "good" })
}

// A constant stream of events does not put the look off for ever.
func TestWatchLooksDuringAStorm(t *testing.T) {
	path := filepath.Join(t.TempDir(), "list.json")
	s := open(t, Options{Path: path, Poll: time.Hour})
	other := open(t, quiet(path))
	start := time.Now()
	for i := 0; words(s) == ""; i++ {
		mustAdd(t, other, time.Now().String())
		time.Sleep(10 * time.Millisecond)
		if time.Since(start) > 10*time.Second {
			t.Fatal("never looked")
		}
	}
}

// The poll finds what the watch cannot, and a folder put in the place of the
// watched one is watched.
func TestPollFindsAReplacedFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "folder")
	path := filepath.Join(dir, "list.json")
	s := open(t, Options{Path: path, Poll: 50 * time.Millisecond})
	mustAdd(t, s, "one")
	if err := os.Rename(dir, dir+".old"); err != nil {
		t.Fatal(err)
	}
	write(t, path, `{"version":2,"generation":5,"words":["two"]}`)
	eventually(t, "the poll sees the new folder", func() bool { return words(s) == "two" })
	write(t, path, `{"version":2,"generation":6,"words":["three"]}`)
	eventually(t, "the new folder is looked at", func() bool { return words(s) == "three" })
}
