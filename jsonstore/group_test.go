package jsonstore

import (
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// slowFS counts saves, each of which takes a while in the time of a bubble.
type slowFS struct {
	OS
	each  time.Duration
	saves int // The committer's; read when it rests.
}

func (s *slowFS) Rename(from, to string) error {
	time.Sleep(s.each)
	s.saves++
	return s.OS.Rename(from, to)
}

// Updates that come while a commit runs go into the next one, all of them.
func TestUpdatesDuringACommitShareTheNext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "list.json")
	synctest.Test(t, func(t *testing.T) {
		fsys := &slowFS{each: 30 * time.Millisecond}
		o := quiet(path)
		o.FS = fsys
		s := open(t, o)
		var wait sync.WaitGroup
		for i := range 5 {
			wait.Go(func() {
				time.Sleep(time.Duration(i) * time.Millisecond) // The first is alone, the others come while it is written.
				mustAdd(t, s, fmt.Sprint(i))
			})
		}
		wait.Wait()
		got := slices.Sorted(slices.Values(s.Snapshot().Words))
		if fsys.saves != 2 || !slices.Equal(got, []string{"0", "1", "2", "3", "4"}) {
			t.Errorf("%d saves for %v", fsys.saves, got)
		}
	})
}

// Savers that come again as soon as they are answered are waited for, but not for
// long, not when all are there, and not when there was only one.
func TestWhoComesAgainIsWaitedFor(t *testing.T) {
	const lastCommit = 30 * time.Millisecond
	for name, test := range map[string]struct {
		lastBatch, come int
		saves           int
		took            time.Duration
	}{
		"one was alone":      {1, 1, 1, 0},
		"both come again":    {2, 2, 1, time.Millisecond},
		"one stays away":     {2, 1, 1, lastCommit / gatherShare},
		"one comes alone":    {1, 2, 2, time.Millisecond},
		"two of many come":   {9, 2, 1, lastCommit / gatherShare},
		"more than expected": {2, 3, 2, 2 * time.Millisecond},
	} {
		path := filepath.Join(t.TempDir(), "list.json")
		synctest.Test(t, func(t *testing.T) {
			fsys := &slowFS{}
			o := quiet(path)
			o.FS = fsys
			s := open(t, o)
			s.lastBatch, s.lastCommit = test.lastBatch, lastCommit
			begun := time.Now()
			var wait sync.WaitGroup
			for i := range test.come {
				wait.Go(func() {
					time.Sleep(time.Duration(i) * time.Millisecond)
					mustAdd(t, s, fmt.Sprint(i))
				})
			}
			wait.Wait()
			if took := time.Since(begun); fsys.saves != test.saves || took != test.took {
				t.Errorf("%s: %d saves in %v, want %d in %v", name, fsys.saves, took, test.saves, test.took)
			}
		})
	}
}
