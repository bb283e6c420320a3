package sessions

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/agent"
	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/eventlog"
	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/fault"
)

func encode(data any) (jsontext.Value, error) {
	raw, err := json.Marshal(data)
	if err != nil {
		return nil, fault.Errorf(fault.BadRequest, "a text is not well-formed Unicode")
	}
	return raw, nil
}

// Creation is what a new session shall be. Empty members take the defaults.
type Creation struct {
	// ID is the caller's, or "" for one of the host's.
	ID string
	// Path is the workspace's folder, absolute and without links.
	Path          string
	AgentPresetID string
	Model         string
	Permission    string
	Title         string
}

// Create makes a session, or finds it when it exists in that folder: then
// nothing of it is changed. It is on disk when it returns. Codes: bad-request,
// session-conflict (the id is that of a session in another folder, or in the
// trash), storage.
func (s *Store) Create(c Creation) (Summary, error) {
	if c.ID == "" {
		c.ID = uuid.Must(uuid.NewV7()).String()
	}
	if !isSessionID(c.ID) {
		return Summary{}, fault.Errorf(fault.BadRequest, "a session's id is 1 to 128 letters, digits, \"-\" and \"_\"")
	}
	title, err := cleanTitle(c.Title)
	if err != nil {
		return Summary{}, err
	}
	choices := settings{c.AgentPresetID, c.Model, c.Permission}
	if err := s.complete(&choices); err != nil {
		return Summary{}, err
	}
	ses, err := s.claimID(c.ID)
	if err != nil {
		return Summary{}, err
	}
	ses.mu.Lock()
	defer ses.mu.Unlock()
	if ses.state.LastSeq > 0 || ses.state.Damaged != "" {
		switch {
		case ses.state.WorkspacePath != c.Path:
			return Summary{}, fault.Errorf(fault.SessionConflict, "that id is a session in another folder")
		case ses.state.TrashedAt > 0:
			return Summary{}, fault.Errorf(fault.SessionConflict, "that session is in the trash")
		}
		return s.summary(ses), nil
	}
	if ses.log == nil {
		log, events, err := eventlog.Open(s.path(c.ID), s.opts.Now)
		if err != nil {
			return Summary{}, fault.Errorf(fault.Storage, "the session's log could not be made: %w", err)
		}
		if len(events) > 0 || log.Damage() != nil {
			return Summary{}, fault.Errorf(fault.SessionConflict, "a log of that id appeared meanwhile")
		}
		ses.log = log
	}
	created := createdData{ID: c.ID, WorkspacePath: c.Path, AgentPresetID: choices.preset, Model: choices.model, Permission: choices.permission, Title: title}
	if _, err := s.append(ses, Created, created); err != nil {
		return Summary{}, err
	}
	s.changed(ses)
	return s.summary(ses), nil
}

// claimID finds the session or makes room for it, so that of several who create
// one id at once the first writes it and the others find it.
func (s *Store) claimID(id string) (*session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errEnding
	}
	ses := s.sessions[id]
	if ses == nil {
		ses = &session{state: newState()}
		s.sessions[id] = ses
	}
	return ses, nil
}

var errEnding = fault.Errorf(fault.Storage, "the host is ending")

// settings are what a session's turns run with.
type settings struct{ preset, model, permission string }

// complete fills in the defaults and refuses what the agent does not offer.
func (s *Store) complete(c *settings) error {
	name, _, _ := strings.Cut(c.preset, "/")
	if c.preset == "" {
		name = s.opts.Agents.Default()
	}
	a, ok := s.opts.Agents.Get(name)
	if !ok {
		if c.preset != "" {
			return nil // kept: the agent may be configured again; a prompt says that it is missing
		}
		return fault.Errorf(fault.AgentUnavailable, "no agent is configured")
	}
	d := a.Describe()
	if c.preset == "" && len(d.Presets) > 0 {
		c.preset = d.Presets[0].ID
	}
	c.model = cmp.Or(c.model, d.DefaultModel)
	c.permission = cmp.Or(c.permission, d.DefaultPermission)
	if len(d.Permissions) > 0 && !slices.ContainsFunc(d.Permissions, func(p agent.Choice) bool { return p.ID == c.permission }) {
		return fault.Errorf(fault.BadRequest, "the agent has no such permission")
	}
	if len(d.Presets) > 0 && !slices.ContainsFunc(d.Presets, func(p agent.Choice) bool { return p.ID == c.preset }) {
		return fault.Errorf(fault.BadRequest, "the agent has no such preset")
	}
	return nil
}

