package sessions_test

import (
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/draft-sessions/dsh-draft-sessions/jsonstore"
	"github.com/draft-sessions/dsh-draft-sessions/plugin/composer"
	"github.com/draft-sessions/dsh-draft-sessions/plugin/sessions"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// Invariant 9: however often a send is asked about and however long the host
// fails, one goroutine follows it, without haste, and the host's recovery is seen.
func TestOneFollowerForASession(t *testing.T) {
	w := newWorld(t)
	rec := w.newDraft("task")
	w.send(rec, "p1", "task")
	var reads atomic.Int64
	w.host.mu.Lock()
	w.host.before = func(method string) error {
		if method == "ReadSession" {
			reads.Add(1)
			return shared.Errorf(shared.SessionUnavailable, "no")
		}
		return nil
	}
	w.host.mu.Unlock()
	before := runtime.NumGoroutine()
	const asked = 200
	for range asked {
		w.manager.AfterPrompt(w.ctx(), *rec.SessionID, "p1", true)
		w.manager.UserMessage(*rec.SessionID)
	}
	if more := runtime.NumGoroutine() - before; more > asked/4 {
		t.Errorf("%d goroutines more", more)
	}
	w.eventually("it is tried again", func() bool { return reads.Load() >= 3 })
	// Each time it is asked wakes the follower at most once; the rest are its own looks.
	if n := reads.Load(); n > 2*asked+10 {
		t.Errorf("%d looks", n)
	}
	w.host.say(*rec.SessionID, "p1")
	w.host.mu.Lock()
	w.host.before = nil
	w.host.mu.Unlock()
	w.manager.UserMessage(*rec.SessionID)
	w.eventually("the draft is converted", func() bool { return w.gone(rec.ID) })
}

// A send that begins while the follower of the one before ends has one, too.
func TestEverySendIsFollowed(t *testing.T) {
	w := newWorld(t)
	rec := w.newDraft("task")
	session := *rec.SessionID
	w.send(rec, "p0", "task")
	w.manager.AfterPrompt(w.ctx(), session, "p0", true)
	for range 50 {
		w.late.Add(int64(time.Minute)) // the one before is given up
		if a := w.send(rec, "again", "task"); a.Refuse {
			t.Fatalf("%+v", a)
		}
		w.manager.AfterPrompt(w.ctx(), session, "again", true)
	}
	w.host.say(session, "again")
	w.eventually("the last one is converted", func() bool { return w.gone(rec.ID) })
}

// A conversion of which it is not certain that a power cut cannot undo it is one:
// the editors go on with the text that was kept, and the page is told.
func TestUncertainConversionIsOne(t *testing.T) {
	w := newWorld(t)
	w.end()
	folder := &folderFS{}
	w.fs = folder
	w.start()
	rec := w.newDraft("task")
	opened, err := w.editors.Open(w.ctx(), composer.Opening{DraftID: rec.ID, EditorID: "e"})
	if err != nil {
		t.Fatal(err)
	}
	edit := func(seq int64, text string) {
		t.Helper()
		if _, err := w.editors.Edit(composer.Input{DraftID: rec.ID, EditorID: "e", Epoch: "epoch", Generation: opened.Generation, Seq: seq, Text: text}); err != nil {
			t.Fatal(err)
		}
		if err := w.editors.Flush(w.ctx(), ""); err != nil {
			t.Fatal(err)
		}
	}
	w.send(rec, "p1", "task")
	edit(1, "the next task")
	w.host.say(*rec.SessionID, "p1")
	folder.fails.Store(true)
	tally, err := w.manager.Reconcile(w.ctx(), "")
	folder.fails.Store(false)
	if err != nil || tally.Converted != 1 || !w.gone(rec.ID) {
		t.Fatalf("%+v, %v", tally, err)
	}
	if !w.sawNotice(sessions.NoticeConflictKept) {
		t.Error("nobody was told of the text that was kept")
	}
	edit(2, "the next task goes on")
	if all := w.store.Snapshot().Drafts; len(all) != 1 || all[0].Text != "the next task goes on" {
		t.Errorf("the drafts are %+v", all)
	}
}

// folderFS is a file system whose folders cannot be synced while fails is set.
type folderFS struct {
	jsonstore.OS
	fails atomic.Bool
}

func (f *folderFS) Open(name string) (jsonstore.File, error) {
	file, err := f.OS.Open(name)
	if err != nil {
		return nil, err
	}
	if info, err := file.Stat(); err != nil || !info.IsDir() {
		return file, err
	}
	return &folder{File: file, fs: f}, nil
}

type folder struct {
	jsonstore.File
	fs *folderFS
}

func (f *folder) Sync() error {
	if f.fs.fails.Load() {
		return errors.New("the folder could not be synced")
	}
	return f.File.Sync()
}
