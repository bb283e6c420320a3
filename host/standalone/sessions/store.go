package sessions

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/agent"
	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/eventlog"
	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/fault"
)

const (
	// TrashAge is how long a session stays in the trash.
	TrashAge = 30 * 24 * time.Hour
	// MaxPromptBytes bounds a prompt, in bytes: a draft's text fits.
	MaxPromptBytes = 1 << 20
	// MaxTitleBytes bounds a title that a person gave, in bytes.
	MaxTitleBytes = 1 << 10

	purgeEvery = 6 * time.Hour
	suffix     = ".jsonl"
)

var (
	errData    = errors.New("an event does not hold what its type says")
	sessionIDs = regexp.MustCompile(`^[A-Za-z0-9_-]+$`) // a length in it would cost time at every start of the command
)

// maxIDBytes bounds the id of a session and of a submission.
const maxIDBytes = 128

func isSessionID(id string) bool { return len(id) <= maxIDBytes && sessionIDs.MatchString(id) }

// Plugin is asked before and told after a prompt is admitted. Trouble of its own
// never stops a prompt (invariant 8): only a refusal does.
type Plugin interface {
	// BeforePrompt returns an error to refuse; it is given to the sender.
	BeforePrompt(ctx context.Context, sessionID, submissionID, text string) error
	// AfterPrompt tells the outcome. When accepted, the user message is on disk.
	AfterPrompt(ctx context.Context, sessionID, submissionID string, accepted bool)
	// SettingsChanged tells of a session's permission or preset, "" for what did not change.
	SettingsChanged(ctx context.Context, sessionID, permission, agentPresetID string)
}

// Watcher is told what happens. It is called while a session is locked, so it
// must neither block nor call the store.
type Watcher interface {
	SessionChanged(s Summary)
	SessionRemoved(id string)
	Logged(sessionID string, e eventlog.Event)
	Streamed(l Live)
	RequestsChanged(sessionID string, open []Request)
}

// Agents are the agents that may be chosen.
type Agents interface {
	// Get is the agent of that id, false when it is not configured.
	Get(id string) (agent.Agent, bool)
	// Default is the agent of a session for which none was chosen.
	Default() string
}

// Options configure [Open].
type Options struct {
	// Folder holds the logs; it exists.
	Folder  string
	Agents  Agents
	Plugin  Plugin
	Watcher Watcher
	// WorkspaceOf gives the id of the workspace of a folder, "" when none is.
	WorkspaceOf func(path string) string
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	Log hclog.Logger
}

// Store holds the sessions of one home. Its methods may be called from any goroutine.
type Store struct {
	opts Options

	life   context.Context // of the turns
	cancel context.CancelFunc
	tasks  sync.WaitGroup

	mu       sync.Mutex // guards what follows; never taken while a session's is held
	sessions map[string]*session
	// claims are the submission ids of all sessions.
	claims map[string]*claim
	closed bool
}

// session is one session. mu guards all below it.
type session struct {
	mu    sync.Mutex
	log   *eventlog.Log
	state *state
	// admitting is the submission between its receipt and its user message.
	admitting string
	turn      *turn
}

// Open reads the logs of a folder. A turn that has no end is given one with the
// outcome unknown. A log that is damaged is kept as it is and shown as such.
func Open(o Options) (*Store, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	life, cancel := context.WithCancel(context.Background())
	s := &Store{opts: o, life: life, cancel: cancel, sessions: map[string]*session{}, claims: map[string]*claim{}}
	entries, err := os.ReadDir(o.Folder)
	if err != nil {
		cancel()
		return nil, fmt.Errorf("reading the sessions: %w", err)
	}
	var ids []string
	for _, entry := range entries {
		if id, ok := strings.CutSuffix(entry.Name(), suffix); ok && isSessionID(id) && entry.Type().IsRegular() {
			ids = append(ids, id)
		}
	}
	if err := s.loadAll(ids); err != nil {
		cancel()
		return nil, err
	}
	s.purge()
	s.tasks.Go(s.purgeRegularly)
	return s, nil
}

// loaders is how many logs are read at the same time.
const loaders = 4

func (s *Store) loadAll(ids []string) error {
	var wait sync.WaitGroup
	queue := make(chan string)
	errs := make(chan error, loaders)
	for range loaders {
		wait.Go(func() {
			var err error
			for id := range queue {
				if err == nil {
					err = s.load(id)
				}
			}
			errs <- err
		})
	}
	for _, id := range ids {
		queue <- id
	}
	close(queue)
	wait.Wait()
	close(errs)
	var all error
	for err := range errs {
		all = errors.Join(all, err)
	}
	return all
}

func (s *Store) path(id string) string { return filepath.Join(s.opts.Folder, id+suffix) }

