package rearm

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// await waits for a request.
func await(t *testing.T, folder, not string) string {
	t.Helper()
	for range 3000 {
		if id := Pending(folder); id != "" && id != not {
			return id
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("no request came")
	return ""
}

func TestAskIsTakenByOneHost(t *testing.T) {
	folder := t.TempDir()
	answer := make(chan error, 1)
	go func() { answer <- Ask(t.Context(), folder) }()
	id := await(t, folder, "")
	for path, mode := range map[string]os.FileMode{filepath.Join(folder, Folder): 0o700, path(folder): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	var hosts sync.WaitGroup
	var winners atomic.Int32
	for range 8 {
		hosts.Go(func() {
			if Take(folder, id) {
				winners.Add(1)
			}
		})
	}
	hosts.Wait()
	if winners.Load() != 1 {
		t.Errorf("%d hosts took it", winners.Load())
	}
	if err := <-answer; err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(filepath.Join(folder, Folder)); err != nil || len(left) != 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

func TestAskWithoutAHostIsWithdrawn(t *testing.T) {
	folder := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	answer := make(chan error, 1)
	go func() { answer <- Ask(ctx, folder) }()
	await(t, folder, "")
	cancel()
	if err := <-answer; shared.CodeOf(err) != shared.SessionUnavailable {
		t.Errorf("%v", err)
	}
	if id := Pending(folder); id != "" {
		t.Errorf("the request %s was left", id)
	}
}

func TestAskSaysWhyItCannot(t *testing.T) {
	if err := Ask(t.Context(), filepath.Join(t.TempDir(), "none")); shared.CodeOf(err) != shared.StorageIO {
		t.Errorf("%v", err)
	}
}

// A host that takes an older request than lies there leaves the newer one.
func TestTakeLeavesAnotherRequest(t *testing.T) {
	folder := t.TempDir()
	if err := write(folder, "newer"); err != nil {
		t.Fatal(err)
	}
	if Take(folder, "older") || Take(folder, "") {
		t.Error("took what is not there")
	}
	if Pending(folder) != "newer" || !Take(folder, "newer") || Pending(folder) != "" {
		t.Error("the newer request was lost")
	}
}

func TestPendingReadsOnlyRequests(t *testing.T) {
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, Folder), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "{", `{"schema":2,"id":"x"}`, `{"schema":1}`, `["x"]`} {
		if err := os.WriteFile(path(folder), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if id := Pending(folder); id != "" {
			t.Errorf("%s asks as %q", text, id)
		}
	}
}
