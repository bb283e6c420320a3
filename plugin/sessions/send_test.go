package sessions_test

import (
	"testing"

	"github.com/draft-sessions/dsh-draft-sessions/plugin/composer"
	"github.com/draft-sessions/dsh-draft-sessions/plugin/drafts"
	"github.com/draft-sessions/dsh-draft-sessions/plugin/sessions"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
	pb "github.com/draft-sessions/dsh-draft-sessions/shared/proto/draftsessionsv1"
)

type createCall = pb.CreateSession

func (w *world) send(rec shared.DraftRecord, promptID, text string) sessions.Admission {
	return w.manager.BeforePrompt(w.ctx(), sessions.Prompt{SessionID: *rec.SessionID, PromptID: promptID, Text: text})
}

func (w *world) gone(id string) bool {
	_, err := w.store.Get(id)
	return shared.CodeOf(err) == shared.DraftNotFound
}

// Invariant 2: acceptance proves nothing, the message with our id does, and it
// is flushed before the text goes.
func TestTextGoesOnProofOnly(t *testing.T) {
	w := newWorld(t)
	rec := w.newDraft("task")
	if a := w.send(rec, "p1", "task"); a.Refuse || a.DraftID != rec.ID {
		t.Fatalf("%+v", a)
	}
	if got := w.get(rec.ID); got.State != shared.StateConverting || got.Operation == nil || got.Operation.ID != "p1" {
		t.Fatalf("the id is not on disk before the prompt is admitted: %+v", got)
	}
	w.manager.AfterPrompt(w.ctx(), *rec.SessionID, "p1", true)
	if _, err := w.manager.Reconcile(w.ctx(), ""); err != nil {
		t.Fatal(err)
	}
	if got := w.get(rec.ID); got.Text != "task" {
		t.Fatalf("given up on acceptance: %+v", got)
	}
	w.host.say(*rec.SessionID, "p1")
	w.manager.UserMessage(*rec.SessionID)
	w.eventually("the draft is converted", func() bool { return w.gone(rec.ID) })
	if len(w.host.flushed) == 0 {
		t.Error("the history was not flushed before the text was given up")
	}
	if r := w.store.Snapshot().Receipts; len(r) != 1 || r[0].SubmissionID != "p1" || r[0].SessionID != *rec.SessionID {
		t.Errorf("receipts %+v", r)
	}
}

func TestFailedFlushKeepsTheText(t *testing.T) {
	w := newWorld(t)
	rec := w.newDraft("task")
	w.send(rec, "p1", "task")
	w.host.say(*rec.SessionID, "p1")
	w.host.before = func(method string) error {
		if method == "FlushSession" {
			return shared.Errorf(shared.SessionUnavailable, "disk full")
		}
		return nil
	}
	if tally, err := w.manager.Reconcile(w.ctx(), ""); err != nil || tally.Failed != 1 {
		t.Fatalf("%+v, %v", tally, err)
	}
	if got := w.get(rec.ID); got.Text != "task" {
		t.Fatal("the text went before the history was on disk")
	}
	w.host.mu.Lock()
	w.host.before = nil
	w.host.mu.Unlock()
	if tally, err := w.manager.Reconcile(w.ctx(), ""); err != nil || tally.Converted != 1 {
		t.Fatalf("%+v, %v", tally, err)
	}
}

func TestRejectedPromptLeavesTheDraft(t *testing.T) {
	w := newWorld(t)
	rec := w.newDraft("task")
	w.send(rec, "p1", "task")
	w.manager.AfterPrompt(w.ctx(), *rec.SessionID, "p1", false)
	got := w.get(rec.ID)
	if got.State != shared.StateReady || got.Operation != nil || got.Text != "task" || *got.SessionID != *rec.SessionID || got.TextRevision != rec.TextRevision {
		t.Fatalf("%+v", got)
	}
	if a := w.send(rec, "p2", "task"); a.Refuse {
		t.Fatalf("the next try is refused: %+v", a)
	}
}

