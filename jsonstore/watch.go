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
	s.lookOut(ctx, &folder)
}

// lookOut is the loop of watch; without a watcher it only polls.
func (s *Store[D]) lookOut(ctx context.Context, folder *folderWatch) {
	poll := time.NewTicker(s.poll)
	defer poll.Stop()
	pause := time.NewTimer(time.Hour)
	pause.Stop()
	var hints hints
	for {
		select {
		case <-ctx.Done():
			return
		case event := <-folder.events:
			if filepath.Base(event.Name) != filepath.Base(s.disk.path) {
				continue
			}
			pause.Reset(hints.wait(time.Now()))
			continue
		case <-folder.errors: // Events were lost, whatever the error is.
		case <-pause.C:
		case <-poll.C:
			folder.add()
		}
		hints.first = time.Time{}
		_ = s.Refresh(ctx) // State tells; the next round tries again.
	}
}

// hints are the events that are gathered.
type hints struct{ first time.Time } // zero when there are none

// wait is how long to wait for more after one that came now.
func (h *hints) wait(now time.Time) time.Duration {
	if h.first.IsZero() {
		h.first = now
	}
	return max(0, min(watchPause, watchCap-now.Sub(h.first)))
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
	// A folder made anew may have the number of the removed one, whose watch ended.
	if f.seen != nil && os.SameFile(f.seen, info) && len(f.watcher.WatchList()) > 0 {
		return
	}
	if f.seen != nil {
		_ = f.watcher.Remove(f.path) // It is gone with the folder in most cases.
	}
	if f.watcher.Add(f.path) == nil {
		f.seen = info
	}
}
