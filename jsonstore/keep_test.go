package jsonstore

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// clock is a time that a test sets.
type clock struct{ ns atomic.Int64 }

func newClock() *clock {
	c := &clock{}
	c.ns.Store(time.Date(2026, 12, 1, 8, 30, 0, 0, time.UTC).UnixNano())
	return c
}

func (c *clock) now() time.Time          { return time.Unix(0, c.ns.Load()) }
func (c *clock) advance(d time.Duration) { c.ns.Add(int64(d)) }

// kept are the names of the backups, oldest first.
func kept(t *testing.T, path string) []string {
	t.Helper()
	names, err := OS{}.ReadDir(filepath.Join(filepath.Dir(path), BackupFolder))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return names
}

// idle waits for the backup that the last update asked for.
func idle(t *testing.T, s *Store[*list]) {
	t.Helper()
	_ = s.Refresh(t.Context()) // The committer has asked for it when it answers this.
	eventually(t, "the backup is over", func() bool { return !s.keeper.busy.Load() })
}

// Good generations are kept by the hour, private, and byte for byte.
func TestBackupsAreKeptByTheHour(t *testing.T) {
	c := newClock()
	o := quiet(filepath.Join(t.TempDir(), "list.json"))
	o.Backups, o.Now = true, c.now
	s := open(t, o)
	var want []string
	for hour := range 3 {
		for i := range 4 {
			mustAdd(t, s, fmt.Sprint(hour, i))
			idle(t, s)
			if i == 0 {
				name := fmt.Sprintf("list.20261201T%02d3000Z.%d.json", 8+hour, s.State().Generation)
				want = append(want, name)
				path := filepath.Join(filepath.Dir(o.Path), BackupFolder, name)
				if read(t, path) != read(t, o.Path) {
					t.Errorf("%s is not the file", name)
				}
				for path, mode := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
					if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
						t.Errorf("%s: %v, %v", path, info.Mode(), err)
					}
				}
			}
			c.advance(15 * time.Minute)
		}
	}
	if got := kept(t, o.Path); !slices.Equal(got, want) {
		t.Errorf("kept %v, want %v", got, want)
	}
}

// A file that is not good is never kept, and a backup that fails hurts no save.
func TestOnlyGoodGenerationsAreKept(t *testing.T) {
	c := newClock()
	o := quiet(filepath.Join(t.TempDir(), "list.json"))
	o.Backups, o.Now = true, c.now
	s := open(t, o)
	mustAdd(t, s, "one")
	idle(t, s)
	had := kept(t, o.Path)
	c.advance(2 * keepEvery)
	write(t, o.Path, "broken")
	if _, err := s.Update(t.Context(), add("two")); err == nil {
		t.Error("a broken file was written")
	}
	idle(t, s)
	if got := kept(t, o.Path); !slices.Equal(got, had) {
		t.Errorf("kept %v beside %v", got, had)
	}

	fsys := &faultFS{fail: syscall.ENOSPC, failName: BackupFolder}
	o.Path, o.FS = filepath.Join(t.TempDir(), "list.json"), fsys
	full := open(t, o)
	mustAdd(t, full, "one")
	idle(t, full)
	mustAdd(t, full, "two")
	if got := kept(t, o.Path); len(got) != 0 {
		t.Errorf("kept %v on a full disk", got)
	}
}

// stuckBackups is a file system on which a backup takes as long as the test wants.
type stuckBackups struct {
	OS
	begun, end chan struct{}
}

func (f *stuckBackups) Rename(from, to string) error {
	if filepath.Base(filepath.Dir(to)) == BackupFolder {
		close(f.begun)
		<-f.end
	}
	return f.OS.Rename(from, to)
}

// A backup that takes its time holds up no save, and Close waits for it.
func TestSlowBackupHoldsUpNoSave(t *testing.T) {
	fsys := &stuckBackups{begun: make(chan struct{}), end: make(chan struct{})}
	o := quiet(filepath.Join(t.TempDir(), "list.json"))
	o.Backups, o.FS = true, fsys
	s := open(t, o)
	mustAdd(t, s, "one")
	<-fsys.begun
	mustAdd(t, s, "two")
	mustAdd(t, s, "three")
	if got := kept(t, o.Path); len(got) != 1 || !strings.HasSuffix(got[0], tempSuffix) {
		t.Errorf("there are %v", got)
	}
	close(fsys.end)
	must(t, s.Close())
	if got := kept(t, o.Path); len(got) != 1 || !strings.HasSuffix(got[0], ".1.json") {
		t.Errorf("kept %v", got)
	}
}

// A backup is whole before it has its name, and certain before others go for it.
func TestBackupsAreSynced(t *testing.T) {
	r := &recorder{}
	o := quiet(filepath.Join(t.TempDir(), "list.json"))
	o.Backups, o.FS = true, r
	s := open(t, o)
	mustAdd(t, s, "one")
	must(t, s.Close())
	var got []string
	for _, op := range r.log {
		if dir := filepath.Join(filepath.Dir(o.Path), BackupFolder); op.name == dir || filepath.Dir(op.name) == dir {
			got = append(got, op.kind)
		}
	}
	if want := []string{"create", "write", "sync", "rename", "syncdir"}; !slices.Equal(got, want) {
		t.Errorf("a backup is %v, want %v", got, want)
	}
}

