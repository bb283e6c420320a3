package sessions

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"go.uber.org/goleak"

	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/agent"
	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/eventlog"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds every wait of these tests; it is only ever spent by a failure.
const patience = 30 * time.Second

// scripted is an agent that does what a test says, in memory: these tests are
// about what the host keeps.
type scripted struct {
	run func(ctx context.Context, turn agent.Turn, out agent.Output) (agent.Stop, error)

	mu        sync.Mutex
	turns     []agent.Turn
	forgotten []string
}

func (s *scripted) Describe() agent.Description {
	return agent.Description{
		ID: "test", Presets: []agent.Choice{{ID: "test/default"}, {ID: "test/other"}}, DefaultModel: "m", Available: true,
		Permissions: []agent.Choice{{ID: agent.PermissionAsk}, {ID: agent.PermissionAllow}, {ID: agent.PermissionReject}}, DefaultPermission: agent.PermissionAsk,
	}
}

func (s *scripted) Run(ctx context.Context, turn agent.Turn, out agent.Output) (agent.Stop, error) {
	s.mu.Lock()
	s.turns = append(s.turns, turn)
	run := s.run
	s.mu.Unlock()
	if run == nil {
		out.Text("answer to " + turn.Prompt)
		return agent.Completed, nil
	}
	return run(ctx, turn, out)
}

func (s *scripted) Forget(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgotten = append(s.forgotten, id)
}

func (s *scripted) Close() error { return nil }

func (s *scripted) ran() []agent.Turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.turns)
}

func (s *scripted) Get(id string) (agent.Agent, bool) { return s, id == "test" }
func (s *scripted) Default() string                   { return "test" }

// plugin records what it is told, and refuses when a test says so.
type plugin struct {
	mu     sync.Mutex
	before func(sessionID, submissionID, text string) error
	after  []string
}

func (p *plugin) BeforePrompt(_ context.Context, sessionID, submissionID, text string) error {
	p.mu.Lock()
	before := p.before
	p.mu.Unlock()
	if before != nil {
		return before(sessionID, submissionID, text)
	}
	return nil
}

func (p *plugin) AfterPrompt(_ context.Context, _, submissionID string, accepted bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.after = append(p.after, fmt.Sprint(submissionID, " ", accepted))
}

func (p *plugin) SettingsChanged(_ context.Context, sessionID, permission, preset string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.after = append(p.after, fmt.Sprint(sessionID, " ", permission, " ", preset))
}

func (p *plugin) told() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.after)
}

// watcher keeps what it is told.
type watcher struct {
	mu       sync.Mutex
	live     []Live
	logged   map[string][]eventlog.Event
	removed  []string
	requests []Request
}

func (w *watcher) SessionChanged(Summary) {}

func (w *watcher) SessionRemoved(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.removed = append(w.removed, id)
}

func (w *watcher) Logged(id string, e eventlog.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.logged[id] = append(w.logged[id], e)
}

func (w *watcher) Streamed(l Live) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.live = append(w.live, l)
}

func (w *watcher) RequestsChanged(_ string, open []Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.requests = open
}

// rig is a store with its surroundings.
type rig struct {
	t       *testing.T
	folder  string
	now     func() time.Time
	agent   *scripted
	plugin  *plugin
	watcher *watcher
	*Store
}

func newRig(t *testing.T) *rig {
	r := &rig{t: t, folder: t.TempDir(), agent: &scripted{}, plugin: &plugin{}, watcher: &watcher{logged: map[string][]eventlog.Event{}}}
	r.open()
	return r
}

func (r *rig) open() {
	r.t.Helper()
	store, err := Open(Options{
		Folder: r.folder, Agents: r.agent, Plugin: r.plugin, Watcher: r.watcher, Now: r.now, Log: hclog.NewNullLogger(),
		WorkspaceOf: func(path string) string { return "w:" + path },
	})
	if err != nil {
		r.t.Fatal(err)
	}
	r.Store = store
	r.t.Cleanup(store.Close)
}

// restart ends the store and opens the folder again.
func (r *rig) restart() {
	r.t.Helper()
	r.Close()
	r.open()
}

func (r *rig) create(id string) Summary {
	r.t.Helper()
	s, err := r.Create(Creation{ID: id, Path: "/project"})
	if err != nil {
		r.t.Fatal(err)
	}
	return s
}

func (r *rig) prompt(session, submission, text string) Submission {
	r.t.Helper()
	sub, err := r.Prompt(context.Background(), session, submission, text)
	if err != nil {
		r.t.Fatal(err)
	}
	return sub
}

// await waits until a submission has that state.
func (r *rig) await(submission string, state SubmissionState) Submission {
	r.t.Helper()
	var sub Submission
	r.until("the state "+string(state), func() bool {
		var err error
		sub, err = r.Submission(submission)
		return err == nil && sub.State == state
	})
	return sub
}

func (r *rig) until(what string, done func() bool) {
	r.t.Helper()
	for deadline := time.Now().Add(patience); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			r.t.Fatalf("no sign of %s", what)
		}
	}
}

func (r *rig) types(session string) []string {
	r.t.Helper()
	events, err := r.Events(session, 0)
	if err != nil {
		r.t.Fatal(err)
	}
	var out []string
	for _, e := range events {
		out = append(out, e.Type)
	}
	return out
}

func (r *rig) file(session string) string { return filepath.Join(r.folder, session+suffix) }

func (r *rig) bytes(session string) []byte {
	r.t.Helper()
	data, err := os.ReadFile(r.file(session))
	if err != nil {
		r.t.Fatal(err)
	}
	return data
}
