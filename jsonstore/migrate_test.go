package jsonstore

import (
	"path/filepath"
	"slices"
	"testing"
)

const version1 = "{\"version\": 1,\r\n  \"words\": \"one two\"}\n\n"

// A file of an older version is read at once, but written, and backed up byte
// for byte, only with the first change.
func TestMigrationKeepsTheOldFile(t *testing.T) {
	dir := t.TempDir()
	o := quiet(filepath.Join(dir, "list.json"))
	write(t, o.Path, version1)
	s := open(t, o)
	if words(s) != "one two" || s.State().Note != "words split" || s.State().Backup != "" || s.State().Generation != 0 {
		t.Errorf("opened as %q in %+v", words(s), s.State())
	}
	if got := names(t, dir); !slices.Equal(got, []string{"list.json"}) || read(t, o.Path) != version1 {
		t.Errorf("reading made %v", got)
	}
	mustAdd(t, s, "three")
	backup := filepath.Join(dir, "list.v1.json")
	if read(t, backup) != version1 || s.State().Backup != backup {
		t.Errorf("kept %q as %+v", read(t, backup), s.State())
	}
	mustAdd(t, s, "four")
	if got := names(t, dir); !slices.Equal(got, []string{"list.json", "list.v1.json"}) {
		t.Errorf("left %v", got)
	}
	if late := open(t, o); words(late) != "one two three four" || late.State().Backup != backup || late.State().Note != "" {
		t.Errorf("opened again as %q in %+v", words(late), late.State())
	}
}

// A backup is never overwritten: another one gets a number, the same one is used again.
func TestBackupsAreNumbered(t *testing.T) {
	dir := t.TempDir()
	o := quiet(filepath.Join(dir, "list.json"))
	s := open(t, o)
	others := []string{`{"version":1,"words":"a"}`, `{"version":1,"words":"b"}`, `{"version":1,"words":"a"}`, `{"version":1,"words":"c"}`}
	for _, data := range others {
		write(t, o.Path, data)
		mustAdd(t, s, "x")
	}
	for name, want := range map[string]string{"list.v1.json": others[0], "list.v1.2.json": others[1], "list.v1.3.json": others[3]} {
		if got := read(t, filepath.Join(dir, name)); got != want {
			t.Errorf("%s is %s", name, got)
		}
	}
	if got := names(t, dir); len(got) != 4 {
		t.Errorf("left %v", got)
	}
}

// An older program may write its version again while ours runs: its changes are
// taken over, none is lost.
func TestOlderVersionWrittenMeanwhile(t *testing.T) {
	o := quiet(filepath.Join(t.TempDir(), "list.json"))
	s := open(t, o)
	mustAdd(t, s, "ours")
	write(t, o.Path, version1)
	mustAdd(t, s, "three")
	if words(s) != "one two three" || s.State().Generation != 2 {
		t.Errorf("%q in %+v", words(s), s.State())
	}
}