func TestSecondSendIsRefused(t *testing.T) {
	w := newWorld(t)
	rec := w.newDraft("task")
	w.send(rec, "p1", "task")
	if a := w.send(rec, "p2", "task"); !a.Refuse || a.Code != shared.OperationConflict || a.Message == "" {
		t.Fatalf("a second send went through: %+v", a)
	}
	if got := w.get(rec.ID); got.Operation.ID != "p1" {
		t.Fatalf("the first send's id is lost: %+v", got.Operation)
	}
}

// A host that dies with an accepted prompt: the message is in its history or it
// is not, and exactly one holds afterwards.
func TestHostDiesAfterAcceptance(t *testing.T) {
	for _, written := range []bool{true, false} {
		w := newWorld(t)
		rec := w.newDraft("task")
		w.send(rec, "p1", "task")
		w.end()
		w.host.restart()
		if written {
			w.host.say(*rec.SessionID, "p1")
		}
		w.start()
		for range 2 { // a further restart changes nothing
			if _, err := w.manager.Reconcile(w.ctx(), ""); err != nil {
				t.Fatal(err)
			}
			if w.gone(rec.ID) != written {
				t.Fatalf("message written %v, draft gone %v", written, w.gone(rec.ID))
			}
			if !written {
				if got := w.get(rec.ID); got.Text != "task" || got.State != shared.StateReady {
					t.Fatalf("%+v", got)
				}
			}
			w.restart()
		}
	}
}

// Invariants 2 and 10: opening a draft whose session went away in the middle of
// its send never offers a text again that was sent.
func TestOpeningADraftWhoseSendIsUnderWay(t *testing.T) {
	for _, c := range []struct {
		name             string
		written, restart bool
		want             shared.Code
	}{
		{"the message is there", true, false, shared.DraftNotFound},
		{"it may still come", false, false, shared.OperationConflict},
		{"the host died before it", false, true, ""},
	} {
		w := newWorld(t)
		rec := w.newDraft("task")
		w.send(rec, "p1", "task")
		w.host.archive(*rec.SessionID)
		if c.written {
			w.host.say(*rec.SessionID, "p1")
		}
		if c.restart {
			w.host.restart()
		}
		bound, recreated, err := w.manager.Bind(w.ctx(), rec.ID)
		if shared.CodeOf(err) != c.want || w.gone(rec.ID) != c.written {
			t.Errorf("%s: %v, draft gone %v", c.name, err, w.gone(rec.ID))
		}
		if sessions := len(w.host.creations()); (sessions == 2) != c.restart {
			t.Errorf("%s: %d sessions", c.name, sessions)
		}
		if c.restart && (!recreated || bound.Text != "task" || bound.State != shared.StateReady || *bound.SessionID == *rec.SessionID) {
			t.Errorf("%s: %+v", c.name, bound)
		}
	}
}

// Only the plugin dies: the host may still write the message, so the draft waits.
func TestPluginDiesDuringASend(t *testing.T) {
	w := newWorld(t)
	rec := w.newDraft("task")
	w.send(rec, "p1", "task")
	w.restart()
	if _, err := w.manager.Reconcile(w.ctx(), ""); err != nil {
		t.Fatal(err)
	}
	if got := w.get(rec.ID); got.State != shared.StateConverting {
		t.Fatalf("no longer waiting: %+v", got)
	}
	w.host.say(*rec.SessionID, "p1")
	w.eventually("the late message is found", func() bool { return w.gone(rec.ID) })
}

func TestForeignMessageDetaches(t *testing.T) {
	w := newWorld(t)
	rec := w.newDraft("task")
	if a := w.send(rec, "other", "something else"); a.DraftID != "" || a.Refuse {
		t.Fatalf("a foreign prompt was taken for the draft's send: %+v", a)
	}
	w.host.say(*rec.SessionID, "other")
	w.manager.UserMessage(*rec.SessionID)
	w.eventually("a fresh session", func() bool {
		got := w.get(rec.ID)
		return got.SessionID != nil && *got.SessionID != *rec.SessionID && got.Text == "task" && got.State == shared.StateReady
	})
	if !w.sawNotice(sessions.NoticeDetached) {
		t.Error("nobody was told")
	}
}

