package sessions_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"go.uber.org/goleak"

	"github.com/draft-sessions/dsh-draft-sessions/jsonstore"
	"github.com/draft-sessions/dsh-draft-sessions/plugin/composer"
	"github.com/draft-sessions/dsh-draft-sessions/plugin/drafts"
	"github.com/draft-sessions/dsh-draft-sessions/plugin/sessions"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a store on a real disk, real editors, and the fake host.
type world struct {
	t       *testing.T
	path    string
	host    *fakeHost
	store   *drafts.Store
	editors *composer.Editors
	manager *sessions.Manager
	log     hclog.Logger
	// fs is the file system, nil for the machine's.
	fs jsonstore.FS
	// late is what is added to the clock.
	late atomic.Int64

	mu      sync.Mutex
	notices []string
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, path: filepath.Join(t.TempDir(), "drafts.json"), host: newFakeHost(), log: hclog.NewNullLogger()}
	w.start()
	t.Cleanup(func() { w.end() })
	return w
}

func (w *world) start() {
	w.t.Helper()
	store, err := drafts.Open(w.ctx(), drafts.Options{Path: w.path, Log: w.log, FS: w.fs})
	if err != nil {
		w.t.Fatal(err)
	}
	w.store = store
	w.editors = composer.New("epoch", composer.Options{Store: store, Log: w.log, Debounce: 10 * time.Millisecond})
	now := func() time.Time { return time.Now().Add(time.Duration(w.late.Load())) }
	w.manager = sessions.New(sessions.Options{Store: store, Host: w.host, Editors: w.editors, Log: w.log, Now: now, Notify: func(kind string, _ shared.DraftRecord) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.notices = append(w.notices, kind)
	}})
}

func (w *world) end() {
	if w.store == nil {
		return
	}
	if err := w.editors.Stop(context.Background()); err != nil {
		w.t.Error(err)
	}
	w.manager.Stop()
	if err := w.store.Close(); err != nil {
		w.t.Error(err)
	}
	w.store = nil
}

// restart ends and starts the plugin's parts; the host lives on.
func (w *world) restart() { w.end(); w.start() }

func (w *world) ctx() context.Context { return context.Background() }

func (w *world) newDraft(text string) shared.DraftRecord {
	w.t.Helper()
	rec, err := w.manager.NewDraft(w.ctx(), sessions.NewDraft{WorkspaceID: "w1", Text: text})
	if err != nil {
		w.t.Fatal(err)
	}
	return rec
}

func (w *world) get(id string) shared.DraftRecord {
	w.t.Helper()
	rec, err := w.store.Get(id)
	if err != nil {
		w.t.Fatal(err)
	}
	return rec
}

func (w *world) sawNotice(kind string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Contains(w.notices, kind)
}

func (w *world) eventually(what string, ok func() bool) {
	w.t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if ok() {
			return
		}
	}
	w.t.Fatalf("never: %s", what)
}

func TestNewDraftsHaveSessionsOfTheirOwn(t *testing.T) { // invariant 4
	w := newWorld(t)
	seen := map[string]bool{}
	for range 25 {
		rec := w.newDraft("task")
		if rec.State != shared.StateReady || rec.SessionID == nil || rec.ReservedSessionID != "" {
			t.Fatalf("not bound: %+v", rec)
		}
		if seen[*rec.SessionID] {
			t.Fatal("two drafts share a session")
		}
		seen[*rec.SessionID] = true
		if got := w.manager.ChooseSession([]string{*rec.SessionID, "other"}); got != "other" {
			t.Fatalf("New Session may open %q, a draft's session", got)
		}
	}
}

func TestNewDraftIsIdempotentByKey(t *testing.T) {
	w := newWorld(t)
	var ids []string
	for range 3 {
		rec, err := w.manager.NewDraft(w.ctx(), sessions.NewDraft{WorkspaceID: "w1", IdempotencyKey: "k"})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, rec.ID)
		w.restart()
	}
	if ids[0] != ids[1] || ids[1] != ids[2] || len(w.host.creations()) != 1 {
		t.Fatalf("drafts %v, sessions %v", ids, w.host.creations())
	}
}

