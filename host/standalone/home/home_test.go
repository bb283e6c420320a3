package home

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func opened(t *testing.T, dir string) *Home {
	t.Helper()
	h, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h
}

// One host a home, and the second is told who has it.
func TestOneHostAHome(t *testing.T) {
	dir := t.TempDir()
	first := opened(t, dir)
	var inUse *InUseError
	if _, err := Open(dir); !errors.As(err, &inUse) || inUse.Holder != nil || !strings.Contains(err.Error(), dir) {
		t.Fatalf("%v", err)
	}
	if err := first.Register(Registration{PID: os.Getpid(), Address: "http://127.0.0.1:1"}); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); !errors.As(err, &inUse) || inUse.Holder == nil || !strings.Contains(err.Error(), "http://127.0.0.1:1") {
		t.Fatalf("%v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	opened(t, dir)
}

// A host that is about to end hands the home over to the one that is started then.
func TestWaitsForAHostThatEnds(t *testing.T) {
	dir := t.TempDir()
	first := opened(t, dir)
	ended := make(chan error, 1)
	go func() {
		time.Sleep(100 * time.Millisecond) // the second is waiting then, or it need not
		ended <- first.Close()
	}()
	opened(t, dir)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}

// The registration holds a token: nobody else may read it, and it goes with the host.
func TestRegistrationIsPrivate(t *testing.T) {
	dir := t.TempDir()
	h := opened(t, dir)
	if err := h.Register(Registration{PID: os.Getpid(), Token: "secret"}); err != nil {
		t.Fatal(err)
	}
	folder, err := os.Stat(filepath.Join(dir, "run"))
	if err != nil || folder.Mode().Perm() != 0o700 {
		t.Errorf("the folder's mode is %v, %v", folder.Mode(), err)
	}
	file, err := os.Stat(h.run)
	if err != nil || file.Mode().Perm() != 0o600 {
		t.Errorf("the file's mode is %v, %v", file.Mode(), err)
	}
	path := h.run
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
}

// A host that was killed leaves its registration; the next one removes it.
func TestSweepsWhatAKilledHostLeft(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "run"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"1.json", "2.json.new"} {
		if err := os.WriteFile(filepath.Join(dir, "run", name), []byte(`{"pid":1}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	opened(t, dir)
	if left, err := os.ReadDir(filepath.Join(dir, "run")); err != nil || len(left) != 0 {
		t.Errorf("%v, %v", left, err)
	}
}

// A process that happens to have a dead host's id is not taken for it.
func TestFindAsksTheHost(t *testing.T) {
	dir := t.TempDir()
	h := opened(t, dir)
	if _, err := Find(context.Background(), dir); !errors.Is(err, ErrNoHost) {
		t.Fatalf("%v", err)
	}
	instance := "one"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]string{"instance": instance})
	}))
	defer server.Close()
	if err := h.Register(Registration{PID: os.Getpid(), Address: server.URL, Instance: "one", Token: "t"}); err != nil {
		t.Fatal(err)
	}
	if r, err := Find(context.Background(), dir); err != nil || r.Token != "t" {
		t.Errorf("%v, %v", r, err)
	}
	instance = "another"
	if _, err := Find(context.Background(), dir); !errors.Is(err, ErrNoHost) {
		t.Errorf("another host was taken for it: %v", err)
	}
}

func TestDefault(t *testing.T) {
	t.Setenv(EnvHome, "/somewhere/home")
	if dir, err := Default(); err != nil || dir != "/somewhere/home" {
		t.Errorf("%s, %v", dir, err)
	}
	t.Setenv(EnvHome, "")
	t.Setenv("XDG_DATA_HOME", "/data")
	if dir, err := Default(); err != nil || dir != "/data/draft-sessions" {
		t.Errorf("%s, %v", dir, err)
	}
	t.Setenv("XDG_DATA_HOME", "relative") // is to be ignored
	if dir, err := Default(); err != nil || !filepath.IsAbs(dir) || strings.Contains(dir, "relative") {
		t.Errorf("%s, %v", dir, err)
	}
}

// The draft file lies where the design says, so that the command finds it.
func TestDraftFile(t *testing.T) {
	if got := DraftFile("/h"); got != "/h/storages/dsh-draft-sessions/drafts.json" || shared.RecordVersion != 2 {
		t.Error(got)
	}
}
