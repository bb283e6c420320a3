package sessions

import (
	"context"
	"strings"

	"github.com/draft-sessions/dsh-draft-sessions/plugin/drafts"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
	pb "github.com/draft-sessions/dsh-draft-sessions/shared/proto/draftsessionsv1"
)

// The kinds of a shared.Operation.
const (
	kindPrompt  = "prompt"
	kindCommand = "command"
)

// Admission answers a host that is about to admit a prompt or command.
type Admission struct {
	// Refuse: admit nothing, tell the sender Message.
	Refuse  bool
	Code    shared.Code
	Message string
	// DraftID is the draft whose send this is, "" for a message that is not ours.
	DraftID string
}

// Prompt is a submission that the host is about to admit.
type Prompt struct {
	SessionID, PromptID, Text string
}

// BeforePrompt decides whether a prompt is a draft's send: it is when its text
// is what the draft, one of its open editors or one of its conflict copies
// holds. Then its id is on disk before the host admits it, as the id whose proof
// is looked for after a crash. A second send of the same draft, while the first
// is under way, is refused: sent once and exactly once. Any other text goes
// through as not ours. Trouble of our own never refuses.
func (m *Manager) BeforePrompt(ctx context.Context, p Prompt) Admission {
	return m.before(ctx, p.SessionID, p.Text, shared.Operation{Kind: kindPrompt, ID: p.PromptID, SessionID: p.SessionID})
}

// Command is a command line that a composer executed. LastSeq is the session's
// last event number before it.
type Command struct {
	SessionID, CommandID, Line string
	LastSeq                    int64
}

// BeforeCommand is BeforePrompt for a command line such as "/plan text", whose
// user message carries no id: a message of that kind after LastSeq is its proof.
func (m *Manager) BeforeCommand(ctx context.Context, c Command) Admission {
	return m.before(ctx, c.SessionID, c.Line, shared.Operation{Kind: kindCommand, ID: c.CommandID, SessionID: c.SessionID, AfterSeq: c.LastSeq})
}

func (m *Manager) before(ctx context.Context, sessionID, text string, op shared.Operation) Admission {
	rec, ok := m.draftOf(sessionID)
	if !ok {
		return Admission{}
	}
	if err := m.opts.Editors.Flush(ctx, rec.ID); err != nil {
		m.opts.Log.Warn("could not save the draft before its send", "draft", rec.ID, "code", shared.CodeOf(err))
	}
	unlock, err := m.locks.lock(ctx, rec.ID)
	if err != nil {
		return Admission{}
	}
	defer unlock()
	if rec, err = m.opts.Store.Get(rec.ID); err != nil || rec.SessionID == nil || *rec.SessionID != sessionID {
		return Admission{}
	}
	if !m.ours(ctx, rec, text) {
		return Admission{}
	}
	if m.inFlight(rec) && rec.Operation.ID != op.ID {
		return Admission{Refuse: true, Code: shared.OperationConflict, Message: "This draft is already being sent.", DraftID: rec.ID}
	}
	op.StartedAt = m.opts.Now().UnixMilli()
	op.HostInstance = m.opts.Host.Instance()
	op.TextHash = shared.TextHash(strings.TrimSpace(text))
	if _, err := m.opts.Store.Modify(ctx, rec.ID, func(d *shared.DraftRecord) error {
		d.Operation, d.State = &op, shared.StateConverting
		return nil
	}); err != nil {
		// The host sends all the same; Reconcile will find a message that it does
		// not know, and the text stays a draft.
		m.opts.Log.Error("could not record a send", "draft", rec.ID, "code", shared.CodeOf(err))
	}
	return Admission{DraftID: rec.ID}
}