func TestNewDraftPicksItsWorkspace(t *testing.T) {
	w := newWorld(t)
	first := w.newDraft("")
	w.host.workspaces[1].SessionIds = []string{"open"}
	for _, c := range []struct {
		name string
		n    sessions.NewDraft
		want string
	}{
		{"named", sessions.NewDraft{WorkspaceID: "w2", CurrentSessionID: *first.SessionID}, "w2"},
		{"of the current session", sessions.NewDraft{CurrentSessionID: "open", RecentWorkspaceID: "w1"}, "w2"},
		{"of the current draft", sessions.NewDraft{CurrentSessionID: *first.SessionID, RecentWorkspaceID: "w2"}, "w1"},
		{"recent", sessions.NewDraft{CurrentSessionID: "nowhere", RecentWorkspaceID: "w2"}, "w2"},
	} {
		rec, err := w.manager.NewDraft(w.ctx(), c.n)
		if err != nil || rec.WorkspaceID != c.want {
			t.Errorf("%s: workspace %q, error %v, want %q", c.name, rec.WorkspaceID, err, c.want)
		}
	}
	if _, err := w.manager.NewDraft(w.ctx(), sessions.NewDraft{}); shared.CodeOf(err) != shared.DraftInvalidInput {
		t.Errorf("no workspace: %v", err)
	}
}

// Invariant 13: the id is on disk before the host is asked, so whatever dies
// after the host has created the session, the retry creates no second one.
func TestCrashBetweenCreateAndBind(t *testing.T) {
	w := newWorld(t)
	w.host.afterCreate = func() error { return shared.Errorf(shared.OperationUnknown, "crash") }
	rec, err := w.manager.NewDraft(w.ctx(), sessions.NewDraft{WorkspaceID: "w1", Text: "keep me"})
	if shared.CodeOf(err) != shared.OperationUnknown {
		t.Fatalf("error %v", err)
	}
	rec = w.store.Snapshot().Drafts[0]
	reserved := w.host.creations()[0]
	if rec.ReservedSessionID != reserved {
		t.Fatalf("reserved %q on disk, host created %q", rec.ReservedSessionID, reserved)
	}
	w.restart()
	w.host.afterCreate = nil
	if _, err := w.manager.Reconcile(w.ctx(), ""); err != nil {
		t.Fatal(err)
	}
	rec = w.get(rec.ID)
	if rec.SessionID == nil || *rec.SessionID != reserved || rec.Text != "keep me" || rec.State != shared.StateReady {
		t.Fatalf("after the retry: %+v", rec)
	}
	for _, id := range w.host.creations() {
		if id != reserved {
			t.Fatalf("a second session %s was created", id)
		}
	}
}

func TestRefusedSessionKeepsTheTextAndOffersRetry(t *testing.T) {
	w := newWorld(t)
	w.host.before = func(method string) error {
		if method == "CreateSession" {
			return refused("agent-preset-not-found", "no preset of that name")
		}
		return nil
	}
	rec := w.newDraft("keep me")
	if rec.State != shared.StateError || rec.LastError == "" || rec.Text != "keep me" || rec.SessionID != nil {
		t.Fatalf("after the refusal: %+v", rec)
	}
	w.host.before = nil
	rec, recreated, err := w.manager.Bind(w.ctx(), rec.ID)
	if err != nil || recreated || rec.State != shared.StateReady || rec.LastError != "" || rec.Text != "keep me" {
		t.Fatalf("after the retry: %+v, %v, %v", rec, recreated, err)
	}
}

func TestMissingAndArchivedSessions(t *testing.T) {
	w := newWorld(t)
	lost, archived, fine := w.newDraft("lost"), w.newDraft("archived"), w.newDraft("fine")
	if err := w.manager.SettingsChanged(w.ctx(), *lost.SessionID, sessions.Settings{Permission: "read-only", AgentPreset: "code"}); err != nil {
		t.Fatal(err)
	}
	w.host.lose(*lost.SessionID)
	w.host.archive(*archived.SessionID)
	tally, err := w.manager.Reconcile(w.ctx(), "")
	if err != nil || tally.Recreated != 2 || tally.Failed != 0 {
		t.Fatalf("%+v, %v", tally, err)
	}
	again := w.get(lost.ID)
	if again.SessionID == nil || again.Text != "lost" {
		t.Fatalf("lost: %+v", again)
	}
	last := w.host.created[len(w.host.created)-2:]
	i := slices.IndexFunc(last, func(c *createCall) bool { return c.SessionId == *again.SessionID })
	if i < 0 || last[i].Permission != "read-only" || last[i].AgentPresetId != "code" {
		t.Fatalf("the session came back without its settings: %v", last)
	}
	if again := w.get(archived.ID); again.SessionID == nil || *again.SessionID == *archived.SessionID || again.Text != "archived" {
		t.Fatalf("archived: %+v", again)
	}
	if again := w.get(fine.ID); *again.SessionID != *fine.SessionID || again.Revision != fine.Revision {
		t.Fatalf("a draft that was fine was touched: %+v", again)
	}
	if !w.sawNotice(sessions.NoticeRecreated) {
		t.Error("nobody was told")
	}
	tally, err = w.manager.Reconcile(w.ctx(), "")
	if err != nil || tally != (sessions.Tally{}) {
		t.Fatalf("a second reconcile did something: %+v, %v", tally, err)
	}
}