func cleanTitle(title string) (string, error) {
	title = strings.TrimSpace(title)
	if len(title) > MaxTitleBytes || !utf8.ValidString(title) || strings.ContainsAny(title, "\r\n\x00") {
		return "", fault.Errorf(fault.BadRequest, "a title is one line of at most %d bytes", MaxTitleBytes)
	}
	return title, nil
}

// Patch is what to change of a session; nil leaves it.
type Patch struct{ Title, AgentPresetID, Model, Permission *string }

// Update changes a session. The agent can be changed while it is blank. A title
// of "" brings the first message back. Codes: bad-request, not-found,
// agent-busy, log-corrupt, storage.
func (s *Store) Update(ctx context.Context, id string, p Patch) (Summary, error) {
	ses, err := s.find(id)
	if err != nil {
		return Summary{}, err
	}
	out, changed, err := s.update(ses, p)
	if err == nil && changed != (settings{}) {
		s.opts.Plugin.SettingsChanged(ctx, id, changed.permission, changed.preset)
	}
	return out, err
}

func (s *Store) update(ses *session, p Patch) (out Summary, changed settings, err error) {
	ses.mu.Lock()
	defer ses.mu.Unlock()
	if p.Title != nil {
		title, err := cleanTitle(*p.Title)
		if err != nil {
			return Summary{}, changed, err
		}
		if title != ses.state.Title || ses.state.TitleSource != "given" {
			if _, err := s.append(ses, Renamed, renamedData{title}); err != nil {
				return Summary{}, changed, err
			}
		}
	}
	was := settings{ses.state.AgentPresetID, ses.state.Model, ses.state.Permission}
	next := was
	if p.AgentPresetID != nil && *p.AgentPresetID != was.preset {
		next.preset = *p.AgentPresetID
		if agentOf(next.preset) != agentOf(was.preset) {
			if !ses.state.Blank || ses.turn != nil || ses.admitting != "" {
				return Summary{}, changed, fault.Errorf(fault.BadRequest, "the agent can be changed while the session is blank only")
			}
			next.model, next.permission = "", "" // they were the other agent's
		}
	}
	if p.Model != nil {
		next.model = *p.Model
	}
	if p.Permission != nil {
		next.permission = *p.Permission
	}
	if err := s.complete(&next); err != nil {
		return Summary{}, changed, err
	}
	var data settingsData
	if next.preset != was.preset {
		data.AgentPresetID, changed.preset = &next.preset, next.preset
	}
	if next.model != was.model {
		data.Model = &next.model
	}
	if next.permission != was.permission {
		data.Permission, changed.permission = &next.permission, next.permission
	}
	if data != (settingsData{}) {
		if _, err := s.append(ses, SettingsChanged, data); err != nil {
			return Summary{}, settings{}, err
		}
	}
	s.changed(ses)
	return s.summary(ses), changed, nil
}

func agentOf(preset string) string {
	name, _, _ := strings.Cut(preset, "/")
	return name
}

// Archive, Restore, Trash and Untrash move a session; doing it twice is a
// success. A running session is neither archived nor trashed. Codes: not-found,
// agent-busy, log-corrupt, storage.
func (s *Store) Archive(id string) (Summary, error) {
	return s.move(id, Archived, func(st *state) bool { return st.Archived })
}

