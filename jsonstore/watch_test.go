package jsonstore

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

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

// A constant stream of events does not put the look off for ever, and a pause
// ends it early.
func TestWatchLooksDuringAStorm(t *testing.T) {
	var h hints
	begun := time.Now()
	for at := time.Duration(0); ; at += watchPause / 2 {
		if at > watchCap {
			t.Fatal("it never looks")
		}
		wait := h.wait(begun.Add(at))
		if wait > watchPause || at+wait > watchCap {
			t.Errorf("an event at %v waits until %v", at, at+wait)
		}
		if wait < watchPause/2 {
			break // It looks before the next one comes.
		}
	}
	h.first = time.Time{}
	if wait := h.wait(begun.Add(time.Hour)); wait != watchPause {
		t.Errorf("the first one after a look waits for %v", wait)
	}
}

// A folder that was removed is watched again when there is one, also if it has
// the number of the old one.
func TestFolderMadeAnewIsWatched(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "folder")
	watcher, err := fsnotify.NewWatcher()
	must(t, err)
	defer func() { must(t, watcher.Close()) }()
	told := func(op fsnotify.Op, name string) {
		for event := range watcher.Events {
			if event.Has(op) && event.Name == name {
				return
			}
		}
	}
	for name, other := range map[string]string{"another number": t.TempDir(), "the same number": dir} {
		must(t, os.Mkdir(dir, 0o700))
		f := folderWatch{path: dir, watcher: watcher}
		f.add()
		must(t, os.Remove(dir))
		told(fsnotify.Remove, dir)
		must(t, os.Mkdir(dir, 0o700))
		f.seen, err = os.Stat(other)
		must(t, err)
		f.add()
		if got := watcher.WatchList(); !slices.Equal(got, []string{dir}) {
			t.Fatalf("%s: watched are %v", name, got)
		}
		must(t, os.WriteFile(filepath.Join(dir, "x"), nil, 0o600))
		told(fsnotify.Create, filepath.Join(dir, "x"))
		must(t, os.RemoveAll(dir))
		told(fsnotify.Remove, dir)
	}
}

// When the system lost events, whichever they were, the file is looked at.
func TestLostEventsAreMadeUpFor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "list.json")
	s, other := open(t, quiet(path)), open(t, quiet(path))
	s.poll = time.Hour
	lost := make(chan error)
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() { s.lookOut(ctx, &folderWatch{errors: lost}); close(over) }()
	mustAdd(t, other, "one")
	lost <- fsnotify.ErrEventOverflow
	eventually(t, "it looks", func() bool { return words(s) == "one" })
	cancel()
	<-over
}

// A folder that could not be watched, or is another one now, is watched from the
// next poll on.
func TestPollWatchesTheFolderAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "list.json")
	s := open(t, quiet(path))
	s.poll = time.Millisecond
	watcher, err := fsnotify.NewWatcher()
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan struct{})
	folder := folderWatch{path: filepath.Dir(path), watcher: watcher, events: watcher.Events, errors: watcher.Errors}
	go func() { s.lookOut(ctx, &folder); close(over) }()
	eventually(t, "the folder is watched", func() bool { return slices.Equal(watcher.WatchList(), []string{folder.path}) })
	cancel()
	<-over
	must(t, watcher.Close())
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
