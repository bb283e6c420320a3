package jsonstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

func TestMissingFileIsEmptyUntilTheFirstUpdate(t *testing.T) {
	o := quiet(filepath.Join(t.TempDir(), "a", "b", "list.json"))
	s := open(t, o)
	if words(s) != "" || s.State() != (State{Path: s.State().Path}) {
		t.Errorf("%q in %+v", words(s), s.State())
	}
	if _, err := s.Update(t.Context(), func(*list) (*list, error) { return nil, ErrNoChange }); err != nil {
		t.Error(err)
	}
	if got := names(t, filepath.Dir(o.Path)); len(got) != 0 {
		t.Errorf("without an update there are %v", got)
	}
	mustAdd(t, s, "one")
	for path, mode := range map[string]os.FileMode{o.Path: 0o600, filepath.Dir(o.Path): 0o700, filepath.Dir(filepath.Dir(o.Path)): 0o700, o.Path + ".lock": 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	if s.State().Generation != 1 {
		t.Errorf("generation %d", s.State().Generation)
	}
}

func TestPrivateFolder(t *testing.T) {
	for _, private := range []bool{true, false} {
		dir := filepath.Join(t.TempDir(), "own")
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		o := quiet(filepath.Join(dir, "list.json"))
		o.PrivateFolder = private
		open(t, o)
		info, err := os.Stat(dir)
		if err != nil || (info.Mode().Perm() == 0o700) != private {
			t.Errorf("private %v: %v, %v", private, info.Mode(), err)
		}
	}
}

// Invariant 7: whatever is wrong with the file, it is served from the last good
// snapshot, never written, and used again when it is right.
func TestUnusableFileIsLeftAlone(t *testing.T) {
	for name, test := range map[string]struct {
		data string
		code shared.Code
	}{
		"empty":              {"", shared.StorageInvalid},
		"NUL":                {"\x00\x00\x00\x00", shared.StorageInvalid},
		"no JSON":            {"words", shared.StorageInvalid},
		"cut off":            {`{"version":2,"generation":1,"wor`, shared.StorageInvalid},
		"duplicate member":   {`{"version":2,"generation":1,"words":[],"words":["x"]}`, shared.StorageInvalid},
		"unknown member":     {`{"version":2,"generation":1,"words":[],"more":1}`, shared.StorageInvalid},
		"wrong case":         {`{"version":2,"generation":1,"Words":[]}`, shared.StorageInvalid},
		"trailing data":      {`{"version":2,"generation":1,"words":[]}{}`, shared.StorageInvalid},
		"invalid UTF-8":      {"{\"version\":2,\"generation\":1,\"words\":[\"\xff\"]}", shared.StorageInvalid},
		"no version":         {`{"generation":1,"words":[]}`, shared.StorageInvalid},
		"version 0":          {`{"version":0,"words":"x"}`, shared.StorageInvalid},
		"a text as version":  {`{"version":"2","words":[]}`, shared.StorageInvalid},
		"a bad version 1":    {`{"version":1,"words":"x","words":"y"}`, shared.StorageInvalid},
		"a later version":    {`{"version":3,"anything":{"else":1}}`, shared.StorageUnsupported},
		"a much later one":   {`{"version":99}`, shared.StorageUnsupported},
		"later and cut off":  {`{"version":3,"any`, shared.StorageUnsupported},
		"too large":          {`{"version":2,"generation":1,"words":["` + strings.Repeat("x", 4096) + `"]}`, shared.StorageInvalid},
		"valid but for NULs": {`{"version":2,"generation":1,"words":[]}` + "\x00", shared.StorageInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			o := quiet(filepath.Join(t.TempDir(), "list.json"))
			o.MaxBytes = 1024
			s := open(t, o)
			mustAdd(t, s, "one")
			write(t, o.Path, test.data)
			_, err := s.Update(t.Context(), add("two"))
			wantCode(t, err, test.code)
			wantCode(t, s.Refresh(t.Context()), test.code)
			if words(s) != "one" || s.State().Code != test.code || s.State().Message == "" {
				t.Errorf("%q in %+v", words(s), s.State())
			}

			late := open(t, o)
			_, err = late.Update(t.Context(), add("three"))
			wantCode(t, err, test.code)
			if words(late) != "" || late.State().Code != test.code {
				t.Errorf("opened with %q in %+v", words(late), late.State())
			}
			if got := read(t, o.Path); got != test.data {
				t.Errorf("the file became %q", got)
			}
			if got := names(t, filepath.Dir(o.Path)); !slices.Equal(got, []string{"list.json"}) {
				t.Errorf("left %v", got)
			}

			write(t, o.Path, `{"version":2,"generation":7,"words":["good"]}`)
			mustAdd(t, s, "four")
			if err := late.Refresh(t.Context()); err != nil {
				t.Error(err)
			}
			if words(s) != "good four" || words(late) != "good four" || late.State().Code != "" || s.State().Generation != 8 {
				t.Errorf("then %q and %q in %+v", words(s), words(late), s.State())
			}
		})
	}
}