// Restore takes a session out of the archive.
func (s *Store) Restore(id string) (Summary, error) {
	return s.move(id, Restored, func(st *state) bool { return !st.Archived })
}

// Trash puts a session into the trash for [TrashAge].
func (s *Store) Trash(id string) (Summary, error) {
	return s.move(id, Trashed, func(st *state) bool { return st.TrashedAt > 0 })
}

// Untrash takes it out again.
func (s *Store) Untrash(id string) (Summary, error) {
	return s.move(id, Untrashed, func(st *state) bool { return st.TrashedAt == 0 })
}

func (s *Store) move(id, kind string, done func(*state) bool) (Summary, error) {
	ses, err := s.find(id)
	if err != nil {
		return Summary{}, err
	}
	ses.mu.Lock()
	defer ses.mu.Unlock()
	if !done(ses.state) {
		if (kind == Archived || kind == Trashed) && (ses.turn != nil || ses.admitting != "") {
			return Summary{}, fault.Errorf(fault.AgentBusy, "the agent is working in this session; stop it first")
		}
		if _, err := s.append(ses, kind, nothing{}); err != nil {
			return Summary{}, err
		}
		s.changed(ses)
		if a, ok := s.opts.Agents.Get(ses.state.Agent); ok && (kind == Archived || kind == Trashed) {
			s.tasks.Go(func() { a.Forget(id) })
		}
	}
	return s.summary(ses), nil
}

// Get is the summary of a session. Code: not-found.
func (s *Store) Get(id string) (Summary, error) {
	ses, err := s.find(id)
	if err != nil {
		return Summary{}, err
	}
	ses.mu.Lock()
	defer ses.mu.Unlock()
	if ses.state.LastSeq == 0 && ses.state.Damaged == "" {
		return Summary{}, fault.Errorf(fault.NotFound, "there is no such session")
	}
	return s.summary(ses), nil
}

// Events are the events after that number, oldest first. Codes: not-found, storage.
func (s *Store) Events(id string, after int64) ([]eventlog.Event, error) {
	ses, err := s.find(id)
	if err != nil {
		return nil, err
	}
	ses.mu.Lock()
	log := ses.log
	ses.mu.Unlock()
	if log == nil {
		return nil, fault.Errorf(fault.NotFound, "there is no such session")
	}
	events, err := log.Read(after)
	if err != nil {
		return nil, fault.Errorf(fault.Storage, "the session's log could not be read: %w", err)
	}
	return events, nil
}

// Sync returns when the session's log is on disk. Codes: not-found, storage.
func (s *Store) Sync(id string) error {
	ses, err := s.find(id)
	if err != nil {
		return err
	}
	ses.mu.Lock()
	defer ses.mu.Unlock()
	if ses.log == nil {
		return fault.Errorf(fault.NotFound, "there is no such session")
	}
	if err := ses.log.Sync(); err != nil {
		return fault.Errorf(fault.Storage, "the session's log could not be synced: %w", err)
	}
	return nil
}

// Proof is a user message as the plugin looks for it.
type Proof struct {
	Seq          int64
	SubmissionID string
}

// Proofs are the user messages of a session, oldest first, with its summary.
// Codes: not-found, log-corrupt: what a damaged log proves is not known.
func (s *Store) Proofs(id string) ([]Proof, Summary, error) {
	ses, err := s.find(id)
	if err != nil {
		return nil, Summary{}, err
	}
	ses.mu.Lock()
	defer ses.mu.Unlock()
	if ses.state.Damaged != "" {
		return nil, Summary{}, fault.Errorf(fault.LogCorrupt, "the session's log is damaged (%s)", ses.state.Damaged)
	}
	if ses.state.LastSeq == 0 {
		return nil, Summary{}, fault.Errorf(fault.NotFound, "there is no such session")
	}
	var proofs []Proof
	for _, m := range ses.state.messages {
		proofs = append(proofs, Proof(m))
	}
	return proofs, s.summary(ses), nil
}
