package acp

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/agent"
	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/agent/agenttest"
	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/fault"
)

const isProgram = "ACP_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(isProgram) != "" {
		serve()
		return
	}
	goleak.VerifyTestMain(m)
}

// patience bounds every wait of these tests; it is only ever spent by a failure.
const patience = 30 * time.Second

// start makes an agent whose program is this test binary.
func start(t *testing.T, env ...string) *ACP {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	a, err := New(Config{Command: []string{self}, Env: append(env, isProgram+"=1")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	return a
}

func run(t *testing.T, a *ACP, turn agent.Turn) (*agenttest.Output, agent.Stop, error) {
	t.Helper()
	out := &agenttest.Output{}
	stop, err := runWith(t, a, turn, out)
	return out, stop, err
}

func runWith(t *testing.T, a *ACP, turn agent.Turn, out *agenttest.Output) (agent.Stop, error) {
	t.Helper()
	if turn.Folder == "" {
		turn.Folder = "/"
	}
	if turn.SessionID == "" {
		turn.SessionID = "s"
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	stop, err := a.Run(ctx, turn, out)
	if ctx.Err() != nil {
		t.Fatal("the turn did not end")
	}
	return stop, err
}

func (a *ACP) pid(t *testing.T) int {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.process == nil {
		t.Fatal("no program runs")
	}
	return a.process.cmd.Process.Pid
}

// gone waits until a process does not exist any more.
func gone(t *testing.T, pid int) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		// A process that nobody awaited yet (its parent is gone) counts as ended.
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if syscall.Kill(pid, 0) != nil || err == nil && strings.Contains(string(stat), ") Z ") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("process %d lives on", pid)
		}
	}
}

func TestATurnWithEverything(t *testing.T) {
	a := start(t)
	out, stop, err := run(t, a, agent.Turn{Prompt: "work"})
	if err != nil || stop != agent.Truncated {
		t.Fatalf("%s, %v", stop, err)
	}
	if text, thought := out.Texts(); text != "chose y" || thought != "thinking" {
		t.Errorf("%q, %q", text, thought)
	}
	if plans := out.Plans(); len(plans) != 1 || plans[0][0] != (agent.PlanEntry{Text: "look", Priority: "high", Status: "pending"}) {
		t.Errorf("%+v", plans)
	}
	tools := out.Tools()
	if len(tools) != 2 || tools[0].Status != "pending" {
		t.Fatalf("%+v", tools)
	}
	last := tools[1]
	if last.ID != "t1" || last.Title != "Reading" || last.Kind != "read" || last.Status != "completed" || last.Input != `{"path":"/a"}` ||
		len(last.Locations) != 1 || last.Locations[0] != (agent.Location{Path: "/a", Line: 7}) ||
		len(last.Content) != 2 || last.Content[0] != (agent.ToolContent{Type: "text", Text: "found"}) || last.Content[1] != (agent.ToolContent{Type: "diff", Path: "/a", OldText: "old", NewText: "new"}) {
		t.Errorf("%+v", last)
	}
	if requests := out.Requests(); len(requests) != 1 || requests[0].Title != "Reading" || requests[0].Options[1] != (agent.PermissionOption{ID: "n", Name: "No", Kind: "reject_once"}) {
		t.Errorf("%+v", requests)
	}
	dismissing := &agenttest.Output{Answer: func(context.Context, agent.PermissionRequest) (string, error) { return "", agent.ErrCancelled }}
	if _, err := runWith(t, a, agent.Turn{Prompt: "work"}, dismissing); err != nil {
		t.Fatal(err)
	}
	if text, _ := dismissing.Texts(); text != "dismissed" {
		t.Errorf("%q", text)
	}
}

// One program serves all sessions; each has a conversation and a mode of its own choice.
func TestModesAndSessions(t *testing.T) {
	a := start(t)
	out, _, err := run(t, a, agent.Turn{Prompt: "hello", SessionID: "one", Preset: a.id + "/default"})
	if text, _ := out.Texts(); err != nil || text != "calm: hello" {
		t.Fatalf("%q, %v", text, err)
	}
	pid := a.pid(t)
	d := a.Describe()
	if len(d.Presets) != 3 || d.Presets[2].ID != a.id+"/bold" || d.DefaultPermission != agent.PermissionAsk {
		t.Errorf("%+v", d)
	}
	out, _, err = run(t, a, agent.Turn{Prompt: "hello", SessionID: "two", Preset: a.id + "/bold"})
	if text, _ := out.Texts(); err != nil || text != "bold: hello" || a.pid(t) != pid {
		t.Errorf("%q, %v", text, err)
	}
	var wait sync.WaitGroup
	for _, session := range []string{"one", "two", "three", "four"} {
		wait.Go(func() {
			out, _, err := run(t, a, agent.Turn{Prompt: session, SessionID: session})
			if text, _ := out.Texts(); err != nil || !strings.HasSuffix(text, ": "+session) {
				t.Errorf("%s: %q, %v", session, text, err)
			}
		})
	}
	wait.Wait()
	a.Forget("one")
	if out, _, err := run(t, a, agent.Turn{Prompt: "x", SessionID: "one", History: []agent.Message{{Role: "user", Text: "old"}}}); err != nil || len(out.Notices()) != 1 {
		t.Errorf("%v, %v", out.Notices(), err)
	}
}

