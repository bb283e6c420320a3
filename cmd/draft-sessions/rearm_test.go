package main

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	hosthome "github.com/draft-sessions/dsh-draft-sessions/host/standalone/home"
)

// A plugin that is killed five times is given up; rearm has the host start it again,
// and says that once (invariant 8).
func TestRearm(t *testing.T) {
	dir := t.TempDir()
	binary, home := buildCommand(t, dir), filepath.Join(dir, "home")
	up := exec.Command(binary, "up", "--no-open", "--json", "--home", home, "--listen", "127.0.0.1:0", "--agent", "echo", dir)
	out, err := up.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := up.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = up.Process.Signal(os.Interrupt)
		if err := up.Wait(); err != nil {
			t.Errorf("up ended with %v", err)
		}
	})
	line, err := bufio.NewReader(out).ReadBytes('\n')
	var told upped
	if err != nil || json.Unmarshal(line, &told) != nil || told.Outcome != "started" || told.Home != home || told.Process != up.Process.Pid || !linkLine.MatchString(told.Link) || told.Warning != "" {
		t.Fatalf("%s, %v", line, err)
	}

	killed := map[int]bool{}
	for mode := ""; mode != "stock"; mode, _ = pluginState(t, home) {
		for _, pid := range livePlugins(t, home) {
			if !killed[pid] {
				killed[pid] = true
				_ = syscall.Kill(pid, syscall.SIGKILL) // one that ends by itself is gone, too
			}
		}
	}
	if len(killed) != 5 {
		t.Errorf("given up after %d crashes, want 5", len(killed))
	}
	answer, err := exec.Command(binary, "rearm", "--home", home, "--json").Output()
	var again rearmed
	if err != nil || json.Unmarshal(answer, &again) != nil || again.Outcome != "rearmed" || again.Home.Path != home || strings.Count(string(answer), "\n") != 1 {
		t.Fatalf("%s, %v", answer, err)
	}
	until(t, "the drafts are on", func() bool {
		mode, epoch := pluginState(t, home)
		return mode == "full" && epoch != ""
	})
	// Nobody waits any more.
	err = exec.Command(binary, "rearm", "--home", home, "--wait", "10ms").Run()
	if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != exitNobody {
		t.Errorf("asked again: %v, want exit code %d", err, exitNobody)
	}
}

// livePlugins are the processes whose control sockets a command would find.
func livePlugins(t *testing.T, home string) (pids []int) {
	t.Helper()
	entries, err := filepath.Glob(filepath.Join(home, "storages", "dsh-draft-sessions", "run", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		pid, err := strconv.Atoi(strings.TrimSuffix(filepath.Base(entry), ".json"))
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	return pids
}

func pluginState(t *testing.T, home string) (mode, epoch string) {
	t.Helper()
	time.Sleep(20 * time.Millisecond) // between two questions
	running, err := hosthome.Find(t.Context(), home)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, running.Address+"/api/state", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+running.Token)
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var state struct{ Plugin struct{ Mode, Epoch string } }
	if err := json.NewDecoder(response.Body).Decode(&state); err != nil {
		t.Fatal(err)
	}
	return state.Plugin.Mode, state.Plugin.Epoch
}

func until(t *testing.T, what string, check func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !check(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("not in time:", what)
		}
	}
}
