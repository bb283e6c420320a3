package sessions

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/agent"
	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/eventlog"
	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/fault"
)

// One turn a session at a time; another session has its own.
func TestBusy(t *testing.T) {
	r := newRig(t)
	r.create("s1")
	r.create("s2")
	r.agent.run = func(ctx context.Context, turn agent.Turn, out agent.Output) (agent.Stop, error) {
		out.Text("so far")
		<-ctx.Done()
		return agent.Cancelled, nil
	}
	r.prompt("s1", "p1", "one")
	if _, err := r.Prompt(context.Background(), "s1", "p2", "two"); fault.CodeOf(err) != fault.AgentBusy {
		t.Errorf("%v", err)
	}
	if _, err := r.Submission("p2"); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("a refused prompt left a receipt: %v", err)
	}
	if _, err := r.Archive("s1"); fault.CodeOf(err) != fault.AgentBusy {
		t.Errorf("%v", err)
	}
	r.prompt("s2", "p3", "three")
	if _, err := r.Cancel("s1"); err != nil {
		t.Fatal(err)
	}
	r.await("p1", "cancelled")
	if sub, err := r.Submission("p3"); err != nil || sub.State != Running {
		t.Errorf("%+v, %v", sub, err)
	}
	r.agent.mu.Lock()
	r.agent.run = nil
	r.agent.mu.Unlock()
	r.prompt("s1", "p2", "two") // the id is still free
	r.await("p2", "completed")
	last := r.agent.ran()[2]
	if last.Prompt != "two" || !slices.Equal(last.History, []agent.Message{{Role: "user", Text: "one"}, {Role: "assistant", Text: "so far"}}) {
		t.Errorf("%+v", last)
	}
	r.Close() // ends the turn of s2
	r.open()
	if sub, err := r.Submission("p3"); err != nil || sub.State != "cancelled" {
		t.Errorf("%+v, %v", sub, err)
	}
}

// A turn that fails says why, without the words of anybody.
func TestFailedTurn(t *testing.T) {
	r := newRig(t)
	r.create("s1")
	r.agent.run = func(_ context.Context, _ agent.Turn, out agent.Output) (agent.Stop, error) {
		out.Thought("hm")
		out.Text("half an ans")
		return "", fault.Errorf(fault.AgentUnavailable, "the model went away")
	}
	r.prompt("s1", "p1", "hello")
	if sub := r.await("p1", "failed"); sub.Message != "the model went away" {
		t.Errorf("%+v", sub)
	}
	want := []string{Created, PromptReceived, UserMessage, AssistantThought, AssistantMessage, TurnEnded}
	if got := r.types("s1"); !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	if !bytes.Contains(r.bytes("s1"), []byte(`"text":"half an ans","partial":true`)) {
		t.Error("what it said before is not kept as partial")
	}
}

// What is streamed comes in order and whole, and what is kept is the same.
func TestStreaming(t *testing.T) {
	r := newRig(t)
	r.create("s1")
	step := make(chan struct{})
	r.agent.run = func(_ context.Context, _ agent.Turn, out agent.Output) (agent.Stop, error) {
		out.Text("one ")
		<-step
		out.Text("two")
		if err := out.Tool(agent.ToolCall{ID: "t", Title: "Reading"}); err != nil {
			return "", err
		}
		out.Text("three")
		return agent.Completed, nil
	}
	r.prompt("s1", "p1", "hello")
	r.until("a first piece", func() bool {
		live, _, err := r.Now("s1")
		return err == nil && live != nil && live.Text == "one " && live.Kind == "message"
	})
	close(step)
	r.await("p1", "completed")
	if live, requests, err := r.Now("s1"); live != nil || requests != nil || err != nil {
		t.Errorf("%v, %v, %v", live, requests, err)
	}
	want := []string{Created, PromptReceived, UserMessage, AssistantMessage, ToolCalled, AssistantMessage, TurnEnded}
	if got := r.types("s1"); !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	if !bytes.Contains(r.bytes("s1"), []byte(`"one two"`)) || !bytes.Contains(r.bytes("s1"), []byte(`"three"`)) {
		t.Errorf("%s", r.bytes("s1"))
	}
	r.watcher.mu.Lock()
	defer r.watcher.mu.Unlock()
	if first := r.watcher.live[0]; first.Text != "one " || first.Whole != "one " || first.Session != "s1" {
		t.Errorf("%+v", first)
	}
	logged := slices.Clone(r.watcher.logged["s1"])
	if !slices.IsSortedFunc(logged, func(a, b eventlog.Event) int { return int(a.Seq - b.Seq) }) || len(logged) != len(want) {
		t.Errorf("%v", logged)
	}
}

