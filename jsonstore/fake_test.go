package jsonstore

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"go.uber.org/goleak"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(oneSaveEnv); path != "" {
		saveOnce(path)
		return
	}
	goleak.VerifyTestMain(m)
}

// list is the document of these tests: version 2 of a list of words.
type list struct {
	Version    int64    `json:"version"`
	Generation int64    `json:"generation"`
	Words      []string `json:"words"`
}

var decodeList, encodeList = Whole(func(data []byte) (*list, error) {
	l := &list{}
	if err := json.Unmarshal(data, l, json.RejectUnknownMembers(true)); err != nil {
		return nil, shared.Errorf(shared.StorageInvalid, "not a list")
	}
	return l, nil
}, func(l *list) ([]byte, error) { return json.Marshal(l) })

var listFormat = Format[*list]{
	Version:    2,
	Empty:      func() *list { return &list{Version: 2} },
	Decode:     decodeList,
	Encode:     encodeList,
	Generation: func(l *list) int64 { return l.Generation },
	WithGeneration: func(l *list, generation int64) *list {
		next := *l
		next.Generation = generation
		return &next
	},
	Migrations: map[int64]Migration{
		// Version 1 was the words in one string.
		1: func(old []byte) ([]byte, string, error) {
			var one struct {
				Version int64
				Words   string
			}
			if err := json.Unmarshal(old, &one, json.MatchCaseInsensitiveNames(true), json.RejectUnknownMembers(true)); err != nil {
				return nil, "", shared.Errorf(shared.StorageInvalid, "not a list of version 1")
			}
			next, err := json.Marshal(&list{Version: 2, Words: strings.Fields(one.Words)})
			return next, "words split", err
		},
	},
}

// add is the change that appends a word, and is satisfied if it is the last.
func add(word string) func(*list) (*list, error) {
	return func(l *list) (*list, error) {
		if len(l.Words) > 0 && l.Words[len(l.Words)-1] == word {
			return nil, ErrNoChange
		}
		next := *l
		next.Words = append(slices.Clone(l.Words), word)
		return &next, nil
	}
}

func words(s *Store[*list]) string { return strings.Join(s.Snapshot().Words, " ") }

// quiet are options without watching, so that only the test touches the file.
func quiet(path string) Options { return Options{Path: path, Poll: -1} }

