package jsonstore

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Events of the folder are hints: they are gathered until they pause, but not
// for longer than the cap.
const (
	watchPause = 75 * time.Millisecond
	watchCap   = 500 * time.Millisecond
)

// watch refreshes the store when the folder says that the file changed, and
// every s.poll, since some file systems tell nothing. The folder is watched, not
// the file: a watched file goes silent with its first rename.
func (s *Store[D]) watch(ctx context.Context) {
	folder := folderWatch{path: s.disk.dir}
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		s.log.Warn("cannot watch the draft folder; looking at it now and then", "every", s.poll, "error", err)
	} else {
		defer func() { _ = watcher.Close() }() // Nothing depends on it any more.
		folder.watcher, folder.events, folder.errors = watcher, watcher.Events, watcher.Errors
		folder.add()
	}
	poll := time.NewTicker(s.poll)
	defer poll.Stop()
	pause := time.NewTimer(time.Hour)
	pause.Stop()
	var first time.Time // of the events gathered, zero when none are
	for {
		select {
		case <-ctx.Done():
			return
		case event := <-folder.events:
			if filepath.Base(event.Name) != filepath.Base(s.disk.path) {
				continue
			}
			if first.IsZero() {
				first = time.Now()
			}
			pause.Reset(max(0, min(watchPause, watchCap-time.Since(first))))
			continue
		case <-folder.errors: // Events were lost, whatever the error is.
		case <-pause.C:
		case <-poll.C:
			folder.add()
		}
		first = time.Time{}
		_ = s.Refresh(ctx) // State tells; the next round tries again.
	}
}

// folderWatch is the watch of a folder that may be replaced by another.
type folderWatch struct {
	path    string
	watcher *fsnotify.Watcher
	events  <-chan fsnotify.Event
	errors  <-chan error
	seen    fs.FileInfo
}

// add watches the folder of that name, if it is not the one watched.
func (f *folderWatch) add() {
	if f.watcher == nil {
		return
	}
	info, err := os.Stat(f.path)
	if err != nil {
		f.seen = nil
		return
	}
	if f.seen != nil && os.SameFile(f.seen, info) {
		return
	}
	if f.seen != nil {
		_ = f.watcher.Remove(f.path) // It is gone with the folder in most cases.
	}
	if f.watcher.Add(f.path) == nil {
		f.seen = info
	}
}