// Invariant 7: nothing resets to empty by itself, also when someone removes the file.
func TestRemovedFileIsWrittenAgain(t *testing.T) {
	o := quiet(filepath.Join(t.TempDir(), "list.json"))
	s := open(t, o)
	mustAdd(t, s, "one")
	if err := os.RemoveAll(filepath.Dir(o.Path)); err != nil {
		t.Fatal(err)
	}
	if err := s.Refresh(t.Context()); err != nil {
		t.Error(err)
	}
	if words(s) != "one" || s.State().Code != "" || s.State().Message == "" {
		t.Errorf("%q in %+v", words(s), s.State())
	}
	mustAdd(t, s, "two")
	if s.State().Message != "" || !strings.Contains(read(t, o.Path), `["one","two"]`) {
		t.Errorf("%+v with %s", s.State(), read(t, o.Path))
	}
}

func TestChangeErrorsWriteNothing(t *testing.T) {
	o := quiet(filepath.Join(t.TempDir(), "list.json"))
	o.MaxBytes = 200
	s := open(t, o)
	mustAdd(t, s, "one")
	before := read(t, o.Path)
	own := errors.New("own")
	if _, err := s.Update(t.Context(), func(*list) (*list, error) { return nil, own }); !errors.Is(err, own) {
		t.Errorf("got %v", err)
	}
	_, err := s.Update(t.Context(), add(strings.Repeat("x", 200)))
	wantCode(t, err, shared.DraftLimitReached)
	if doc, err := s.Update(t.Context(), add("one")); err != nil || doc.Generation != 1 {
		t.Errorf("no change gave %+v, %v", doc, err)
	}
	if read(t, o.Path) != before || words(s) != "one" {
		t.Errorf("then %q and %s", words(s), read(t, o.Path))
	}
}

