package dsh_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/draft-sessions/dsh-draft-sessions/host/dsh"
)

const patience = 20 * time.Second

// prepared is the toolchain and one staged bundle for all tests of this package.
var prepared = sync.OnceValues(func() (staged, error) {
	ctx := context.Background()
	tools, err := dsh.Prepare(ctx, dsh.Options{Progress: os.Stderr, DSH: os.Getenv(dsh.EnvSmoke)})
	if err != nil {
		return staged{}, err
	}
	dir, err := os.MkdirTemp("", "dsh-bundle-")
	if err != nil {
		return staged{}, err
	}
	return staged{tools, dir}, tools.Stage(ctx, dir)
})

type staged struct {
	tools  *dsh.Toolchain
	bundle string
}

func TestMain(m *testing.M) {
	code := m.Run()
	if s, _ := prepared(); s.bundle != "" {
		_ = os.RemoveAll(s.bundle)
	}
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func prepare(t *testing.T) staged {
	t.Helper()
	s, err := prepared()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// start runs DSH on a home in which the bundles are installed, in this order.
func start(t *testing.T, home string, bundles ...string) *dsh.Process {
	t.Helper()
	tools := prepare(t).tools
	for _, bundle := range bundles {
		if err := tools.Install(t.Context(), home, bundle); err != nil {
			t.Fatal(err)
		}
	}
	process, err := tools.Start(t.Context(), home, 0, "DSH_TELEMETRY_DISABLED=1", dsh.EnvOverride+"="+tools.Override())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(process.Kill)
	return process
}

func awaitMode(t *testing.T, url, mode string) dsh.Status {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	status, err := dsh.AwaitMode(ctx, url, mode)
	if err != nil {
		t.Fatal(err)
	}
	return status
}

var startedPid = regexp.MustCompile(`drafts are on .*pid=(\d+)`)

// pluginPid is the process that the host half's log names last.
func pluginPid(t *testing.T, home string) int {
	t.Helper()
	found := startedPid.FindAllStringSubmatch(hostLog(t, home), -1)
	if found == nil {
		t.Fatal("the log names no plugin process")
	}
	pid, err := strconv.Atoi(found[len(found)-1][1])
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func hostLog(t *testing.T, home string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(home, "storages", "dsh-draft-sessions", "host.log"))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func awaitGone(t *testing.T, pid int) {
	t.Helper()
	for until := time.Now().Add(patience); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		if !alive(pid) {
			return
		}
	}
	t.Errorf("process %d outlives its host", pid)
}

// alive takes a process that nobody has reaped yet for gone.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	return err != nil || !strings.Contains(string(stat), ") Z ")
}

type event struct {
	name string
	data string
}

// events reads the push route until the test ends.
func events(t *testing.T, url string) <-chan event {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/draft-sessions/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	out := make(chan event, 64)
	go func() {
		defer close(out)
		defer func() { _ = resp.Body.Close() }()
		var e event
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
			name, value, _ := strings.Cut(lines.Text(), ": ")
			switch name {
			case "event":
				e.name = value
			case "data":
				e.data = value
				out <- e
			}
		}
	}()
	return out
}

func next(t *testing.T, from <-chan event, name, text string) {
	t.Helper()
	select {
	case e := <-from:
		if e.name != name || !strings.Contains(e.data, text) {
			t.Fatalf("event %s %s, want %s with %s", e.name, e.data, name, text)
		}
	case <-time.After(patience):
		t.Fatalf("no event %s with %s", name, text)
	}
}

