package sessions_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/draft-sessions/dsh-draft-sessions/plugin/drafts"
	"github.com/draft-sessions/dsh-draft-sessions/plugin/sessions"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

func (w *world) dispatch(s sessions.Submission) (sessions.SendResult, error) {
	ctx, cancel := context.WithTimeout(w.ctx(), time.Minute)
	defer cancel()
	return w.manager.Send(ctx, s)
}

func (w *world) refuses(what string, s sessions.Submission, code shared.Code) {
	w.t.Helper()
	if r, err := w.dispatch(s); shared.CodeOf(err) != code {
		w.t.Errorf("%s: %+v, %v, not %s", what, r, err, code)
	}
}

func TestSendFromATerminal(t *testing.T) { // invariant 2
	w := newWorld(t)
	unbound, err := w.store.Create(w.ctx(), drafts.CreateParams{WorkspaceID: "folder:/p/one", WorkspacePath: "/p/one", Text: " task \n"})
	if err != nil {
		t.Fatal(err)
	}
	r, err := w.dispatch(sessions.Submission{DraftID: unbound.ID, ID: "s1"})
	if err != nil || r.State != sessions.Sent || r.SubmissionID != "s1" || r.SessionID == "" || r.At == 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	if !w.gone(unbound.ID) || len(w.host.flushed) == 0 {
		t.Error("the draft is still there, or was given up before its proof was flushed")
	}
	if again, err := w.dispatch(sessions.Submission{DraftID: unbound.ID, ID: "s1"}); err != nil || again != r {
		t.Errorf("asked again: %+v, %v", again, err)
	}
	if again, err := w.manager.SendStatus(w.ctx(), unbound.ID); err != nil || again != r {
		t.Errorf("status: %+v, %v", again, err)
	}
	if sent := w.host.sent(); len(sent) != 1 || sent[0].Text != " task \n" || sent[0].PromptId != "s1" {
		t.Errorf("prompts %v", sent)
	}
	w.refuses("another draft under the same id", sessions.Submission{DraftID: w.newDraft("other").ID, ID: "s1"}, shared.DraftInvalidInput)
}

