package sessions_test

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/draft-sessions/dsh-draft-sessions/plugin/composer"
	"github.com/draft-sessions/dsh-draft-sessions/plugin/sessions"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

func (w *world) reconcile() {
	w.t.Helper()
	if _, err := w.manager.Reconcile(w.ctx(), ""); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) command(rec shared.DraftRecord, id, line string, lastSeq int64) {
	w.t.Helper()
	if a := w.manager.BeforeCommand(w.ctx(), sessions.Command{SessionID: *rec.SessionID, CommandID: id, Line: line, LastSeq: lastSeq}); a.DraftID != rec.ID {
		w.t.Fatalf("%+v", a)
	}
}

// Invariant 2: only the message that a send is about proves it. Each of these is
// in the session of a draft that is being sent, and proves nothing.
func TestOtherMessagesProveNothing(t *testing.T) {
	for name, send := range map[string]func(w *world, rec shared.DraftRecord){
		"another prompt's message": func(w *world, rec shared.DraftRecord) {
			w.send(rec, "p1", "task")
			w.host.say(*rec.SessionID, "p0")
		},
		"a command's message": func(w *world, rec shared.DraftRecord) {
			w.send(rec, "p1", "task")
			w.host.say(*rec.SessionID, "")
		},
		"a message before the command": func(w *world, rec shared.DraftRecord) {
			w.host.say(*rec.SessionID, "") // seq 10
			w.command(rec, "c1", "task", 10)
		},
		"a prompt's message instead of the command's": func(w *world, rec shared.DraftRecord) {
			w.command(rec, "c1", "task", 9)
			w.host.say(*rec.SessionID, "p0")
		},
		"the proof of a send in another session": func(w *world, rec shared.DraftRecord) {
			w.command(rec, "c1", "task", 9)
			if _, err := w.store.Modify(w.ctx(), rec.ID, func(d *shared.DraftRecord) error {
				d.Operation.SessionID = "elsewhere"
				return nil
			}); err != nil {
				w.t.Fatal(err)
			}
			w.host.say(*rec.SessionID, "")
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			rec := w.newDraft("task")
			send(w, rec)
			w.reconcile()
			w.host.restart() // nothing is in flight any more
			w.reconcile()
			got := w.get(rec.ID)
			if got.Text != "task" || got.SessionID == nil || *got.SessionID == *rec.SessionID || got.State != shared.StateReady {
				t.Errorf("the draft is %+v", got)
			}
			if n := len(w.store.Snapshot().Receipts); n != 0 {
				t.Errorf("%d receipts", n)
			}
		})
	}
}

// Invariant 2: the proof counts when it is in the history that was flushed.
func TestProofThatDoesNotReachTheDisk(t *testing.T) {
	w := newWorld(t)
	rec := w.newDraft("task")
	w.send(rec, "p1", "task")
	w.host.say(*rec.SessionID, "p1")
	w.host.before = func(method string) error {
		if method == "FlushSession" {
			w.host.mu.Lock()
			defer w.host.mu.Unlock()
			w.host.messages = nil
		}
		return nil
	}
	if tally, err := w.manager.Reconcile(w.ctx(), ""); err != nil || tally.Converted != 0 || tally.Failed != 1 {
		t.Errorf("%+v, %v", tally, err)
	}
	if got := w.get(rec.ID); got.Text != "task" {
		t.Errorf("the draft is %+v", got)
	}
}

// Invariants 2 and 10: a send that left no message is not repeated and gives
// nothing up; its proof still counts when it comes late.
func TestSendWithoutAMessageIsReleasedAndMayStillProveItself(t *testing.T) {
	w := newWorld(t)
	rec := w.newDraft("task")
	w.send(rec, "p1", "task")
	w.late.Store(int64(time.Minute))
	w.reconcile()
	got := w.get(rec.ID)
	if got.State != shared.StateReady || got.Text != "task" || got.Operation == nil || got.Operation.ID != "p1" {
		t.Fatalf("released as %+v", got)
	}
	w.host.say(*rec.SessionID, "p1")
	w.reconcile()
	if !w.gone(rec.ID) {
		t.Errorf("the late proof was not seen: %+v", w.get(rec.ID))
	}
}