// load reads one log. One without events is a session whose creation was never
// acknowledged.
func (s *Store) load(id string) error {
	log, events, err := eventlog.Open(s.path(id), s.opts.Now)
	if err != nil {
		return fmt.Errorf("session %s: %w", id, err)
	}
	if len(events) == 0 && log.Damage() == nil {
		return nil
	}
	ses := &session{log: log, state: newState()}
	damage := ""
	if d := log.Damage(); d != nil {
		damage = d.Error()
	}
	for _, e := range events {
		if err := ses.state.apply(e); err != nil && damage == "" {
			damage = fmt.Sprintf("event %d: %v", e.Seq, err)
		}
	}
	if ses.state.ID != id && damage == "" {
		damage = "it is the log of another session"
	}
	ses.state.ID, ses.state.Damaged = id, damage
	if damage != "" {
		s.opts.Log.Error("a session's log is damaged; it is kept as it is", "session", id, "place", damage)
	}
	s.endOpenTurn(ses)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions[id] = ses
	for submission := range ses.state.submissions {
		s.claims[submission] = settled(ses)
	}
	return nil
}

// endOpenTurn writes down that a turn's outcome is unknown (invariant 10).
func (s *Store) endOpenTurn(ses *session) {
	open := ses.state.open
	if open == "" {
		return
	}
	ended := endedData{SubmissionID: open, Outcome: OutcomeUnknown, Reason: "host-ended", Message: "The host ended while this ran. Whether the agent finished is not known; it is not run again by itself."}
	ses.mu.Lock()
	defer ses.mu.Unlock()
	if _, err := s.append(ses, TurnEnded, ended); err != nil {
		// It is shown as unknown all the same, and written down at the next start.
		ses.state.open, ses.state.Unknown = "", true
		if sub := ses.state.submissions[open]; sub != nil {
			sub.State, sub.Message = SubmissionState(OutcomeUnknown), ended.Message
		}
	}
}

// Close ends the running turns as cancelled and waits for them.
func (s *Store) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cancel()
	s.tasks.Wait()
}

func (s *Store) find(id string) (*session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ses := s.sessions[id]; ses != nil {
		return ses, nil
	}
	return nil, fault.Errorf(fault.NotFound, "there is no such session")
}

// append writes an event and applies it; ses.mu is held.
func (s *Store) append(ses *session, kind string, data any) (eventlog.Event, error) {
	if ses.state.Damaged != "" {
		return eventlog.Event{}, fault.Errorf(fault.LogCorrupt, "the session's log is damaged (%s); it can be read up to there and is not written", ses.state.Damaged)
	}
	raw, err := encode(data)
	if err != nil {
		return eventlog.Event{}, err
	}
	e, err := ses.log.Append(kind, raw)
	if errors.Is(err, eventlog.ErrTooLarge) {
		return e, fault.Errorf(fault.TooLarge, "an event is larger than a log takes")
	}
	if err != nil {
		s.opts.Log.Error("a session's log cannot be written", "session", ses.state.ID, "error", err)
		return e, fault.Errorf(fault.Storage, "the session's log could not be written: %w", err)
	}
	if err := ses.state.apply(e); err != nil {
		return e, fmt.Errorf("%s: %w", kind, err)
	}
	s.opts.Watcher.Logged(ses.state.ID, e)
	return e, nil
}

// changed tells the watcher; ses.mu is held.
func (s *Store) changed(ses *session) { s.opts.Watcher.SessionChanged(s.summary(ses)) }

// summary is the session's summary now; ses.mu is held.
func (s *Store) summary(ses *session) Summary {
	sum := ses.state.Summary
	sum.Running = ses.turn != nil || ses.admitting != ""
	sum.Waiting = ses.turn != nil && len(ses.turn.requests) > 0
	sum.WorkspaceID = s.opts.WorkspaceOf(sum.WorkspacePath)
	return sum
}

// purge removes what has been in the trash for [TrashAge]. A damaged log stays.
func (s *Store) purge() {
	before := s.opts.Now().Add(-TrashAge).UnixMilli()
	s.mu.Lock()
	all := make([]*session, 0, len(s.sessions))
	for _, ses := range s.sessions {
		all = append(all, ses)
	}
	s.mu.Unlock()
	for _, ses := range all {
		ses.mu.Lock()
		id, at, damaged := ses.state.ID, ses.state.TrashedAt, ses.state.Damaged
		gone := at > 0 && at < before && damaged == "" && ses.turn == nil
		if gone {
			// Nobody who still has it at hand may write to a file that is gone.
			ses.state.Damaged = "the session was removed from the trash"
		}
		ses.mu.Unlock()
		if !gone {
			continue
		}
		if err := os.Remove(s.path(id)); err != nil && !errors.Is(err, os.ErrNotExist) {
			s.opts.Log.Warn("could not remove a session from the trash", "session", id, "error", err)
			continue
		}
		s.mu.Lock()
		delete(s.sessions, id)
		s.mu.Unlock()
		s.opts.Watcher.SessionRemoved(id)
	}
}

func (s *Store) purgeRegularly() {
	ticker := time.NewTicker(purgeEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			s.purge()
		case <-s.life.Done():
			return
		}
	}
}
