package drafts

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/draft-sessions/dsh-draft-sessions/jsonstore"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(childEnv); path != "" {
		runChild(path)
		return
	}
	if path := os.Getenv(sharerEnv); path != "" {
		runSharer(path)
		return
	}
	if path := os.Getenv(timerEnv); path != "" {
		runTimer(path)
		return
	}
	goleak.VerifyTestMain(m)
}

// clock is a settable time, the same for every store that has it.
type clock struct{ ms atomic.Int64 }

func newClock() *clock {
	c := &clock{}
	c.ms.Store(1_000_000)
	return c
}

func (c *clock) now() time.Time          { return time.UnixMilli(c.ms.Load()) }
func (c *clock) advance(d time.Duration) { c.ms.Add(d.Milliseconds()) }

func draftFile(t *testing.T) string {
	return filepath.Join(t.TempDir(), "storages", "dsh-draft-sessions", "drafts.json")
}

// patience is for locks: no test is about how quick a busy machine is.
const patience = time.Hour

func openStore(t *testing.T, o Options) *Store {
	t.Helper()
	o.lockWait = patience
	s, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func newStore(t *testing.T) *Store { return openStore(t, Options{Path: draftFile(t)}) }

func create(t *testing.T, s *Store, p CreateParams) shared.DraftRecord {
	t.Helper()
	if p.WorkspaceID == "" {
		p.WorkspaceID = "w"
	}
	record, err := s.Create(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return record
}

func get(t *testing.T, s *Store, id string) shared.DraftRecord {
	t.Helper()
	record, err := s.Get(id)
	if err != nil {
		t.Fatal(err)
	}
	return record
}

func bind(t *testing.T, s *Store, id, session string) shared.DraftRecord {
	t.Helper()
	record, err := s.Rebind(t.Context(), id, get(t, s, id).Revision, &session)
	if err != nil {
		t.Fatal(err)
	}
	return record
}

func wantCode(t *testing.T, err error, code shared.Code) {
	t.Helper()
	if shared.CodeOf(err) != code {
		t.Fatalf("got %v, want %q", err, code)
	}
}

// texts are those of a workspace's drafts, in order.
func texts(s *Store, workspace string) string {
	var list []string
	for _, record := range InOrder(s.Snapshot(), workspace) {
		list = append(list, record.Text)
	}
	return strings.Join(list, " ")
}

func pointer[T any](value T) *T { return &value }

func writeFile(t *testing.T, path, data string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
		t.Fatal(err)
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// faultyFS is the real file system, in which creating files or syncing folders
// may fail, and in which nothing is synced if that is not the question.
type faultyFS struct {
	jsonstore.OS
	createFails, folderSyncFails atomic.Bool
	lazy                         bool
}

func (f *faultyFS) Create(name string, perm fs.FileMode) (jsonstore.File, error) {
	if f.createFails.Load() {
		return nil, syscall.ENOSPC
	}
	return f.wrap(f.OS.Create(name, perm))
}

func (f *faultyFS) Open(name string) (jsonstore.File, error) { return f.wrap(f.OS.Open(name)) }

func (f *faultyFS) wrap(file jsonstore.File, err error) (jsonstore.File, error) {
	if err != nil {
		return nil, err
	}
	return &faultyFile{File: file, fs: f}, nil
}

type faultyFile struct {
	jsonstore.File
	fs *faultyFS
}

func (f *faultyFile) Sync() error {
	info, err := f.Stat()
	switch {
	case err != nil:
		return err
	case info.IsDir() && f.fs.folderSyncFails.Load():
		return syscall.EIO
	case f.fs.lazy:
		return nil
	}
	return f.File.Sync()
}

func openFaulty(t *testing.T, ctx context.Context, o Options, fsys *faultyFS) *Store {
	t.Helper()
	s, err := openOn(ctx, o, fsys)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}