// Invariant 2: a command that ran without a turn takes its own line along and no
// other text, and none when nobody knows whether it ran.
func TestReleasedCommandTakesNothingElse(t *testing.T) {
	for name, meanwhile := range map[string]func(w *world, rec shared.DraftRecord) (want string){
		"the text changed": func(w *world, rec shared.DraftRecord) string {
			if _, err := w.store.EditText(w.ctx(), editOf(rec, "a thought")); err != nil {
				w.t.Fatal(err)
			}
			return "a thought"
		},
		"the host died": func(w *world, rec shared.DraftRecord) string {
			w.host.restart()
			return rec.Text
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			rec := w.newDraft("/permission read-only")
			w.command(rec, "c1", rec.Text, 0)
			want := meanwhile(w, rec)
			w.late.Store(int64(time.Minute))
			w.reconcile()
			if got := w.get(rec.ID); got.State != shared.StateReady || got.Text != want {
				t.Errorf("%+v, want text %q", got, want)
			}
		})
	}
}

// A record that says it is being sent, but not how, is a draft like any other.
func TestSendWithoutAnOperationIsReleased(t *testing.T) {
	w := newWorld(t)
	rec := w.newDraft("task")
	if _, err := w.store.Modify(w.ctx(), rec.ID, func(d *shared.DraftRecord) error {
		d.State = shared.StateConverting
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	w.reconcile()
	if got := w.get(rec.ID); got.State != shared.StateReady || got.Text != "task" {
		t.Errorf("%+v", got)
	}
}

// Invariants 2 and 10: a draft that is being sent stays with its session, or its
// proof would be searched in the wrong one and the text offered once more.
func TestDraftThatIsBeingSentIsNotMoved(t *testing.T) {
	w := newWorld(t)
	rec := w.newDraft("task")
	w.send(rec, "p1", "task")
	for _, session := range []string{"", "blank-of-the-host"} {
		if _, err := w.manager.Move(w.ctx(), rec.ID, "w2", session); shared.CodeOf(err) != shared.OperationConflict {
			t.Errorf("moved to session %q: %v", session, err)
		}
	}
	w.host.say(*rec.SessionID, "p1")
	w.reconcile()
	if !w.gone(rec.ID) {
		t.Errorf("the proof was not seen: %+v", w.get(rec.ID))
	}
}

// Invariant 4: a session with a past is no blank one, whoever says so.
func TestSessionWithAPastIsNotBound(t *testing.T) {
	w := newWorld(t)
	rec := w.newDraft("text")
	w.host.lose(*rec.SessionID)
	w.host.say(*rec.SessionID, "someone")
	again, _, err := w.manager.Bind(w.ctx(), rec.ID)
	if err != nil || again.SessionID == nil || *again.SessionID == *rec.SessionID || again.Text != "text" {
		t.Errorf("%+v, %v", again, err)
	}
}

// Invariant 13: whoever asks for a session, its id is on disk before.
func TestEverySessionIsReservedBeforeItIsCreated(t *testing.T) {
	w := newWorld(t)
	var unreserved []string
	w.host.afterCreate = func() error {
		id := w.host.created[len(w.host.created)-1].SessionId
		if !slices.ContainsFunc(w.store.Snapshot().Drafts, func(d shared.DraftRecord) bool { return d.ReservedSessionID == id && d.SessionID == nil }) {
			unreserved = append(unreserved, id)
		}
		return nil
	}
	rec := w.newDraft("new")
	w.host.archive(*rec.SessionID)
	rec, _, err := w.manager.Bind(w.ctx(), rec.ID)
	if err != nil {
		t.Fatal(err)
	}
	if rec, err = w.manager.Move(w.ctx(), rec.ID, "w2", ""); err != nil {
		t.Fatal(err)
	}
	w.host.say(*rec.SessionID, "someone")
	w.reconcile()
	if n := len(w.host.creations()); n != 4 || len(unreserved) != 0 {
		t.Errorf("%d sessions, not reserved: %v", n, unreserved)
	}
}

// Invariant 13: what is no matter of the id is not tried with another one, and
// the reserved one stays for the retry.
func TestRefusalThatIsNotOfTheIDTakesNoOther(t *testing.T) {
	w := newWorld(t)
	asked := 0
	w.host.before = func(method string) error {
		if method == "CreateSession" {
			asked++
			return refused("agent-preset-not-found", "no such preset")
		}
		return nil
	}
	rec := w.newDraft("text")
	if again, _, err := w.manager.Bind(w.ctx(), rec.ID); shared.CodeOf(err) != shared.SessionUnavailable || again.ReservedSessionID != rec.ReservedSessionID || rec.ReservedSessionID == "" {
		t.Errorf("first %+v, then %+v, %v", rec, again, err)
	}
	if asked != 2 {
		t.Errorf("two tries asked for %d sessions", asked)
	}
}

// Invariants 4 and 13: a draft that another process reserved another session for
// is not bound to ours.
func TestReservationOfAnotherProcessWins(t *testing.T) {
	w := newWorld(t)
	w.host.afterCreate = func() error {
		id := w.store.Snapshot().Drafts[0].ID
		_, err := w.store.Modify(context.Background(), id, func(d *shared.DraftRecord) error {
			d.ReservedSessionID = "theirs"
			return nil
		})
		return err
	}
	_, err := w.manager.NewDraft(w.ctx(), sessions.NewDraft{WorkspaceID: "w1", Text: "text"})
	got := w.store.Snapshot().Drafts[0]
	if shared.CodeOf(err) != shared.OperationConflict || got.SessionID != nil || got.ReservedSessionID != "theirs" || got.Text != "text" {
		t.Errorf("%+v, %v", got, err)
	}
}

// Invariant 12: sessions that belong to no draft are none of our business.
func TestOrdinarySessionsAreLeftAlone(t *testing.T) {
	w := newWorld(t)
	rec := w.newDraft("task")
	w.host.before = func(method string) error {
		t.Errorf("the host was asked for %s", method)
		return nil
	}
	if a := w.manager.BeforePrompt(w.ctx(), sessions.Prompt{SessionID: "ordinary", PromptID: "p", Text: "task"}); a != (sessions.Admission{}) {
		t.Errorf("a prompt: %+v", a)
	}
	if a := w.manager.BeforeCommand(w.ctx(), sessions.Command{SessionID: "ordinary", CommandID: "c", Line: "task"}); a != (sessions.Admission{}) {
		t.Errorf("a command: %+v", a)
	}
	w.manager.AfterPrompt(w.ctx(), "ordinary", "p", true)
	w.manager.AfterCommand(w.ctx(), "ordinary", "c", false)
	w.manager.UserMessage("ordinary")
	if err := w.manager.SettingsChanged(w.ctx(), "ordinary", sessions.Settings{Permission: "read-only"}); err != nil {
		t.Error(err)
	}
	if got := w.get(rec.ID); got.Revision != rec.Revision {
		t.Errorf("the draft became %+v", got)
	}
}

// Invariant 9: the end waits for no proof; a send under way is settled next time.
func TestStopWaitsForNoProof(t *testing.T) {
	w := newWorld(t)
	rec := w.newDraft("task")
	w.send(rec, "p1", "task")
	w.manager.AfterPrompt(w.ctx(), *rec.SessionID, "p1", true)
	begun := time.Now()
	w.restart()
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
	if got := w.get(rec.ID); got.State != shared.StateConverting || got.Operation == nil {
		t.Errorf("%+v", got)
	}
}

// lines collects what is logged.
type lines struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.Write(p)
}

func (l *lines) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.String()
}