// Invariants 8 and 9 on the real host: full mode, coded errors, a crash, SIGKILL.
func TestBundleInTheRealHost(t *testing.T) {
	home := t.TempDir()
	process := start(t, home, prepare(t).bundle)
	first := awaitMode(t, process.URL, "full")

	var failure *dsh.APIError
	err := dsh.Draft(t.Context(), process.URL, "get", map[string]string{"draftId": "none"}, nil)
	if !errors.As(err, &failure) || failure.Code != "DRAFT_NOT_FOUND" {
		t.Errorf("get of no draft: %v", err)
	}
	err = dsh.Draft(t.Context(), process.URL, "get", map[string]string{"draftId": "none", "more": "secret"}, nil)
	if !errors.As(err, &failure) || failure.Code != "DRAFT_INVALID_INPUT" || !strings.Contains(failure.Message, "more") ||
		strings.Contains(failure.Message, "secret") {
		t.Errorf("get with an unknown member: %v", err)
	}

	stream := events(t, process.URL)
	next(t, stream, "status", `"mode":"full"`)
	next(t, stream, "event", `"kind":"sidebar"`)
	if err := syscall.Kill(pluginPid(t, home), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	next(t, stream, "status", `"mode":"paused"`)
	next(t, stream, "status", `"mode":"full"`)
	next(t, stream, "event", `"kind":"sidebar"`)
	if second := awaitMode(t, process.URL, "full"); second.Epoch == first.Epoch {
		t.Error("the restarted plugin has the epoch of the first")
	}

	pid := pluginPid(t, home)
	process.Kill()
	awaitGone(t, pid)
}

// A session comes into being through the host channel, and its draft survives a
// restart of the host (invariants 1 and 13).
func TestDraftSurvivesSigterm(t *testing.T) {
	home := t.TempDir()
	process := start(t, home, prepare(t).bundle)
	awaitMode(t, process.URL, "full")
	var created struct {
		Workspace struct {
			ID string `json:"workspaceId"`
		} `json:"workspace"`
	}
	if err := dsh.Call(t.Context(), process.URL, "workspace.create", map[string]string{"path": t.TempDir()}, &created); err != nil {
		t.Fatal(err)
	}
	var draft struct {
		ID        string `json:"id"`
		SessionID string `json:"sessionId"`
		State     string `json:"state"`
	}
	request := map[string]any{
		"workspaceId": created.Workspace.ID, "currentSessionId": "", "recentWorkspaceId": "",
		"idempotencyKey": "key", "text": "unsent", "agentPresetId": "",
	}
	if err := dsh.Draft(t.Context(), process.URL, "newDraft", request, &draft); err != nil {
		t.Fatal(err)
	}
	if draft.State != "ready" || draft.SessionID == "" {
		t.Fatalf("new draft: %+v", draft)
	}
	var list struct {
		Items []struct {
			SessionID string `json:"sessionId"`
			Blank     bool   `json:"blank"`
		} `json:"items"`
	}
	if err := dsh.Call(t.Context(), process.URL, "session.list", struct{}{}, &list); err != nil {
		t.Fatal(err)
	}
	if len(list.Items) != 1 || list.Items[0].SessionID != draft.SessionID || !list.Items[0].Blank {
		t.Errorf("sessions %+v, want exactly the draft's, blank", list.Items)
	}

	pid := pluginPid(t, home)
	if err := process.Stop(); err != nil {
		t.Fatal(err)
	}
	awaitGone(t, pid)

	again := start(t, home)
	awaitMode(t, again.URL, "full")
	var kept struct {
		Text string `json:"text"`
	}
	if err := dsh.Draft(t.Context(), again.URL, "get", map[string]string{"draftId": draft.ID}, &kept); err != nil || kept.Text != "unsent" {
		t.Errorf("after the restart: %+v, %v", kept, err)
	}
	if log := hostLog(t, home); strings.Contains(log, "unsent") {
		t.Error("invariant 11: the log holds draft text")
	}
}

// Invariant 8: a plugin that cannot start leaves a stock DSH that says why.
func TestBrokenPluginMeansStock(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "broken")
	if err := os.WriteFile(binary, []byte("#!/bin/sh\necho 'last words' >&2\nexit 3\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	s := prepare(t)
	bundle := filepath.Join(t.TempDir(), "bundle")
	if err := s.tools.StageBinary(t.Context(), bundle, binary); err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	process := start(t, home, bundle)
	status := awaitMode(t, process.URL, "stock")
	if len(status.Reasons) != 1 || status.Reasons[0].Code != "PLUGIN_START_FAILED" || !strings.Contains(status.Reasons[0].Found, "last words") {
		t.Errorf("reasons %+v", status.Reasons)
	}
	var failure *dsh.APIError
	if err := dsh.Draft(t.Context(), process.URL, "sidebar", struct{}{}, nil); !errors.As(err, &failure) || failure.Code != "OPERATION_UNKNOWN" {
		t.Errorf("sidebar in stock mode: %v", err)
	}
	if err := dsh.Call(t.Context(), process.URL, "workspace.list", struct{}{}, nil); err != nil {
		t.Errorf("DSH itself: %v", err)
	}

	if err := process.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := s.tools.Uninstall(t.Context(), home); err != nil {
		t.Fatal(err)
	}
	stock := start(t, home)
	if err := dsh.Draft(t.Context(), stock.URL, "status", struct{}{}, nil); err == nil {
		t.Error("the removed bundle still answers")
	}
}

// A host in which the pinned package is not found is stock with the gate's reason.
func TestMissingPinMeansStock(t *testing.T) {
	s := prepare(t)
	bundle := filepath.Join(t.TempDir(), "bundle")
	if err := s.tools.StageBinary(t.Context(), bundle, filepath.Join(s.bundle, "bin", "draft-sessions")); err != nil {
		t.Fatal(err)
	}
	// The host half then reports a package that the gate's own pins do not name.
	raw := []byte(`{"schema":1,"hosts":{"dsh":{"pins":{"@deepseek-ai/dsh-client-ui-sidebar":"9.9.9"}}},"protocols":[1]}`)
	if err := os.WriteFile(filepath.Join(bundle, "compatibility.json"), raw, 0o644); err != nil {
		t.Fatal(err)
	}
	process := start(t, t.TempDir(), bundle)
	status := awaitMode(t, process.URL, "stock")
	if len(status.Reasons) == 0 || status.Reasons[0].Subject == "" || status.Reasons[0].Message == "" {
		encoded, _ := json.Marshal(status)
		t.Errorf("the gate gave no reason: %s", encoded)
	}
}