var errAnswer = errors.New("the agent was answered otherwise")

// A request is answered once, by a person; a cancel dismisses it.
func TestPermissions(t *testing.T) {
	r := newRig(t)
	options := []agent.PermissionOption{{ID: "y", Name: "Yes", Kind: "allow_once"}, {ID: "n", Name: "No", Kind: "reject_once"}}
	want := make(chan string, 4)
	r.agent.run = func(ctx context.Context, _ agent.Turn, out agent.Output) (agent.Stop, error) {
		got, err := out.Ask(ctx, agent.PermissionRequest{ToolCallID: "t", Title: "May I?", Options: options})
		if expected := <-want; got != expected || (err != nil) != (expected == "") {
			return "", fmt.Errorf("%w: %q, %v", errAnswer, got, err)
		}
		return agent.Completed, nil
	}
	open := func(session string) string {
		var id string
		r.until("a request", func() bool {
			_, requests, err := r.Now(session)
			if err == nil && len(requests) == 1 {
				id = requests[0].RequestID
			}
			return id != ""
		})
		return id
	}
	r.create("s1")
	for i, answer := range []string{"y", "n", ""} {
		want <- answer
		id := fmt.Sprint("p", i)
		r.prompt("s1", id, "go")
		request := open("s1")
		if s, err := r.Get("s1"); err != nil || !s.Waiting {
			t.Errorf("%+v, %v", s, err)
		}
		if err := r.Answer("s1", request, "other"); fault.CodeOf(err) != fault.BadRequest {
			t.Errorf("%v", err)
		}
		if err := r.Answer("s1", request, answer); err != nil {
			t.Error(err)
		}
		if err := r.Answer("s1", request, "y"); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("answered twice: %v", err)
		}
		r.await(id, "completed")
	}
	want <- ""
	r.prompt("s1", "p9", "go")
	open("s1")
	if _, err := r.Cancel("s1"); err != nil {
		t.Fatal(err)
	}
	r.await("p9", "completed") // this agent goes on without the permission
	for permission, answer := range map[string]string{agent.PermissionAllow: "y", agent.PermissionReject: "n"} {
		if _, err := r.Create(Creation{ID: permission, Path: "/project", Permission: permission}); err != nil {
			t.Fatal(err)
		}
		want <- answer
		r.prompt(permission, "p"+permission, "go")
		r.await("p"+permission, "completed")
		if !bytes.Contains(r.bytes(permission), []byte(`"by":"preset"`)) {
			t.Errorf("%s", r.bytes(permission))
		}
	}
}

// What an agent leaves for itself comes back with the next turn, also after a restart.
func TestAgentState(t *testing.T) {
	r := newRig(t)
	r.create("s1")
	r.agent.run = func(_ context.Context, turn agent.Turn, out agent.Output) (agent.Stop, error) {
		return agent.Completed, out.Remember([]byte(fmt.Sprintf(`{"turns":%d}`, len(turn.History)+1)))
	}
	r.prompt("s1", "p1", "one")
	r.await("p1", "completed")
	r.restart()
	r.prompt("s1", "p2", "two")
	r.await("p2", "completed")
	if ran := r.agent.ran(); ran[0].State != nil || string(ran[1].State) != `{"turns":1}` {
		t.Errorf("%s, %s", ran[0].State, ran[1].State)
	}
}

// The client that goes away leaves no half-admitted prompt.
func TestSenderThatGoesAway(t *testing.T) {
	r := newRig(t)
	r.create("s1")
	ctx, cancel := context.WithCancel(context.Background())
	r.plugin.before = func(_, _, _ string) error { cancel(); return nil }
	if _, err := r.Prompt(ctx, "s1", "p1", "hello"); err != nil {
		t.Fatal(err)
	}
	r.await("p1", "completed")
}