// A program that dies fails its turn with a reason, keeps what it said, and is
// started again by the next prompt. It is not asked again by itself.
func TestDeath(t *testing.T) {
	a := start(t)
	out, _, err := run(t, a, agent.Turn{Prompt: "die secret"})
	if fault.CodeOf(err) != fault.AgentUnavailable || !strings.Contains(err.Error(), "exit status 3") || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
	if text, _ := out.Texts(); text != "dying" {
		t.Errorf("%q", text)
	}
	out, stop, err := run(t, a, agent.Turn{Prompt: "hello", History: []agent.Message{{Role: "user", Text: "die"}}, State: out.State()})
	if text, _ := out.Texts(); err != nil || stop != agent.Completed || text != "calm: hello" {
		t.Errorf("%q, %s, %v", text, stop, err)
	}
	if notices := out.Notices(); len(notices) != 1 || notices[0] != "agent-forgot" {
		t.Errorf("%v", notices)
	}
	a.mu.Lock()
	p := a.process
	a.mu.Unlock()
	p.kill()
	<-p.exited
	if out, _, err := run(t, a, agent.Turn{Prompt: "again"}); err != nil {
		text, _ := out.Texts()
		t.Errorf("%q, %v", text, err)
	}
}

// A program that can load goes on with its conversation after a restart; what it
// tells again of the history is not said twice.
func TestLoad(t *testing.T) {
	first := start(t, "LOADS=1")
	out, _, err := run(t, first, agent.Turn{Prompt: "hello"})
	if err != nil || out.State() == nil {
		t.Fatalf("%s, %v", out.State(), err)
	}
	second := start(t, "LOADS=1")
	again, _, err := run(t, second, agent.Turn{Prompt: "more", State: out.State(), History: []agent.Message{{Role: "user", Text: "hello"}}})
	if text, _ := again.Texts(); err != nil || text != "calm: more" || len(again.Notices()) != 0 {
		t.Errorf("%q, %v, %v", text, again.Notices(), err)
	}
}

// Invariant 11: a refusal is told without the program's words.
func TestRefusal(t *testing.T) {
	a := start(t)
	_, _, err := run(t, a, agent.Turn{Prompt: "refuse secret"})
	if fault.CodeOf(err) != fault.AgentUnavailable || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
	if _, _, err := run(t, a, agent.Turn{Prompt: "hello"}); err != nil {
		t.Errorf("the program is of no use after it: %v", err)
	}
}

func TestCancel(t *testing.T) {
	a := start(t)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	out := &agenttest.Output{Said: func(string) { cancel() }}
	stop, err := a.Run(ctx, agent.Turn{Prompt: "wait", SessionID: "s", Folder: "/"}, out)
	if err != nil || stop != agent.Cancelled || !errors.Is(ctx.Err(), context.Canceled) {
		t.Errorf("%s, %v", stop, err)
	}
	if text, _ := out.Texts(); text != "waiting no more" {
		t.Errorf("%q", text)
	}
	if _, _, err := run(t, a, agent.Turn{Prompt: "hello"}); err != nil {
		t.Error(err)
	}
}

// Invariant 9: a program that hears no cancel is killed, with what it started.
func TestDeafProgramIsKilled(t *testing.T) {
	a := start(t)
	a.patience = time.Millisecond
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	stop, err := a.Run(ctx, agent.Turn{Prompt: "deaf", SessionID: "s", Folder: "/"}, &agenttest.Output{Said: func(string) { cancel() }})
	if err != nil || stop != agent.Cancelled {
		t.Errorf("%s, %v", stop, err)
	}
	if _, _, err := run(t, a, agent.Turn{Prompt: "hello"}); err != nil {
		t.Error(err)
	}
}

// Invariant 9: nothing outlives Close, not even what the program started or a
// program that goes on after the end of its input.
func TestCloseEndsAll(t *testing.T) {
	a := start(t, "STUBBORN=1")
	out, _, err := run(t, a, agent.Turn{Prompt: "child"})
	if err != nil {
		t.Fatal(err)
	}
	text, _ := out.Texts()
	child, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	pid := a.pid(t)
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	gone(t, pid)
	gone(t, child)
	if _, err := a.Run(context.Background(), agent.Turn{Prompt: "x", SessionID: "s", Folder: "/"}, &agenttest.Output{}); fault.CodeOf(err) != fault.AgentUnavailable {
		t.Errorf("%v", err)
	}
}

func TestProgramsThatCannotServe(t *testing.T) {
	none, err := New(Config{Command: []string{filepath.Join(t.TempDir(), "none")}})
	if err != nil {
		t.Fatal(err)
	}
	defer none.Close()
	other, err := New(Config{Command: []string{"true"}})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	for name, test := range map[string]struct {
		a    *ACP
		want string
	}{
		"no such program": {none, "cannot be started"},
		"another program": {other, "ended (exit status 0)"},
		"a later version": {start(t, "FUTURE=1"), "version 99"},
	} {
		if _, _, err := run(t, test.a, agent.Turn{Prompt: "x"}); fault.CodeOf(err) != fault.AgentUnavailable || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := New(Config{}); fault.CodeOf(err) != fault.BadRequest {
		t.Errorf("%v", err)
	}
}

// The SDK's own example agent, as it is.
func TestExampleAgent(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "agent")
	build := exec.Command("go", "build", "-o", binary, "github.com/coder/acp-go-sdk/example/agent")
	if message, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, message)
	}
	a, err := New(Config{Command: []string{binary}})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	out, stop, err := run(t, a, agent.Turn{Prompt: "Hello"})
	text, _ := out.Texts()
	if err != nil || stop != agent.Completed || !strings.Contains(text, "Perfect!") || len(out.Requests()) != 1 {
		t.Errorf("%s, %v, %q", stop, err, text)
	}
}
