package sessions

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/fault"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// The same submission id from 20 clients at once runs once, and all are told the same.
func TestOneSubmissionRunsOnce(t *testing.T) {
	r := newRig(t)
	r.create("s1")
	var wait sync.WaitGroup
	for range 20 {
		wait.Go(func() {
			sub, err := r.Prompt(context.Background(), "s1", "p1", "hello")
			if err != nil || sub.Seq != 3 || sub.SessionID != "s1" {
				t.Errorf("%+v, %v", sub, err)
			}
		})
	}
	wait.Wait()
	r.await("p1", "completed")
	if sub := r.prompt("s1", "p1", "hello"); sub.State != "completed" {
		t.Errorf("%+v", sub)
	}
	if ran := r.agent.ran(); len(ran) != 1 {
		t.Errorf("it ran %d times", len(ran))
	}
	want := []string{Created, PromptReceived, UserMessage, AssistantMessage, TurnEnded}
	if got := r.types("s1"); !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	r.restart()
	if sub := r.prompt("s1", "p1", "hello"); sub.State != "completed" || len(r.agent.ran()) != 1 {
		t.Errorf("after a restart: %+v, ran %d times", sub, len(r.agent.ran()))
	}
}

// An id that was used is not taken for another prompt, here or elsewhere.
func TestSubmissionIDsAreOneOfAKind(t *testing.T) {
	r := newRig(t)
	r.create("s1")
	r.create("s2")
	r.prompt("s1", "p1", "hello")
	r.await("p1", "completed")
	for range 2 {
		if _, err := r.Prompt(context.Background(), "s2", "p1", "hello"); fault.CodeOf(err) != fault.SubmissionConflict {
			t.Errorf("%v", err)
		}
		if _, err := r.Prompt(context.Background(), "s1", "p1", "other"); fault.CodeOf(err) != fault.SubmissionConflict {
			t.Errorf("%v", err)
		}
		r.restart()
	}
	if len(r.agent.ran()) != 1 {
		t.Errorf("%d turns ran", len(r.agent.ran()))
	}
}

func TestPromptsThatAreNone(t *testing.T) {
	r := newRig(t)
	r.create("s1")
	for name, test := range map[string]struct {
		session, id, text string
		want              fault.Code
	}{
		"no session":  {"s2", "p", "x", fault.NotFound},
		"blank":       {"s1", "p", " \n", fault.BadRequest},
		"no id":       {"s1", "", "x", fault.BadRequest},
		"an odd id":   {"s1", "a/b", "x", fault.BadRequest},
		"not Unicode": {"s1", "p", "\xff", fault.BadRequest},
		"too large":   {"s1", "p", strings.Repeat("x", MaxPromptBytes+1), fault.TooLarge},
	} {
		if _, err := r.Prompt(context.Background(), test.session, test.id, test.text); fault.CodeOf(err) != test.want {
			t.Errorf("%s: %v, want %s", name, err, test.want)
		}
	}
	if got := r.types("s1"); len(got) != 1 {
		t.Errorf("%v", got)
	}
}

// Invariants 2 and 10: wherever a crash cuts the log, what the prompt became is
// known or said to be unknown; only a prompt that certainly did not run may be
// repeated, and never by itself.
func TestCrashAtEveryEvent(t *testing.T) {
	first := newRig(t)
	first.create("s1")
	first.prompt("s1", "p1", "hello")
	first.await("p1", "completed")
	first.Close()
	lines := bytes.SplitAfter(first.bytes("s1"), []byte("\n"))
	for _, test := range []struct {
		kept  int
		state SubmissionState
		reRun bool
	}{
		{1, "", true}, {2, Received, true}, {3, "unknown", false}, {4, "unknown", false}, {5, "completed", false},
	} {
		for _, torn := range []bool{false, true} {
			r := newRig(t)
			r.Close()
			data := bytes.Join(lines[:test.kept], nil)
			if torn && test.kept < 5 {
				data = append(data, lines[test.kept][:len(lines[test.kept])-1]...)
			}
			if err := os.WriteFile(r.file("s1"), data, 0o600); err != nil {
				t.Fatal(err)
			}
			r.open()
			name := fmt.Sprint(test.kept, " events, torn ", torn)
			sub, err := r.Submission("p1")
			if sub.State != test.state || (err == nil) != (test.state != "") {
				t.Fatalf("%s: %+v, %v; want %q", name, sub, err, test.state)
			}
			s, err := r.Get("s1")
			if err != nil || s.Unknown != (test.state == "unknown") || s.Running || s.Damaged != "" {
				t.Fatalf("%s: %+v, %v", name, s, err)
			}
			if ran := r.agent.ran(); len(ran) != 0 {
				t.Fatalf("%s: it ran by itself", name)
			}
			again := r.prompt("s1", "p1", "hello")
			if test.reRun {
				r.await("p1", "completed")
			} else if again.State != test.state || len(r.agent.ran()) != 0 {
				t.Fatalf("%s: repeated: %+v, ran %d times", name, again, len(r.agent.ran()))
			}
			// "Send again" is another id, and always runs.
			r.prompt("s1", "p2", "hello")
			r.await("p2", "completed")
			want := 1
			if test.reRun {
				want = 2
			}
			if ran := r.agent.ran(); len(ran) != want {
				t.Fatalf("%s: %d turns ran, want %d", name, len(ran), want)
			}
			r.restart()
			if s, err := r.Get("s1"); err != nil || s.Damaged != "" || s.Unknown {
				t.Fatalf("%s: the log does not open again: %+v, %v", name, s, err)
			}
		}
	}
}