// The same submission from many terminals at once, and others beside it: once.
func TestOneOfManySends(t *testing.T) {
	w := newWorld(t)
	rec := w.newDraft("task")
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			id := "same"
			if i%4 == 3 {
				id = "" // of its own choice: it joins, is refused, or finds it sent
			}
			r, err := w.dispatch(sessions.Submission{DraftID: rec.ID, ID: id})
			if err == nil && r.State != sessions.Sent {
				t.Errorf("%+v", r)
			}
			if err != nil && shared.CodeOf(err) != shared.OperationConflict && shared.CodeOf(err) != shared.DraftNotFound {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if sent := w.host.sent(); len(sent) != 1 {
		t.Errorf("%d prompts", len(sent))
	}
}

// The command is killed after its prompt was handed over: run again it joins.
// All who send under one id at once are told the same: it was sent, once.
func TestSameSubmissionAtOnce(t *testing.T) {
	w := newWorld(t)
	rec := w.newDraft("task")
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if r, err := w.dispatch(sessions.Submission{DraftID: rec.ID, ID: "same"}); err != nil || r.State != sessions.Sent || r.SubmissionID != "same" {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
	all.Wait()
	if sent := w.host.sent(); len(sent) != 1 {
		t.Errorf("sent %d times", len(sent))
	}
}

func TestSendIsJoinedByTheNext(t *testing.T) {
	w := newWorld(t)
	w.host.arrange(func(h *fakeHost) { h.mute = true })
	rec := w.newDraft("task")
	killed, cancel := context.WithCancel(w.ctx())
	ended := make(chan sessions.SendResult)
	go func() {
		r, _ := w.manager.Send(killed, sessions.Submission{DraftID: rec.ID})
		ended <- r
	}()
	w.eventually("the prompt is there", func() bool { return len(w.host.sent()) == 1 })
	cancel()
	if r := <-ended; r.State != sessions.Sending || r.SubmissionID != w.host.sent()[0].PromptId {
		t.Errorf("the killed one says %+v", r)
	}
	w.restart() // of the plugin; the host lives on
	w.refuses("another id", sessions.Submission{DraftID: rec.ID, ID: "mine"}, shared.OperationConflict)
	go func() {
		r, err := w.dispatch(sessions.Submission{DraftID: rec.ID})
		if err != nil {
			t.Error(err)
		}
		ended <- r
	}()
	w.host.say(*rec.SessionID, w.host.sent()[0].PromptId)
	if r := <-ended; r.State != sessions.Sent {
		t.Errorf("%+v", r)
	}
	if len(w.host.sent()) != 1 {
		t.Error("it was sent twice")
	}
}

// A command that is killed when its submission is on disk already interrupts
// nothing: the prompt goes out, and the draft with its proof.
func TestACallerThatGoesInterruptsNothing(t *testing.T) {
	w := newWorld(t)
	rec := w.newDraft("task")
	killed, cancel := context.WithCancel(w.ctx())
	w.host.arrange(func(h *fakeHost) {
		h.before = func(method string) error {
			if method == "SendPrompt" {
				cancel()
			}
			return nil
		}
	})
	_, _ = w.manager.Send(killed, sessions.Submission{DraftID: rec.ID}) // Nobody is there to hear the answer.
	w.eventually("the draft is converted", func() bool { return w.gone(rec.ID) })
	if len(w.host.sent()) != 1 {
		t.Errorf("%d prompts", len(w.host.sent()))
	}
}

// Invariant 10: a send whose outcome is unknown is repeated only when somebody says so.
func TestUnknownOutcomeIsNotRepeated(t *testing.T) {
	w := newWorld(t)
	w.host.arrange(func(h *fakeHost) { h.mute = true })
	rec := w.newDraft("task")
	w.host.arrange(func(h *fakeHost) {
		h.before = func(method string) error {
			if method == "SendPrompt" {
				defer w.host.restart()
				return shared.Errorf(shared.OperationUnknown, "the host went away")
			}
			return nil
		}
	})
	w.refuses("the host went away", sessions.Submission{DraftID: rec.ID, ID: "s1"}, shared.OperationUnknown)
	w.host.arrange(func(h *fakeHost) { h.before = nil })
	w.refuses("sent again", sessions.Submission{DraftID: rec.ID}, shared.OperationUnknown)
	w.refuses("sent again under its id", sessions.Submission{DraftID: rec.ID, ID: "s1", Again: true}, shared.OperationUnknown)
	if r, err := w.manager.SendStatus(w.ctx(), rec.ID); err != nil || r.State != sessions.Unknown || r.SubmissionID != "s1" {
		t.Errorf("status %+v, %v", r, err)
	}
	// The host lost the session with it, and makes it again.
	w.host.lose(*rec.SessionID)
	if again, recreated, err := w.manager.Bind(w.ctx(), rec.ID); err != nil || !recreated || *again.SessionID != *rec.SessionID {
		t.Fatalf("%+v, %v, %v", again, recreated, err)
	}
	w.refuses("sent again into the session made again", sessions.Submission{DraftID: rec.ID}, shared.OperationUnknown)
	if got := w.get(rec.ID); got.Text != "task" || len(w.host.sent()) != 0 {
		t.Fatalf("%+v, prompts %v", got, w.host.sent())
	}
	w.host.arrange(func(h *fakeHost) { h.mute = false })
	if r, err := w.dispatch(sessions.Submission{DraftID: rec.ID, Again: true}); err != nil || r.State != sessions.Sent || r.SubmissionID == "s1" {
		t.Errorf("said to send again: %+v, %v", r, err)
	}
}

// A message that never comes becomes an unknown outcome, not an endless wait.
func TestAcceptedAndNeverWritten(t *testing.T) {
	w := newWorld(t)
	w.host.arrange(func(h *fakeHost) { h.mute = true })
	rec := w.newDraft("task")
	w.eventually("bound", func() bool { return w.get(rec.ID).State == shared.StateReady })
	done := make(chan error, 1)
	go func() {
		_, err := w.dispatch(sessions.Submission{DraftID: rec.ID})
		done <- err
	}()
	w.eventually("the prompt is there", func() bool { return len(w.host.sent()) == 1 })
	w.late.Store(int64(time.Hour))
	if err := <-done; shared.CodeOf(err) != shared.OperationUnknown {
		t.Error(err)
	}
}

func TestRefusedSendLeavesTheDraft(t *testing.T) {
	w := newWorld(t)
	rec := w.newDraft("task")
	w.host.arrange(func(h *fakeHost) {
		h.before = func(method string) error {
			if method == "SendPrompt" {
				return refused("agent-busy", "not now")
			}
			return nil
		}
	})
	_, err := w.dispatch(sessions.Submission{DraftID: rec.ID, ID: "s1"})
	var refusal *sessions.HostError
	if !errors.As(err, &refusal) || refusal.HostCode != "agent-busy" || shared.CodeOf(err) != shared.SessionUnavailable {
		t.Fatal(err)
	}
	if got := w.get(rec.ID); got.State != shared.StateReady || got.Operation != nil || got.Text != "task" {
		t.Errorf("%+v", got)
	}
	if r, err := w.manager.SendStatus(w.ctx(), rec.ID); err != nil || r.State != sessions.NotSent {
		t.Errorf("%+v, %v", r, err)
	}
	w.host.arrange(func(h *fakeHost) { h.before = nil })
	if r, err := w.dispatch(sessions.Submission{DraftID: rec.ID, ID: "s1"}); err != nil || r.State != sessions.Sent {
		t.Errorf("once more: %+v, %v", r, err)
	}
}

func TestWhatIsNotSent(t *testing.T) {
	w := newWorld(t)
	w.refuses("no such draft", sessions.Submission{DraftID: "none"}, shared.DraftNotFound)
	w.refuses("empty", sessions.Submission{DraftID: w.newDraft(" \n").ID}, shared.DraftInvalidInput)
	command := w.newDraft("/plan the work")
	w.refuses("a command", sessions.Submission{DraftID: command.ID}, shared.DraftInvalidInput)
	seen := w.newDraft("seen")
	w.refuses("another text", sessions.Submission{DraftID: seen.ID, ExpectedTextRevision: 7}, shared.DraftStaleRevision)
	attached := w.newDraft("with an image")
	if _, err := w.store.Modify(w.ctx(), attached.ID, func(d *shared.DraftRecord) error {
		d.Content = &shared.Content{Attachments: []byte(`[{"id":"a"}]`)}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	w.refuses("attachments", sessions.Submission{DraftID: attached.ID}, shared.DraftInvalidInput)
	if len(w.host.sent()) != 0 {
		t.Fatalf("sent all the same: %v", w.host.sent())
	}
	if r, err := w.dispatch(sessions.Submission{DraftID: command.ID, Verbatim: true}); err != nil || r.State != sessions.Sent {
		t.Errorf("verbatim: %+v, %v", r, err)
	}
	if r, err := w.dispatch(sessions.Submission{DraftID: w.newDraft("/etc/hosts is wrong").ID}); err != nil || r.State != sessions.Sent {
		t.Errorf("a path: %+v, %v", r, err)
	}
}

func TestRelocate(t *testing.T) {
	w := newWorld(t)
	rec := w.newDraft("task")
	old := *rec.SessionID
	moved, err := w.manager.Relocate(w.ctx(), rec.ID, "", "/p/two")
	if err != nil || moved.WorkspaceID != "w2" || moved.SessionID == nil || *moved.SessionID == old {
		t.Fatalf("%+v, %v", moved, err)
	}
	if _, err := w.manager.Relocate(w.ctx(), rec.ID, "", "/nowhere"); shared.CodeOf(err) != shared.DraftInvalidInput {
		t.Error(err)
	}
	// Without a host the draft is unbound in its new place.
	w.host.arrange(func(h *fakeHost) {
		h.before = func(string) error { return shared.Errorf(shared.SessionUnavailable, "no host is connected") }
		h.instance = ""
	})
	moved, err = w.manager.Relocate(w.ctx(), rec.ID, "folder:/p/three", "/p/three")
	if err != nil || moved.SessionID != nil || moved.WorkspacePath != "/p/three" || moved.State != shared.StateDraft {
		t.Fatalf("%+v, %v", moved, err)
	}
	if _, err := w.store.Modify(w.ctx(), rec.ID, func(d *shared.DraftRecord) error {
		d.Operation = &shared.Operation{Kind: "prompt", ID: "p", SessionID: "s", TextHash: "h"}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.manager.Relocate(w.ctx(), rec.ID, "w1", "/p/one"); shared.CodeOf(err) != shared.OperationConflict {
		t.Error(err)
	}
}
