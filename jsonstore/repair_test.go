package jsonstore

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// withBackups is a file of which three generations are kept, an hour apart.
func withBackups(t *testing.T) (Options, *clock) {
	t.Helper()
	c := newClock()
	o := quiet(filepath.Join(t.TempDir(), "list.json"))
	o.Backups, o.Now = true, c.now
	s := open(t, o)
	for _, word := range []string{"one", "two", "three"} {
		mustAdd(t, s, word)
		idle(t, s)
		c.advance(keepEvery)
	}
	mustAdd(t, s, "four")
	idle(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return o, c
}

func TestRepair(t *testing.T) {
	const bad = `{"version":2,"generation":70,"words":["five"`
	for name, spoil := range map[string]func(t *testing.T, path string){
		"malformed": func(t *testing.T, path string) { write(t, path, bad) },
		"gone":      func(t *testing.T, path string) { must(t, os.Remove(path)) },
		"empty":     func(t *testing.T, path string) { write(t, path, "") },
	} {
		t.Run(name, func(t *testing.T) {
			o, _ := withBackups(t)
			spoil(t, o.Path)
			was, readErr := os.ReadFile(o.Path)
			running := open(t, o)
			// The newest one is damaged too.
			backups := kept(t, o.Path)
			newest := filepath.Join(filepath.Dir(o.Path), BackupFolder, backups[len(backups)-1])
			must(t, os.WriteFile(newest, []byte("\x00\x00"), 0o600))

			done, err := Repair(t.Context(), listFormat, o, FromBest)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasSuffix(done.Restored, backups[len(backups)-2]) {
				t.Errorf("restored %s of %v", done.Restored, backups)
			}
			if readErr == nil && (done.SetAside == "" || read(t, done.SetAside) != string(was)) || readErr != nil && done.SetAside != "" {
				t.Errorf("kept %q", done.SetAside)
			}
			if name == "malformed" && done.Generation != 71 {
				t.Errorf("generation %d is not later than the malformed file's", done.Generation)
			}
			if err := running.Refresh(t.Context()); err != nil || words(running) != "one two three" || running.State().Generation != done.Generation {
				t.Errorf("%v, running stores have %q at %d", err, words(running), running.State().Generation)
			}
			mustAdd(t, running, "more")

			_, err = Repair(t.Context(), listFormat, o, FromBest)
			wantCode(t, err, shared.DraftInvalidInput)
			if words(open(t, o)) != "one two three more" {
				t.Error("a good file was touched")
			}
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Repair leaves alone what it cannot better.
func TestRepairRefuses(t *testing.T) {
	o, _ := withBackups(t)
	check := func(name string, code shared.Code) {
		t.Helper()
		before := names(t, filepath.Dir(o.Path))
		data := read(t, o.Path)
		_, err := Repair(t.Context(), listFormat, o, FromBest)
		if shared.CodeOf(err) != code {
			t.Errorf("%s: %v", name, err)
		}
		if read(t, o.Path) != data || !slices.Equal(names(t, filepath.Dir(o.Path)), before) {
			t.Errorf("%s: something was changed", name)
		}
	}
	check("a good file", shared.DraftInvalidInput)
	write(t, o.Path, `{"version":3}`)
	check("a later version", shared.StorageUnsupported)
	write(t, o.Path, "broken")
	held := flock.New(o.Path + ".lock")
	must(t, held.Lock())
	o.LockWait = 20 * time.Millisecond
	check("a held lock", shared.StorageBusy)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Repair(ctx, listFormat, o, FromBest)
	wantCode(t, err, shared.StorageBusy)
	must(t, held.Unlock())
	o.LockWait = time.Hour // Those that gave up still pass the lock on.
	must(t, os.RemoveAll(filepath.Join(filepath.Dir(o.Path), BackupFolder)))
	check("no backups", shared.StorageInvalid)
}

// A fault at any call of a repair leaves the malformed file in its place, or the
// restored one with the malformed one beside it; repeating it works.
func TestFaultAtEveryCallOfARepair(t *testing.T) {
	for n := 1; ; n++ {
		o, _ := withBackups(t)
		write(t, o.Path, "broken")
		fsys := &faultFS{}
		o.FS = fsys
		fsys.arm(n)
		_, err := Repair(t.Context(), listFormat, o, FromBest)
		calls := fsys.calls()
		fsys.arm(0)
		if len(calls) < n {
			if err != nil {
				t.Error(err)
			}
			break
		}
		at := calls[n-1]
		if err != nil && shared.CodeOf(err) != shared.StorageUncertain && read(t, o.Path) != "broken" {
			t.Errorf("%s: %v, and the file is %s", at, err, read(t, o.Path))
		}
		if read(t, o.Path) == "broken" {
			if err == nil {
				t.Errorf("%s: nothing was done", at)
			}
			if _, err := Repair(t.Context(), listFormat, o, FromBest); err != nil {
				t.Errorf("%s: then %v", at, err)
			}
		}
		aside := ""
		for _, name := range names(t, filepath.Dir(o.Path)) {
			if strings.HasPrefix(name, "list.bad-") {
				aside = read(t, filepath.Join(filepath.Dir(o.Path), name))
			}
			if strings.HasSuffix(name, tempSuffix) {
				t.Errorf("%s: left %s", at, name)
			}
		}
		if s := open(t, o); aside != "broken" || !strings.HasPrefix(words(s), "one two three") {
			t.Errorf("%s: %q with %q beside it", at, words(s), aside)
		}
	}
}

// A look tells everything and touches nothing.
func TestInspect(t *testing.T) {
	o, _ := withBackups(t)
	dir := filepath.Dir(o.Path)
	write(t, filepath.Join(dir, "list.v1.json"), "old")
	write(t, filepath.Join(dir, "list.bad-20260101T000000Z.json"), "bad")
	write(t, filepath.Join(dir, ".list.json.0123.tmp"), "half")
	backups := kept(t, o.Path)
	must(t, os.WriteFile(filepath.Join(dir, BackupFolder, backups[0]), []byte("x"), 0o600))
	before := names(t, dir)

	r, doc, err := Inspect(listFormat, o)
	if err != nil {
		t.Fatal(err)
	}
	if r.Code != "" || r.Missing || r.Version != 2 || r.Generation != 4 || r.Mode != "-rw-------" || r.Size == 0 || len(doc.Words) != 4 {
		t.Errorf("a good file is %+v", r)
	}
	if len(r.OldVersions) != 1 || len(r.SetAside) != 1 || len(r.Temporary) != 1 || r.Lock != nil || r.Watch != "" {
		t.Errorf("beside it there are %+v", r)
	}
	if n := len(r.Backups); n != len(backups) || r.Backups[0].Code != "" || r.Backups[n-1].Code != shared.StorageInvalid || r.Backups[0].Generation != 4 {
		t.Errorf("backups %+v", r.Backups)
	}
	if data, err := json.Marshal(r); err != nil || strings.Contains(string(data), "three") {
		t.Errorf("as JSON %s, %v", data, err)
	}

	held := newTurnstile(o.Path)
	h := <-held.ask()
	held.received()
	if r, _, _ = Inspect(listFormat, o); r.Lock == nil || r.Lock.PID != os.Getpid() {
		t.Errorf("the lock is held by %v", r.Lock)
	}
	h.release()
	for data, code := range map[string]shared.Code{"broken": shared.StorageInvalid, `{"version":9,"generation":3}`: shared.StorageUnsupported} {
		write(t, o.Path, data)
		if r, _, err = Inspect(listFormat, o); err != nil || r.Code != code || r.Message == "" {
			t.Errorf("%s is %+v, %v", data, r, err)
		}
	}
	write(t, o.Path, version1)
	if r, _, _ = Inspect(listFormat, o); r.Version != 1 || r.Note != "words split" || r.Code != "" {
		t.Errorf("an old version is %+v", r)
	}
	must(t, os.Remove(o.Path))
	if r, _, _ = Inspect(listFormat, o); !r.Missing || r.Code != "" {
		t.Errorf("none is %+v", r)
	}
	if got := names(t, dir); fmt.Sprint(got) != fmt.Sprint(slices.DeleteFunc(before, func(n string) bool { return n == "list.json" })) {
		t.Errorf("looking left %v", got)
	}
	o.Path = filepath.Join(t.TempDir(), "none", "list.json")
	if r, _, err := Inspect(listFormat, o); err != nil || !r.Missing {
		t.Errorf("no folder is %+v, %v", r, err)
	}
	if _, err := os.Stat(filepath.Dir(o.Path)); err == nil {
		t.Error("looking made the folder")
	}
}