// Invariant 2: what the plugin reads as the proof is the user message on disk.
func TestProofIsTheUserMessage(t *testing.T) {
	r := newRig(t)
	r.create("s1")
	asked := make(chan []Proof, 1)
	r.plugin.before = func(sessionID, submissionID, text string) error {
		proofs, _, err := r.Proofs(sessionID)
		asked <- proofs
		return err
	}
	r.prompt("s1", "p1", "hello")
	if proofs := <-asked; len(proofs) != 0 {
		t.Errorf("there is a proof before the prompt was admitted: %v", proofs)
	}
	want := []Proof{{3, "p1"}}
	if proofs, _, err := r.Proofs("s1"); err != nil || !slices.Equal(proofs, want) {
		t.Errorf("%v, %v", proofs, err)
	}
	r.until("the plugin being told", func() bool { return slices.Equal(r.plugin.told(), []string{"p1 true"}) })
	if err := r.Sync("s1"); err != nil {
		t.Error(err)
	}
	if !bytes.Contains(r.bytes("s1"), []byte(`"submissionId":"p1","text":"hello"`)) {
		t.Error("it is not on disk")
	}
}

// A prompt that the plugin refuses does not run; the sender may try again.
func TestRefusedPrompt(t *testing.T) {
	r := newRig(t)
	r.create("s1")
	r.plugin.before = func(_, _, _ string) error {
		return shared.Errorf(shared.OperationConflict, "This draft is already being sent.")
	}
	if _, err := r.Prompt(context.Background(), "s1", "p1", "hello"); shared.CodeOf(err) != shared.OperationConflict {
		t.Fatalf("%v", err)
	}
	if got := r.types("s1"); !slices.Equal(got, []string{Created, PromptReceived, PromptRefused}) || len(r.agent.ran()) != 0 {
		t.Errorf("%v, ran %d times", got, len(r.agent.ran()))
	}
	if s, err := r.Get("s1"); err != nil || !s.Blank || s.Running {
		t.Errorf("%+v, %v", s, err)
	}
	r.plugin.before = nil
	r.prompt("s1", "p1", "hello")
	r.await("p1", "completed")
	if len(r.agent.ran()) != 1 {
		t.Errorf("ran %d times", len(r.agent.ran()))
	}
}

// A message that does not get on disk is not sent: nothing runs, and the sender
// and the plugin are told.
func TestUserMessageThatIsNotSaved(t *testing.T) {
	r := newRig(t)
	r.create("s1")
	r.plugin.before = func(_, _, _ string) error { return os.Rename(r.file("s1"), r.file("s1")+".away") }
	if _, err := r.Prompt(context.Background(), "s1", "p1", "hello"); fault.CodeOf(err) != fault.Storage {
		t.Fatalf("%v", err)
	}
	if len(r.agent.ran()) != 0 {
		t.Error("it ran all the same")
	}
	r.until("the plugin being told", func() bool { return slices.Equal(r.plugin.told(), []string{"p1 false"}) })
	r.plugin.before = nil
	if err := os.Rename(r.file("s1")+".away", r.file("s1")); err != nil {
		t.Fatal(err)
	}
	r.prompt("s1", "p1", "hello")
	r.await("p1", "completed")
}