// Invariant 11: whatever happens to drafts, the log tells nothing of their text.
func TestLogHoldsNoText(t *testing.T) {
	const secret = "zebra kettle"
	w := newWorld(t)
	w.end()
	var log lines
	w.log = hclog.New(&hclog.LoggerOptions{Output: &log, Level: hclog.Trace})
	w.start()

	sent, foreign, gone := w.newDraft(secret), w.newDraft("/plan "+secret), w.newDraft(secret)
	opened, err := w.editors.Open(w.ctx(), composer.Opening{DraftID: gone.ID, EditorID: "e"})
	if err != nil {
		t.Fatal(err)
	}
	w.send(sent, "p1", secret)
	w.send(sent, "p2", secret)
	w.send(foreign, "p3", "another "+secret)
	w.host.say(*foreign.SessionID, "p3")
	w.manager.UserMessage(*foreign.SessionID)
	w.eventually("detached", func() bool { return w.sawNotice(sessions.NoticeDetached) })
	w.host.say(*sent.SessionID, "p1")
	w.host.before = func(method string) error {
		if method == "FlushSession" {
			return shared.Errorf(shared.SessionUnavailable, "disk full")
		}
		return nil
	}
	w.reconcile()
	w.manager.UserMessage(*sent.SessionID)
	w.eventually("the failure is logged", func() bool { return strings.Contains(log.text(), "could not settle") })
	w.host.before = nil
	w.reconcile()
	if _, err := w.store.Delete(w.ctx(), gone.ID, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := w.editors.Edit(composer.Input{DraftID: gone.ID, EditorID: "e", Epoch: "epoch", Generation: opened.Generation, Seq: 1, Text: secret + " and more"}); err != nil {
		t.Fatal(err)
	}
	w.restart()
	w.reconcile()
	w.end()
	if strings.Contains(log.text(), "kettle") {
		t.Errorf("the log is %q", log.text())
	}
}