// One an hour for a day, one a day for a week, never more bytes than the bound.
func TestSurplusBackups(t *testing.T) {
	now := time.Date(2026, 12, 10, 12, 0, 0, 0, time.UTC)
	var all []keptBackup // newest first, one every ten minutes for ten days
	for at := now; at.After(now.Add(-10 * 24 * time.Hour)); at = at.Add(-10 * time.Minute) {
		all = append(all, keptBackup{path: at.String(), at: at, size: 1})
	}
	left := remaining(all, now)
	hours, days := 0, map[string]int{}
	for _, b := range left {
		age := now.Sub(b.at)
		if age < keepHours {
			hours++
		} else {
			days[b.at.Format(time.DateOnly)]++
		}
		if age >= keepDays {
			t.Errorf("kept for %v", age)
		}
	}
	if hours < 24 || hours > 25 || len(days) < 6 || len(left) > 33 {
		t.Errorf("kept %d hours and days %v", hours, days)
	}
	for day, n := range days {
		if n != 1 {
			t.Errorf("%d of %s", n, day)
		}
	}
	if again := remaining(left, now); len(again) != len(left) {
		t.Errorf("a second look drops %d", len(left)-len(again))
	}
	for i := range all {
		all[i].size = MaxBackupBytes / 3
	}
	if left := remaining(all, now); len(left) != 3 {
		t.Errorf("kept %d large ones", len(left))
	}
	if left := remaining([]keptBackup{{at: now.Add(-30 * 24 * time.Hour), size: 2 * MaxBackupBytes}}, now); len(left) != 1 {
		t.Error("the last one is gone")
	}
}

func remaining(all []keptBackup, now time.Time) []keptBackup {
	drop := map[string]bool{}
	for _, b := range surplus(all, now) {
		drop[b.path] = true
	}
	return slices.DeleteFunc(slices.Clone(all), func(b keptBackup) bool { return drop[b.path] })
}

// Names of other files in the folder are nobody's backup.
func TestBackupNames(t *testing.T) {
	k := newKeeper(OS{}, "/x/list.json", nil, nil)
	if b, ok := k.parse("list.20261201T083000Z.12.json"); !ok || b.generation != 12 || b.at.Hour() != 8 {
		t.Errorf("%+v, %v", b, ok)
	}
	for _, name := range []string{"list.json", "list.20261201T083000Z.json", "list.20261201T083000Z.x.json", "list.2026.1.json",
		"other.20261201T083000Z.1.json", "list.20261201T083000Z.1.txt", ".list.json.0123.tmp"} {
		if b, ok := k.parse(name); ok {
			t.Errorf("%s is %+v", name, b)
		}
	}
}

// What a killed writer of a backup left is removed when it is old.
func TestBackupsSweepTheirTemporaryFiles(t *testing.T) {
	c := newClock()
	o := quiet(filepath.Join(t.TempDir(), "list.json"))
	o.Backups, o.Now = true, c.now
	dir := filepath.Join(filepath.Dir(o.Path), BackupFolder)
	old, young := filepath.Join(dir, ".list.json.01.tmp"), filepath.Join(dir, ".list.json.02.tmp")
	write(t, old, "half")
	write(t, young, "half")
	if err := os.Chtimes(old, time.Now(), time.Now().Add(-2*keepEvery)); err != nil {
		t.Fatal(err)
	}
	s := open(t, o)
	mustAdd(t, s, "one")
	idle(t, s)
	got := kept(t, o.Path)
	if len(got) != 2 || got[0] != filepath.Base(young) || !strings.HasPrefix(got[1], "list.") {
		t.Errorf("left %v", got)
	}
}

// What is old goes, and the folder does not grow.
func TestOldBackupsGo(t *testing.T) {
	c := newClock()
	o := quiet(filepath.Join(t.TempDir(), "list.json"))
	o.Backups, o.Now = true, c.now
	s := open(t, o)
	for i := range 4 * 9 {
		mustAdd(t, s, fmt.Sprint(i))
		idle(t, s)
		c.advance(6 * time.Hour)
	}
	got, err := s.keeper.list()
	if err != nil || len(got) < 10 || len(got) > 12 {
		t.Errorf("after nine days there are %d, %v", len(got), err)
	}
	for _, b := range got {
		if age := c.now().Sub(b.at); age > keepDays+6*time.Hour {
			t.Errorf("%s is kept", filepath.Base(b.path))
		}
	}
	if got[0].generation != s.State().Generation {
		t.Errorf("the newest is of generation %d", got[0].generation)
	}
}

// A clock that goes back neither stops the backups nor makes an old one pass for
// the newest.
func TestBackupsWhenTheClockGoesBack(t *testing.T) {
	c := newClock()
	o := quiet(filepath.Join(t.TempDir(), "list.json"))
	o.Backups, o.Now = true, c.now
	s := open(t, o)
	mustAdd(t, s, "future")
	idle(t, s)
	c.advance(-365 * 24 * time.Hour)
	for _, word := range []string{"one", "two"} {
		mustAdd(t, s, word)
		idle(t, s)
		c.advance(keepEvery)
	}
	if got := kept(t, o.Path); len(got) != 3 {
		t.Errorf("kept %v", got)
	}
	must(t, s.Close())
	write(t, o.Path, "broken")
	done, err := Repair(t.Context(), listFormat, o, FromBest)
	must(t, err)
	if again := open(t, o); words(again) != "future one two" {
		t.Errorf("repaired from %s: %q", filepath.Base(done.Restored), words(again))
	}
}