// Two stores on one file lose no update, and each sees the other's (invariant 14).
func TestTwoStoresLoseNoUpdate(t *testing.T) {
	const savers, each = 4, 20
	path := filepath.Join(t.TempDir(), "list.json")
	stores := []*Store[*list]{open(t, Options{Path: path, LockWait: time.Hour, Poll: -1}), open(t, Options{Path: path, LockWait: time.Hour}), open(t, quiet(path))}
	var wait sync.WaitGroup
	for saver := range savers {
		s := stores[saver%2]
		wait.Go(func() {
			for i := range each {
				if _, err := s.Update(t.Context(), add(fmt.Sprintf("%d-%d", saver, i))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	for i, s := range stores {
		if err := s.Refresh(t.Context()); err != nil {
			t.Error(err)
		}
		seen := map[string]bool{}
		for _, word := range s.Snapshot().Words {
			seen[word] = true
		}
		// Those that waited for each other share a commit.
		if g := s.Snapshot().Generation; len(seen) != savers*each || g > savers*each || g < savers*each/2 {
			t.Errorf("store %d has %d words at generation %d", i, len(seen), s.Snapshot().Generation)
		}
	}
}

// Subscribers hear each commit in order, when it is on disk and before its
// caller does.
func TestSubscribe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "list.json")
	s := open(t, quiet(path))
	var heard []string
	cancel := s.Subscribe(func(c Change[*list]) {
		data, err := os.ReadFile(path)
		if c.State.Code == "" && !strings.Contains(string(data), fmt.Sprintf(`"generation":%d`, c.After.Generation)) {
			t.Errorf("told of generation %d before it was on disk: %s, %v", c.After.Generation, data, err)
		}
		heard = append(heard, fmt.Sprintf("%d>%d%s", c.Before.Generation, c.After.Generation, c.State.Code))
	})
	for i := range 3 {
		mustAdd(t, s, fmt.Sprint(i))
		if len(heard) != i+1 {
			t.Fatalf("after %d updates heard %v", i+1, heard)
		}
	}
	other := open(t, quiet(path))
	mustAdd(t, other, "other")
	if err := s.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	write(t, path, "broken")
	wantCode(t, s.Refresh(t.Context()), shared.StorageInvalid)
	cancel()
	write(t, path, `{"version":2,"generation":9,"words":[]}`)
	if err := s.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if want := []string{"0>1", "1>2", "2>3", "3>4", "4>4DRAFT_STORAGE_INVALID"}; !slices.Equal(heard, want) {
		t.Errorf("heard %v, want %v", heard, want)
	}
}

func TestBusyLockNamesItsHolder(t *testing.T) {
	o := quiet(filepath.Join(t.TempDir(), "list.json"))
	o.LockWait = 30 * time.Millisecond
	s := open(t, o)
	mustAdd(t, s, "one")
	held := flock.New(o.Path + ".lock")
	if err := held.Lock(); err != nil {
		t.Fatal(err)
	}
	_, err := s.Update(t.Context(), add("two"))
	wantCode(t, err, shared.StorageBusy)
	if !strings.Contains(err.Error(), fmt.Sprintf("process %d", os.Getpid())) {
		t.Errorf("%v names nobody", err)
	}
	must(t, held.Unlock())
	s.lockWait = time.Hour // The committer rests.
	mustAdd(t, s, "two")
}

// A caller that goes while its change is written does not know; one that goes
// before it began knows that nothing happened.
func TestUpdateEndsWithItsContext(t *testing.T) {
	release := make(chan struct{})
	fsys := &faultFS{hold: map[string]chan struct{}{"sync folder": release}, held: make(chan string)}
	o := quiet(filepath.Join(t.TempDir(), "list.json"))
	write(t, o.Path, `{"version":2,"generation":1,"words":[]}`)
	o.FS, o.LockWait = fsys, time.Hour
	s := open(t, o)
	ctx, cancel := context.WithCancel(t.Context())
	unknown := make(chan error)
	go func() {
		_, err := s.Update(ctx, add("one"))
		unknown <- err
	}()
	<-fsys.held // It is being written.
	cancel()
	wantCode(t, <-unknown, shared.OperationUnknown)
	late, cancelLate := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancelLate()
	ran := false
	_, err := s.Update(late, func(*list) (*list, error) { ran = true; return nil, ErrNoChange })
	wantCode(t, err, shared.StorageBusy)
	if ran || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("ran %v, %v", ran, err)
	}
	fsys.mu.Lock()
	fsys.hold = nil
	fsys.mu.Unlock()
	close(release)
	mustAdd(t, s, "two")
	if words(s) != "one two" {
		t.Errorf("then %q", words(s))
	}

	held := flock.New(o.Path + ".lock")
	must(t, held.Lock())
	ctx, cancel = context.WithCancel(t.Context())
	gone := make(chan error)
	go func() {
		_, err := s.Update(ctx, func(*list) (*list, error) { ran = true; return nil, ErrNoChange })
		gone <- err
	}()
	eventually(t, "it waits for the lock", s.waiting.Load)
	cancel()
	err = <-gone
	wantCode(t, err, shared.StorageBusy)
	must(t, held.Unlock())
	mustAdd(t, s, "three")
	if ran || !strings.Contains(err.Error(), fmt.Sprintf("process %d", os.Getpid())) {
		t.Errorf("ran %v after its caller had gone, %v", ran, err)
	}
}

func TestClosedStoreRefuses(t *testing.T) {
	s := open(t, Options{Path: filepath.Join(t.TempDir(), "list.json")})
	mustAdd(t, s, "one")
	for range 2 {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	_, err := s.Update(t.Context(), add("two"))
	wantCode(t, err, shared.StorageIO)
	if words(s) != "one" {
		t.Errorf("%q is read after Close", words(s))
	}
}

func TestOpenSweepsStaleTemporaryFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{".list.json.0123.tmp", ".other.json.0123.tmp", "list.json.tmp"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	open(t, quiet(filepath.Join(dir, "list.json")))
	if got := names(t, dir); !slices.Equal(got, []string{".other.json.0123.tmp", "list.json.tmp"}) {
		t.Errorf("left %v", got)
	}
}

// A temporary file may be that of a saver at work: it is swept under the lock only.
func TestSweepKeepsWhatASaverWrites(t *testing.T) {
	o := quiet(filepath.Join(t.TempDir(), "list.json"))
	o.LockWait = time.Millisecond
	temp := filepath.Join(filepath.Dir(o.Path), ".list.json.0123.tmp")
	must(t, os.WriteFile(temp, []byte("half"), 0o600))
	saver := flock.New(o.Path + ".lock")
	must(t, saver.Lock())
	s := open(t, o)
	if read(t, temp) != "half" {
		t.Error("it was changed")
	}
	must(t, saver.Unlock())
	s.lock.waiting.Wait()
	open(t, o)
	if got := names(t, filepath.Dir(o.Path)); len(got) != 0 {
		t.Errorf("left %v", got)
	}
}

func TestSymbolicLinkIsFollowedOnce(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "real", "list.json")
	write(t, target, `{"version":2,"generation":1,"words":["one"]}`)
	link := filepath.Join(dir, "link.json")
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	s := open(t, quiet(link))
	mustAdd(t, s, "two")
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link became %v, %v", info, err)
	}
	if !strings.Contains(read(t, target), `["one","two"]`) || s.State().Path != target {
		t.Errorf("%s in %+v", read(t, target), s.State())
	}
}

func TestFolderThatCannotBeMade(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "")
	_, err := Open(t.Context(), listFormat, quiet(filepath.Join(file, "list.json")))
	wantCode(t, err, shared.StorageIO)
}
