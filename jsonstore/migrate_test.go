package jsonstore

import (
	"bytes"
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

// A version behind the next one is taken over step by step; what is kept is the
// file as it was. The next version is one function more.
func TestMigrationsFollowEachOther(t *testing.T) {
	three := listFormat
	three.Version = 3
	three.Migrations = map[int64]Migration{1: listFormat.Migrations[1], 2: func(old []byte) ([]byte, string, error) {
		l, err := listFormat.Decode([][]byte{old}, Encoded[*list]{})
		if err != nil {
			return nil, "", err
		}
		l.Doc.Version, l.Doc.Words = 3, append(l.Doc.Words, "end")
		next, err := encodeList(l.Doc, Encoded[*list]{})
		return bytes.Join(next, nil), "end marked", err
	}}
	const version2 = `{"version":2,"generation":7,"words":["two"]}`
	for old, want := range map[string]struct{ words, note, backup string }{
		version1: {"one two end", "words split; end marked", "list.v1.json"},
		version2: {"two end", "end marked", "list.v2.json"},
	} {
		o := quiet(filepath.Join(t.TempDir(), "list.json"))
		write(t, o.Path, old)
		s, err := Open(t.Context(), three, o)
		must(t, err)
		if words(s) != want.words || s.State().Note != want.note || read(t, o.Path) != old {
			t.Errorf("opened as %q in %+v", words(s), s.State())
		}
		mustAdd(t, s, "more")
		must(t, s.Close())
		if read(t, filepath.Join(filepath.Dir(o.Path), want.backup)) != old {
			t.Errorf("%s is not the old file", want.backup)
		}
		s, err = Open(t.Context(), three, o)
		must(t, err)
		if words(s) != want.words+" more" || s.State().Note != "" || s.Snapshot().Version != 3 {
			t.Errorf("then %q in %+v", words(s), s.State())
		}
		must(t, s.Close())
	}
}