func TestCommandThatStartsATurn(t *testing.T) {
	w := newWorld(t)
	rec := w.newDraft("/plan build it")
	a := w.manager.BeforeCommand(w.ctx(), sessions.Command{SessionID: *rec.SessionID, CommandID: "c1", Line: "/plan build it", LastSeq: 9})
	if a.DraftID != rec.ID {
		t.Fatalf("%+v", a)
	}
	w.host.say(*rec.SessionID, "") // seq 10
	w.manager.AfterCommand(w.ctx(), *rec.SessionID, "c1", true)
	w.eventually("the draft counts as sent", func() bool { return w.gone(rec.ID) })
}

func TestCommandThatFails(t *testing.T) {
	w := newWorld(t)
	rec := w.newDraft("/plan build it")
	w.manager.BeforeCommand(w.ctx(), sessions.Command{SessionID: *rec.SessionID, CommandID: "c1", Line: "/plan build it"})
	w.manager.AfterCommand(w.ctx(), *rec.SessionID, "c1", false)
	if got := w.get(rec.ID); got.State != shared.StateReady || got.Text != "/plan build it" {
		t.Fatalf("%+v", got)
	}
}

// A command that starts no turn was no task; its line goes with it unless
// somebody is at the composer, who says what stands there now.
func TestCommandWithoutATurn(t *testing.T) {
	for _, open := range []bool{false, true} {
		w := newWorld(t)
		rec := w.newDraft("/permission read-only")
		if open {
			if _, err := w.editors.Open(w.ctx(), composer.Opening{DraftID: rec.ID, EditorID: "e"}); err != nil {
				t.Fatal(err)
			}
		}
		w.manager.BeforeCommand(w.ctx(), sessions.Command{SessionID: *rec.SessionID, CommandID: "c1", Line: "/permission read-only"})
		w.manager.AfterCommand(w.ctx(), *rec.SessionID, "c1", true)
		w.eventually("the draft is released", func() bool { return w.get(rec.ID).State == shared.StateReady })
		if got := w.get(rec.ID); (got.Text == "") == open {
			t.Errorf("editor open %v, text %q", open, got.Text)
		}
	}
}

// The last keys before a send may reach us after its prompt.
func TestLastKeysBeforeASend(t *testing.T) {
	w := newWorld(t)
	rec := w.newDraft("ta")
	opened, err := w.editors.Open(w.ctx(), composer.Opening{DraftID: rec.ID, EditorID: "e"})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan sessions.Admission)
	go func() { done <- w.send(rec, "p1", "task") }()
	if _, err := w.editors.Edit(composer.Input{DraftID: rec.ID, EditorID: "e", Epoch: "epoch", Generation: opened.Generation, Seq: 1, Text: "task "}); err != nil {
		t.Fatal(err)
	}
	if a := <-done; a.DraftID != rec.ID {
		t.Fatalf("taken for a foreign prompt: %+v", a)
	}
	if got := w.get(rec.ID); got.Text != "task " {
		t.Fatalf("the last keys are not on disk: %q", got.Text)
	}
}

// A text that changed after it was sent is a draft of its own.
func TestTextChangedAfterTheSendIsKept(t *testing.T) {
	w := newWorld(t)
	rec := w.newDraft("task")
	w.send(rec, "p1", "task")
	if _, err := w.store.EditText(w.ctx(), editOf(w.get(rec.ID), "another thought")); err != nil {
		t.Fatal(err)
	}
	w.host.say(*rec.SessionID, "p1")
	if _, err := w.manager.Reconcile(w.ctx(), ""); err != nil {
		t.Fatal(err)
	}
	all := w.store.Snapshot().Drafts
	if len(all) != 1 || all[0].ID == rec.ID || all[0].Text != "another thought" {
		t.Fatalf("%+v", all)
	}
}

func editOf(rec shared.DraftRecord, text string) drafts.Edit {
	return drafts.Edit{DraftID: rec.ID, EditorKey: "e.1", BaseTextRevision: rec.TextRevision, Text: text}
}