// ours tells whether a submitted text is the draft's.
func (m *Manager) ours(ctx context.Context, rec shared.DraftRecord, sent string) bool {
	if sentBy(rec.Text, rec.Content, sent) {
		return true
	}
	for _, c := range rec.Conflicts {
		if sentBy(c.Text, c.Content, sent) {
			return true
		}
	}
	ctx, cancel := context.WithTimeout(ctx, lastKeys)
	defer cancel()
	if !m.opts.Editors.AwaitText(ctx, rec.ID, func(text string, content *shared.Content) bool { return sentBy(text, content, sent) }) {
		return false
	}
	if err := m.opts.Editors.Flush(context.WithoutCancel(ctx), rec.ID); err != nil {
		m.opts.Log.Warn("could not save the last keys before a send", "draft", rec.ID, "code", shared.CodeOf(err))
	}
	return true
}

// inFlight tells whether the host process that was asked to send the draft is
// still the one that we talk to, and may yet admit it.
func (m *Manager) inFlight(rec shared.DraftRecord) bool {
	op := rec.Operation
	if op == nil || rec.State != shared.StateConverting || rec.SessionID == nil || op.SessionID != *rec.SessionID {
		return false
	}
	return m.patience(op) > 0 && op.HostInstance == m.opts.Host.Instance()
}

// AfterPrompt takes the host's answer. A refused prompt leaves the draft as it
// was; an accepted one proves nothing yet, so its message is awaited in the
// background (invariant 2).
func (m *Manager) AfterPrompt(ctx context.Context, sessionID, promptID string, accepted bool) {
	m.after(ctx, sessionID, promptID, accepted)
}

// AfterCommand is AfterPrompt for a command.
func (m *Manager) AfterCommand(ctx context.Context, sessionID, commandID string, succeeded bool) {
	m.after(ctx, sessionID, commandID, succeeded)
}

func (m *Manager) after(ctx context.Context, sessionID, operationID string, accepted bool) {
	rec, ok := m.draftOf(sessionID)
	if !ok || rec.Operation == nil || rec.Operation.ID != operationID {
		return // not a draft's send, or its proof came first
	}
	if accepted {
		m.follow(rec.ID, sessionID)
		return
	}
	if _, err := m.opts.Store.Modify(ctx, rec.ID, func(d *shared.DraftRecord) error {
		if d.Operation == nil || d.Operation.ID != operationID {
			return drafts.ErrNoChange
		}
		d.Operation, d.State = nil, shared.StateReady
		return nil
	}); err != nil {
		m.opts.Log.Warn("could not take back a refused send", "draft", rec.ID, "code", shared.CodeOf(err))
	}
}

// UserMessage takes the observation of a user message in a session.
func (m *Manager) UserMessage(sessionID string) {
	if rec, ok := m.draftOf(sessionID); ok {
		m.follow(rec.ID, sessionID)
	}
}

// Settings of a session that a draft keeps, so that a session created again has them too.
type Settings struct{ Permission, AgentPreset string }

// SettingsChanged takes the observation of a session's permission or preset.
func (m *Manager) SettingsChanged(ctx context.Context, sessionID string, s Settings) error {
	rec, ok := m.draftOf(sessionID)
	if !ok {
		return nil
	}
	_, err := m.opts.Store.Modify(ctx, rec.ID, func(d *shared.DraftRecord) error {
		before := d.AgentPresetID
		settings := shared.Settings{}
		if d.Settings != nil {
			settings = *d.Settings
		}
		permission := settings.Permission
		if s.Permission != "" {
			settings.Permission = s.Permission
		}
		if s.AgentPreset != "" {
			d.AgentPresetID = s.AgentPreset
		}
		if before == d.AgentPresetID && permission == settings.Permission {
			return drafts.ErrNoChange
		}
		d.Settings = &settings
		return nil
	})
	return err
}

// proven tells whether a history proves the operation.
func proven(op *shared.Operation, history *pb.ReadSessionResult) bool {
	for _, message := range history.UserMessages {
		switch op.Kind {
		case kindPrompt:
			if message.PromptId == op.ID {
				return true
			}
		case kindCommand:
			if message.PromptId == "" && message.Seq > op.AfterSeq {
				return true
			}
		}
	}
	return false
}
