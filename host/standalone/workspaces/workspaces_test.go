package workspaces

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/go-hclog"
	"go.uber.org/goleak"

	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func list(t *testing.T, path string) *List {
	t.Helper()
	l, err := Open(context.Background(), path, hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func folders(t *testing.T, names ...string) []string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, name := range names {
		path := filepath.Join(root, name)
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		out = append(out, path)
	}
	return out
}

func names(l *List) string {
	var out []string
	for _, w := range l.All() {
		out = append(out, w.Name)
	}
	return strings.Join(out, " ")
}

func TestListIsKept(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "workspaces.json")
	dirs := folders(t, "a", "b", "c")
	l := list(t, path)
	var ids []string
	for _, dir := range dirs {
		w, err := l.Add(ctx, dir, "")
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, w.ID)
	}
	if again, err := l.Add(ctx, dirs[1]+"/", "other"); err != nil || again.ID != ids[1] || again.Name != "b" {
		t.Errorf("added twice: %+v, %v", again, err)
	}
	if _, err := l.Rename(ctx, ids[2], " third "); err != nil {
		t.Fatal(err)
	}
	if err := l.Order(ctx, []string{ids[2], "unknown", ids[2]}); err != nil {
		t.Fatal(err)
	}
	if got := names(l); got != "third a b" {
		t.Errorf("%q", got)
	}
	if err := l.Remove(ctx, ids[0]); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if got := names(list(t, path)); got != "third b" {
		t.Errorf("after opening again: %q", got)
	}
	if _, err := os.Stat(dirs[0]); err != nil {
		t.Errorf("removing a workspace touched its folder: %v", err)
	}
}

func TestRefusals(t *testing.T) {
	ctx := context.Background()
	l := list(t, filepath.Join(t.TempDir(), "workspaces.json"))
	dir := folders(t, "a")[0]
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]fault.Code{
		"": fault.BadRequest, "relative": fault.BadRequest, dir + "/../a": fault.BadRequest, dir + "\x00": fault.BadRequest, "/\xff": fault.BadRequest,
		dir + "/none": fault.NotFound, file: fault.NotFound,
	} {
		if _, err := l.Add(ctx, path, ""); fault.CodeOf(err) != want {
			t.Errorf("%q: %v, want %s", path, err, want)
		}
	}
	if _, err := l.Add(ctx, dir, "two\nlines"); fault.CodeOf(err) != fault.BadRequest {
		t.Errorf("%v", err)
	}
	if err := l.Remove(ctx, "none"); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("%v", err)
	}
	if _, err := l.Rename(ctx, "none", "x"); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("%v", err)
	}
	if got := l.All(); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

// Invariant 7: a file that is not a list of workspaces is not overwritten.
func TestMalformedFileIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "workspaces.json")
	const bad = `{"version":1,"generation":1,"workspaces":[{"id":"a"}]}`
	if err := os.WriteFile(path, []byte(bad), 0o600); err != nil {
		t.Fatal(err)
	}
	l := list(t, path)
	if _, err := l.Add(context.Background(), folders(t, "a")[0], ""); fault.CodeOf(err) != fault.Storage {
		t.Errorf("%v", err)
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != bad {
		t.Errorf("%s, %v", data, err)
	}
}

// A folder that is added by many at once is one workspace.
func TestAddedAtOnce(t *testing.T) {
	l := list(t, filepath.Join(t.TempDir(), "workspaces.json"))
	dir := folders(t, "a")[0]
	var wait sync.WaitGroup
	for range 10 {
		wait.Go(func() {
			if _, err := l.Add(context.Background(), dir, ""); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if got := l.All(); len(got) != 1 {
		t.Errorf("%d workspaces", len(got))
	}
}