func open(t *testing.T, o Options) *Store[*list] {
	t.Helper()
	s, err := Open(t.Context(), listFormat, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func mustAdd(t *testing.T, s *Store[*list], word string) {
	t.Helper()
	if _, err := s.Update(t.Context(), add(word)); err != nil {
		t.Fatalf("add %s: %v", word, err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func write(t *testing.T, path, data string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	// Renamed into place as any careful program does.
	if err := os.WriteFile(path+".other", []byte(data), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".other", path); err != nil {
		t.Fatal(err)
	}
}

// names lists a folder without the lock file.
func names(t *testing.T, dir string) []string {
	t.Helper()
	all, err := OS{}.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(name string) bool { return strings.HasSuffix(name, ".lock") })
}

func wantCode(t *testing.T, err error, code shared.Code) {
	t.Helper()
	if shared.CodeOf(err) != code {
		t.Fatalf("got %v, want %q", err, code)
	}
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for !ok() {
		select {
		case <-ctx.Done():
			t.Fatalf("never: %s", what)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// faultFS is the real file system with a log of calls, one of which may fail or wait.
type faultFS struct {
	OS
	mu     sync.Mutex
	log    []string
	failAt int   // the call of this number fails, counted from 1; 0 is none
	fail   error // with this; nil is EIO
	// failName makes every call on a path that holds it fail, when set.
	failName string
	hold     map[string]chan struct{}
	held     chan string // told of each call that waits, when set
}

// arm starts a new log whose n-th call fails.
func (f *faultFS) arm(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.log, f.failAt = nil, n
}

func (f *faultFS) calls() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.log)
}

// call logs one call and tells whether it shall fail.
func (f *faultFS) call(op, name string) error {
	f.mu.Lock()
	entry := op + " " + kindOf(name)
	f.log = append(f.log, entry)
	failed := len(f.log) == f.failAt || f.failName != "" && strings.Contains(name, f.failName)
	hold, held := f.hold[entry], f.held
	f.mu.Unlock()
	if hold != nil {
		if held != nil {
			held <- entry
		}
		<-hold
	}
	if failed {
		return &fs.PathError{Op: op, Path: kindOf(name), Err: cmp.Or(f.fail, error(syscall.EIO))}
	}
	return nil
}

// kindOf names a path by its part in a save.
func kindOf(name string) string {
	base := filepath.Base(name)
	switch {
	case strings.HasSuffix(base, tempSuffix):
		return "temp"
	case strings.Contains(base, ".v1."):
		return "backup"
	case strings.HasSuffix(base, ".json"):
		return "file"
	}
	return "folder"
}

func (f *faultFS) MkdirAll(dir string, perm fs.FileMode) error {
	if err := f.call("mkdir", dir); err != nil {
		return err
	}
	return f.OS.MkdirAll(dir, perm)
}

func (f *faultFS) Stat(name string) (fs.FileInfo, error) {
	if err := f.call("stat", name); err != nil {
		return nil, err
	}
	return f.OS.Stat(name)
}

func (f *faultFS) Open(name string) (File, error) {
	if err := f.call("open", name); err != nil {
		return nil, err
	}
	return f.wrap(name)(f.OS.Open(name))
}

func (f *faultFS) Create(name string, perm fs.FileMode) (File, error) {
	if err := f.call("create", name); err != nil {
		return nil, err
	}
	return f.wrap(name)(f.OS.Create(name, perm))
}

func (f *faultFS) Rename(from, to string) error {
	if err := f.call("rename", to); err != nil {
		return err
	}
	return f.OS.Rename(from, to)
}

func (f *faultFS) Link(name, second string) error {
	if err := f.call("link", name); err != nil {
		return err
	}
	return f.OS.Link(name, second)
}

func (f *faultFS) Remove(name string) error {
	if err := f.call("remove", name); err != nil {
		return err
	}
	return f.OS.Remove(name)
}

func (f *faultFS) ReadDir(dir string) ([]string, error) {
	if err := f.call("list", dir); err != nil {
		return nil, err
	}
	return f.OS.ReadDir(dir)
}

func (f *faultFS) wrap(name string) func(File, error) (File, error) {
	return func(file File, err error) (File, error) {
		if err != nil {
			return nil, err
		}
		return &faultFile{File: file, fs: f, name: name}, nil
	}
}

type faultFile struct {
	File
	fs   *faultFS
	name string
}

func (f *faultFile) Read(p []byte) (int, error) {
	if err := f.fs.call("read", f.name); err != nil {
		return 0, err
	}
	return f.File.Read(p)
}

func (f *faultFile) ReadAt(p []byte, at int64) (int, error) {
	if err := f.fs.call("pread", f.name); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, at)
}

// errShort makes a write short without an error of its own.
var errShort = errors.New("short")

// Write tears: a write that fails has written half.
func (f *faultFile) Write(p []byte) (int, error) {
	if err := f.fs.call("write", f.name); err != nil {
		n, _ := f.File.Write(bytes.Clone(p[:len(p)/2])) // Torn on purpose.
		if errors.Is(err, errShort) {
			return n, nil
		}
		return n, err
	}
	return f.File.Write(p)
}

func (f *faultFile) Stat() (fs.FileInfo, error) {
	if err := f.fs.call("fstat", f.name); err != nil {
		return nil, err
	}
	return f.File.Stat()
}

func (f *faultFile) Sync() error {
	if err := f.fs.call("sync", f.name); err != nil {
		return err
	}
	return f.File.Sync()
}

func (f *faultFile) Close() error {
	// The descriptor is gone whatever close says, as in the kernel.
	err := f.fs.call("close", f.name)
	if closed := f.File.Close(); err == nil {
		err = closed
	}
	return err
}