func TestReaddedFolderIsAdopted(t *testing.T) {
	w := newWorld(t)
	rec := w.newDraft("text")
	w.host.workspaces[0].WorkspaceId, w.host.workspaces[0].SessionIds = "w1-again", nil
	if _, err := w.manager.Reconcile(w.ctx(), ""); err != nil {
		t.Fatal(err)
	}
	if rec = w.get(rec.ID); rec.WorkspaceID != "w1-again" || rec.SessionID == nil || rec.Text != "text" {
		t.Fatalf("%+v", rec)
	}
	w.host.workspaces = w.host.workspaces[1:]
	if _, err := w.manager.Reconcile(w.ctx(), ""); err != nil {
		t.Fatal(err)
	}
	if gone := w.get(rec.ID); gone.Text != "text" || gone.Revision != rec.Revision {
		t.Fatalf("a draft whose workspace is gone was touched: %+v", gone)
	}
	if _, _, err := w.manager.Bind(w.ctx(), rec.ID); shared.CodeOf(err) != shared.SessionUnavailable {
		t.Fatalf("opening it: %v", err)
	}
}

func TestSessionConflictTakesAnotherID(t *testing.T) {
	w := newWorld(t)
	rec := w.newDraft("text")
	w.host.lose(*rec.SessionID)
	w.host.before = func(method string) error {
		if method == "CreateSession" {
			w.host.mu.Lock()
			defer w.host.mu.Unlock()
			w.host.before = nil
			return refused("session-conflict", "another folder")
		}
		return nil
	}
	again, recreated, err := w.manager.Bind(w.ctx(), rec.ID)
	if err != nil || !recreated || *again.SessionID == *rec.SessionID || again.Text != "text" {
		t.Fatalf("%+v, %v, %v", again, recreated, err)
	}
}

func TestMove(t *testing.T) {
	w := newWorld(t)
	rec, other := w.newDraft("text"), w.newDraft("other")
	moved, err := w.manager.Move(w.ctx(), rec.ID, "w2", "")
	if err != nil || moved.WorkspaceID != "w2" || *moved.SessionID == *rec.SessionID || moved.Text != "text" {
		t.Fatalf("%+v, %v", moved, err)
	}
	moved, err = w.manager.Move(w.ctx(), rec.ID, "w1", "blank-of-the-host")
	if err != nil || *moved.SessionID != "blank-of-the-host" || moved.WorkspaceID != "w1" {
		t.Fatalf("%+v, %v", moved, err)
	}
	if _, err := w.manager.Move(w.ctx(), rec.ID, "w1", *other.SessionID); shared.CodeOf(err) != shared.OperationConflict { // invariant 4
		t.Fatalf("two drafts on one session: %v", err)
	}
	if _, err := w.manager.Move(w.ctx(), rec.ID, "nowhere", ""); shared.CodeOf(err) != shared.DraftInvalidInput {
		t.Fatalf("unknown workspace: %v", err)
	}
}

func TestHostGone(t *testing.T) {
	w := newWorld(t)
	down := errors.New("down")
	w.host.before = func(string) error { return shared.Errorf(shared.SessionUnavailable, "no host: %w", down) }
	if _, err := w.manager.NewDraft(w.ctx(), sessions.NewDraft{WorkspaceID: "w1"}); !errors.Is(err, down) {
		t.Fatal(err)
	}
	if n := len(w.store.Snapshot().Drafts); n != 0 {
		t.Fatalf("%d drafts of a call that failed", n)
	}
}
