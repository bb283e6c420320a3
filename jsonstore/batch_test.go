package jsonstore

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// together has updates wait for the lock, in this order, and lets them in at
// once; it returns their errors in order.
func together(t *testing.T, s *Store[*list], changes ...func(*list) (*list, error)) []error {
	t.Helper()
	held := flock.New(s.State().Path + ".lock")
	must(t, held.Lock())
	requests := make([]*request[*list], len(changes))
	for i, change := range changes {
		requests[i] = newRequest(t.Context(), change)
		s.queue <- requests[i] // Until the committer has taken it: the order is known.
	}
	must(t, held.Unlock())
	errs := make([]error, len(changes))
	for i, r := range requests {
		errs[i] = (<-r.done).err
	}
	return errs
}

func refuse(err error) func(*list) (*list, error) {
	return func(*list) (*list, error) { return nil, err }
}

// Updates that wait go into one commit, each with its own result: what one is
// refused for is none of the others' business.
func TestUpdatesThatWaitShareACommit(t *testing.T) {
	fsys := &faultFS{}
	o := quiet(filepath.Join(t.TempDir(), "list.json"))
	o.FS, o.MaxBytes = fsys, 200
	s := open(t, o)
	mustAdd(t, s, "one")
	fsys.arm(0)
	heard := 0
	s.Subscribe(func(Change[*list]) { heard++ })
	own := errors.New("own")
	errs := together(t, s, add("two"), refuse(own), add(strings.Repeat("x", 300)), add("two"), add("three"))
	if errs[0] != nil || !errors.Is(errs[1], own) || shared.CodeOf(errs[2]) != shared.DraftLimitReached || errs[3] != nil || errs[4] != nil {
		t.Errorf("answered %v", errs)
	}
	renames := 0
	for _, call := range fsys.calls() {
		if call == "rename file" {
			renames++
		}
	}
	if words(s) != "one two three" || renames != 1 || heard != 1 || s.State().Generation != 2 {
		t.Errorf("%q with %d renames, heard %d, at %d", words(s), renames, heard, s.State().Generation)
	}
}

// A batch in which every update is refused or has nothing to change writes nothing.
func TestBatchWithoutAChangeDoesNotWrite(t *testing.T) {
	fsys := &faultFS{}
	o := quiet(filepath.Join(t.TempDir(), "list.json"))
	o.FS = fsys
	s := open(t, o)
	mustAdd(t, s, "one")
	fsys.arm(0)
	own := errors.New("own")
	errs := together(t, s, add("one"), refuse(own), refuse(ErrNoChange))
	if errs[0] != nil || !errors.Is(errs[1], own) || errs[2] != nil {
		t.Errorf("answered %v", errs)
	}
	if calls := fsys.calls(); slices.Contains(calls, "create temp") {
		t.Errorf("it wrote: %v", calls)
	}
}

// When a commit fails, an update that was refused or satisfied because of a
// change in it is told of the failure: what it saw never came to be.
func TestFailedBatchMisleadsNobody(t *testing.T) {
	fsys := &faultFS{fail: syscall.ENOSPC}
	o := quiet(filepath.Join(t.TempDir(), "list.json"))
	o.FS = fsys
	s := open(t, o)
	mustAdd(t, s, "one")
	fsys.arm(4) // "create temp", see TestSaveOrder
	early, late := errors.New("early"), errors.New("late")
	seesTwo := func(l *list) (*list, error) {
		if slices.Contains(l.Words, "two") {
			return nil, late
		}
		return nil, ErrNoChange
	}
	errs := together(t, s, refuse(early), add("two"), seesTwo, add("two"))
	if !errors.Is(errs[0], early) {
		t.Errorf("the first was refused on its own, not with %v", errs[0])
	}
	for _, err := range errs[1:] {
		if !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("answered %v", errs)
		}
	}
	if words(s) != "one" {
		t.Errorf("%q", words(s))
	}
}

// A caller that stops waiting while others go on is left out of the commit.
func TestBatchLeavesOutWhoHasGone(t *testing.T) {
	o := quiet(filepath.Join(t.TempDir(), "list.json"))
	o.LockWait = time.Hour
	s := open(t, o)
	mustAdd(t, s, "one")
	held := flock.New(o.Path + ".lock")
	must(t, held.Lock())
	ctx, cancel := context.WithCancel(t.Context())
	goes, stays := newRequest(ctx, add("gone")), newRequest(t.Context(), add("stays"))
	gone := make(chan error)
	go func() {
		_, err := s.submit(goes)
		gone <- err
	}()
	eventually(t, "the committer waits for the lock with it", s.waiting.Load)
	s.queue <- stays
	cancel()
	wantCode(t, <-gone, shared.StorageBusy)
	must(t, held.Unlock())
	must(t, (<-stays.done).err)
	if words(s) != "one stays" {
		t.Errorf("%q", words(s))
	}
}

// Readers are served while the committer waits for the lock, and a store that is
// closed then does not wait for its holder.
func TestWaitingForTheLockBlocksNobodyElse(t *testing.T) {
	o := quiet(filepath.Join(t.TempDir(), "list.json"))
	o.LockWait = time.Hour
	s := open(t, o)
	mustAdd(t, s, "one")
	held := flock.New(o.Path + ".lock")
	must(t, held.Lock())
	defer func() {
		must(t, held.Unlock())
		s.lock.waiting.Wait() // What stayed behind ends when the lock is free.
	}()
	waits := newRequest(t.Context(), add("two"))
	s.queue <- waits
	write(t, o.Path, `{"version":2,"generation":9,"words":["other"]}`)
	if err := s.Refresh(t.Context()); err != nil || words(s) != "other" {
		t.Errorf("%v with %q", err, words(s))
	}
	// It would wait for ever.
	must(t, s.Close())
	wantCode(t, (<-waits.done).err, shared.StorageIO)
}

// Whoever releases the lock and asks again stands behind the one who waits for
// it, however quick it is.
func TestLockGoesRound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "list.json")
	first, second := newTurnstile(path), newTurnstile(path)
	for range 20 {
		held, ok := first.try()
		if !ok {
			t.Fatal("a free lock was not taken")
		}
		waits := second.ask()
		eventually(t, "the second one to stand in the queue", func() bool {
			queue := flock.New(second.queuePath())
			free, err := queue.TryLock()
			must(t, errors.Join(err, queue.Unlock()))
			return !free
		})
		held.release()
		if _, ok := first.try(); ok {
			t.Fatal("the first one overtook who waited")
		}
		again := first.ask()
		got := <-waits
		second.received()
		must(t, got.err)
		select {
		case <-again:
			t.Fatal("both hold the lock")
		default:
		}
		got.release()
		last := <-again
		first.received()
		must(t, last.err)
		last.release()
	}
}
