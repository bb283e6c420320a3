package jsonstore

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
)

// A temporary file is never one that is there, nor where a link leads: what
// somebody put in its way is not written to.
func TestCreateIsExclusive(t *testing.T) {
	dir := t.TempDir()
	there, link := filepath.Join(dir, "there"), filepath.Join(dir, "link")
	must(t, os.WriteFile(there, []byte("mine"), 0o600))
	must(t, os.Symlink(there, link))
	must(t, os.Symlink(filepath.Join(dir, "nowhere"), filepath.Join(dir, "dangling")))
	for _, name := range []string{there, link, filepath.Join(dir, "dangling")} {
		if _, err := (OS{}).Create(name, 0o600); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s: %v", filepath.Base(name), err)
		}
	}
	if read(t, there) != "mine" {
		t.Errorf("it holds %q", read(t, there))
	}
	if _, err := os.Stat(filepath.Join(dir, "nowhere")); err == nil {
		t.Error("a link was followed")
	}
}

// Temporary files are of the file's own folder: elsewhere a rename could not
// replace the file in one step.
func TestTemporaryFilesAreBesideTheFile(t *testing.T) {
	r := &recorder{}
	o := quiet(filepath.Join(t.TempDir(), "list.json"))
	write(t, o.Path, version1)
	o.FS = r
	mustAdd(t, open(t, o), "three")
	made := 0
	for _, op := range r.log {
		if op.kind == "create" {
			made++
			if filepath.Dir(op.name) != filepath.Dir(o.Path) {
				t.Errorf("one is %s", op.name)
			}
		}
	}
	if made != 2 {
		t.Errorf("%d were made for a file and its copy", made)
	}
}

// countFS counts the files that are open.
type countFS struct {
	OS
	open atomic.Int64
}

func (c *countFS) Open(name string) (File, error) { return c.count(c.OS.Open(name)) }

func (c *countFS) Create(name string, perm fs.FileMode) (File, error) {
	return c.count(c.OS.Create(name, perm))
}

func (c *countFS) count(f File, err error) (File, error) {
	if err != nil {
		return nil, err
	}
	c.open.Add(1)
	return &counted{File: f, c: c}, nil
}

type counted struct {
	File
	c *countFS
}

func (f *counted) Close() error {
	f.c.open.Add(-1)
	return f.File.Close()
}

// A store keeps one file open, however often it and others write, and none after
// Close.
func TestStoreKeepsOneFileOpen(t *testing.T) {
	fsys := &countFS{}
	o := quiet(filepath.Join(t.TempDir(), "list.json"))
	other := open(t, o)
	o.FS, o.Backups = fsys, true
	s := open(t, o)
	for _, word := range []string{"a", "b", "c", "d"} {
		mustAdd(t, s, word)
		mustAdd(t, other, word+"'")
		must(t, s.Refresh(t.Context()))
	}
	write(t, o.Path, "broken")
	_ = s.Refresh(t.Context()) // Refused, as it should be.
	must(t, os.Remove(o.Path))
	must(t, s.Refresh(t.Context()))
	mustAdd(t, s, "e")
	idle(t, s)
	if n := fsys.open.Load(); n != 1 {
		t.Errorf("%d files are open", n)
	}
	must(t, s.Close())
	if n := fsys.open.Load(); n != 0 {
		t.Errorf("%d files are open after Close", n)
	}
}
