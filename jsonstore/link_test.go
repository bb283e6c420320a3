package jsonstore

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// A link that was made before the file is kept: the file will be where it leads.
func TestLinkToAFileThatIsNotThereYet(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "real"), 0o700))
	must(t, os.Symlink("second.json", filepath.Join(dir, "list.json")))
	must(t, os.Symlink(filepath.Join("real", "list.json"), filepath.Join(dir, "second.json")))
	o := quiet(filepath.Join(dir, "list.json"))
	if r, _, err := Inspect(listFormat, o); err != nil || !r.Missing || r.Path != filepath.Join(dir, "real", "list.json") {
		t.Errorf("looked at as %+v, %v", r, err)
	}
	s := open(t, o)
	mustAdd(t, s, "one")
	for _, link := range []string{"list.json", "second.json"} {
		if info, err := os.Lstat(filepath.Join(dir, link)); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("%s became %v, %v", link, info, err)
		}
	}
	if words(open(t, o)) != "one" || !strings.Contains(read(t, filepath.Join(dir, "real", "list.json")), "one") {
		t.Error("the file is not where the links lead")
	}
}

// A link into a folder that is not there may lead to a drive that is not: no
// other file is begun in its place (invariant 7).
func TestLinkIntoNoFolder(t *testing.T) {
	for name, target := range map[string]string{"no folder": filepath.Join("drive", "list.json"), "a circle": "list.json"} {
		dir := t.TempDir()
		must(t, os.Symlink(target, filepath.Join(dir, "list.json")))
		_, err := Open(t.Context(), listFormat, quiet(filepath.Join(dir, "list.json")))
		wantCode(t, err, shared.StorageIO)
		if info, err := os.Lstat(filepath.Join(dir, "list.json")); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("%s: it became %v, %v", name, info, err)
		}
		if _, err := os.Stat(filepath.Join(dir, "drive")); err == nil {
			t.Errorf("%s: it was made", name)
		}
	}
}

// What is put in the place of the file and is none is not opened, which could
// wait for ever, nor replaced.
func TestNoRegularFileIsLeftAlone(t *testing.T) {
	for name, put := range map[string]func(path string) error{
		"a folder": func(path string) error { return os.Mkdir(path, 0o700) },
		"a pipe":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
	} {
		o := quiet(filepath.Join(t.TempDir(), "list.json"))
		s := open(t, o)
		mustAdd(t, s, "one")
		was := read(t, o.Path)
		must(t, os.Remove(o.Path))
		must(t, put(o.Path))
		before, err := os.Stat(o.Path)
		must(t, err)
		_, err = s.Update(t.Context(), add("two"))
		wantCode(t, err, shared.StorageInvalid)
		after, err := os.Stat(o.Path)
		if err != nil || !os.SameFile(before, after) || words(s) != "one" || open(t, o).State().Code != shared.StorageInvalid {
			t.Errorf("%s: %v with %q", name, err, words(s))
		}
		must(t, os.Remove(o.Path))
		write(t, o.Path, was)
		mustAdd(t, s, "two")
	}
}
