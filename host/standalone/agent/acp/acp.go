// Package acp is the agent for every program that speaks the Agent Client
// Protocol on its standard input and output. Make it with [New]. The program is
// started with the first prompt, serves all sessions, and ends with the host; when
// it dies, the turns that it was in fail and the next prompt starts it again.
//
// The host offers the program neither files nor terminals: it uses its own, and
// asks for permission, which reaches the page.
package acp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	sdk "github.com/coder/acp-go-sdk"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/agent"
	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/fault"
)

const (
	// startWithin bounds starting the program, or opening a conversation in it.
	startWithin = 60 * time.Second
	// cancelWithin is how long the program may take to end a turn that was
	// cancelled; after that it is killed.
	cancelWithin = 10 * time.Second
)

// Config says which program to run.
type Config struct {
	// Command is the program and its arguments.
	Command []string
	// Env are further entries "KEY=value"; the program gets the host's environment.
	Env []string
	// Changed is called when the program told what can be chosen; nil is allowed.
	Changed func()
}

// ACP is the agent.
type ACP struct {
	config Config
	id     string
	// patience is cancelWithin, shorter in tests.
	patience time.Duration
	tasks    sync.WaitGroup
	// starting is held while the program is being started.
	starting sync.Mutex

	mu      sync.Mutex // guards what follows
	process *process
	// presets and models are what the program told last.
	presets []agent.Choice
	models  []agent.Choice
	model   string
	closed  bool
}

var notInID = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

// New makes the agent; nothing is started yet. Code: bad-request.
func New(c Config) (*ACP, error) {
	if len(c.Command) == 0 || c.Command[0] == "" {
		return nil, fault.Errorf(fault.BadRequest, "an acp agent needs a command, such as acp:my-agent")
	}
	name := notInID.ReplaceAllString(filepath.Base(c.Command[0]), "-")
	return &ACP{config: c, id: "acp-" + strings.Trim(name, "-"), patience: cancelWithin}, nil
}

// Describe implements [agent.Agent].
func (a *ACP) Describe() agent.Description {
	a.mu.Lock()
	defer a.mu.Unlock()
	d := agent.Description{
		ID: a.id, Title: strings.TrimPrefix(a.id, "acp-"), Note: "A program that speaks the Agent Client Protocol.",
		Models: slices.Clone(a.models), DefaultModel: a.model,
		Presets: append([]agent.Choice{{ID: a.id + "/default", Name: "Default", Description: "As the program starts."}}, a.presets...),
		Permissions: []agent.Choice{
			{ID: agent.PermissionAsk, Name: "Ask", Description: "Ask me every time."},
			{ID: agent.PermissionAllow, Name: "Allow", Description: "Allow whatever it asks for, once each time."},
			{ID: agent.PermissionReject, Name: "Reject", Description: "Reject whatever it asks for."},
		},
		DefaultPermission: agent.PermissionAsk,
		Available:         true,
	}
	if d.Models == nil {
		d.Models = []agent.Choice{}
	}
	return d
}

// remembered is what is left for the next turn of a session.
type remembered struct {
	SessionID string `json:"sessionId"`
}

// Run implements [agent.Agent].
func (a *ACP) Run(ctx context.Context, turn agent.Turn, out agent.Output) (agent.Stop, error) {
	setup, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	p, err := a.running(setup)
	if err != nil {
		return stopped(ctx, err)
	}
	c, err := a.converse(setup, p, turn, out)
	if err != nil {
		return stopped(ctx, p.explain("opening a conversation", err))
	}
	p.client.attach(c.id, out)
	defer p.client.detach(c.id)
	if err := a.choose(setup, p, c, turn); err != nil {
		return stopped(ctx, p.explain("choosing what was set", err))
	}
	return a.prompt(ctx, p, c, turn)
}

// stopped takes a failure that the person's own cancel caused for a cancel.
func stopped(ctx context.Context, err error) (agent.Stop, error) {
	if ctx.Err() != nil {
		return agent.Cancelled, nil
	}
	return "", err
}

// prompt asks the program and waits for the end of its turn, also after a
// cancel: what it still says belongs to the turn.
func (a *ACP) prompt(ctx context.Context, p *process, c *conversation, turn agent.Turn) (agent.Stop, error) {
	own, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	defer giveUp()
	ended := make(chan struct{})
	defer close(ended)
	a.tasks.Go(func() {
		select {
		case <-ended:
			return
		case <-ctx.Done():
		}
		// A program that is gone has ended the turn already.
		_ = p.conn.Cancel(own, sdk.CancelNotification{SessionId: c.id})
		late := time.NewTimer(a.patience)
		defer late.Stop()
		select {
		case <-ended:
		case <-late.C:
			p.kill()
		}
	})
	response, err := p.conn.Prompt(own, sdk.PromptRequest{SessionId: c.id, Prompt: []sdk.ContentBlock{sdk.TextBlock(turn.Prompt)}})
	if err != nil {
		return stopped(ctx, p.explain("the prompt", err))
	}
	switch response.StopReason {
	case sdk.StopReasonCancelled:
		return agent.Cancelled, nil
	case sdk.StopReasonMaxTokens, sdk.StopReasonMaxTurnRequests:
		return agent.Truncated, nil
	case sdk.StopReasonRefusal:
		return agent.Refused, nil
	}
	return agent.Completed, nil
}

// conversation is the program's side of a session.
type conversation struct {
	id    sdk.SessionId
	mode  sdk.SessionModeId
	first sdk.SessionModeId // as the program started
	model sdk.ModelId
}

// converse finds the conversation of a session, has the program load the one
// that it had, or begins another.
func (a *ACP) converse(ctx context.Context, p *process, turn agent.Turn, out agent.Output) (*conversation, error) {
	p.mu.Lock()
	c := p.conversations[turn.SessionID]
	p.mu.Unlock()
	if c != nil {
		return c, nil
	}
	c, err := a.load(ctx, p, turn)
	if err != nil {
		return nil, err
	}
	if c == nil {
		opened, err := p.conn.NewSession(ctx, sdk.NewSessionRequest{Cwd: turn.Folder, McpServers: []sdk.McpServer{}})
		if err != nil {
			return nil, err
		}
		c = a.learn(opened.SessionId, opened.Modes, opened.Models)
		if len(turn.History) > 0 {
			if err := out.Notice("agent-forgot", "The agent begins anew: it does not know the earlier messages of this session."); err != nil {
				return nil, err
			}
		}
		state, err := json.Marshal(remembered{SessionID: string(c.id)})
		if err != nil {
			return nil, fmt.Errorf("keeping the conversation's id: %w", err)
		}
		if err := out.Remember(state); err != nil {
			return nil, err
		}
	}
	p.mu.Lock()
	p.conversations[turn.SessionID] = c
	p.mu.Unlock()
	return c, nil
}

// load gives nil when the program cannot, or does not know it any more.
func (a *ACP) load(ctx context.Context, p *process, turn agent.Turn) (*conversation, error) {
	id := stateOf(turn.State)
	if id == "" || !p.capabilities.LoadSession {
		return nil, nil
	}
	// What it repeats of the history while loading is in our log already: nobody
	// is attached to it yet.
	loaded, err := p.conn.LoadSession(ctx, sdk.LoadSessionRequest{SessionId: id, Cwd: turn.Folder, McpServers: []sdk.McpServer{}})
	var refused *sdk.RequestError
	if errors.As(err, &refused) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return a.learn(id, loaded.Modes, loaded.Models), nil
}

func stateOf(state jsontext.Value) sdk.SessionId {
	var r remembered
	if len(state) == 0 || json.Unmarshal(state, &r) != nil {
		return ""
	}
	return sdk.SessionId(r.SessionID)
}

// learn keeps what the program offers.
func (a *ACP) learn(id sdk.SessionId, modes *sdk.SessionModeState, models *sdk.SessionModelState) *conversation {
	c := &conversation{id: id}
	a.mu.Lock()
	if modes != nil {
		c.mode, c.first = modes.CurrentModeId, modes.CurrentModeId
		a.presets = nil
		for _, m := range modes.AvailableModes {
			a.presets = append(a.presets, agent.Choice{ID: a.id + "/" + string(m.Id), Name: m.Name, Description: value(m.Description)})
		}
	}
	if models != nil {
		c.model = models.CurrentModelId
		a.models, a.model = nil, string(models.CurrentModelId)
		for _, m := range models.AvailableModels {
			a.models = append(a.models, agent.Choice{ID: string(m.ModelId), Name: m.Name, Description: value(m.Description)})
		}
	}
	a.mu.Unlock()
	if a.config.Changed != nil {
		a.config.Changed()
	}
	return c
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// choose brings mode and model to what the session is set to.
func (a *ACP) choose(ctx context.Context, p *process, c *conversation, turn agent.Turn) error {
	_, preset, _ := strings.Cut(turn.Preset, "/")
	mode := sdk.SessionModeId(preset)
	if preset == "" || preset == "default" && !a.offers(turn.Preset) {
		mode = c.first
	}
	if mode != "" && mode != c.mode {
		if _, err := p.conn.SetSessionMode(ctx, sdk.SetSessionModeRequest{SessionId: c.id, ModeId: mode}); err != nil {
			return err
		}
		c.mode = mode
	}
	if model := sdk.ModelId(turn.Model); model != "" && model != c.model && c.model != "" {
		if _, err := p.conn.UnstableSetSessionModel(ctx, sdk.UnstableSetSessionModelRequest{SessionId: c.id, ModelId: sdk.UnstableModelId(model)}); err != nil {
			return err
		}
		c.model = model
	}
	return nil
}

// offers tells whether a preset is one of the program's own modes.
func (a *ACP) offers(preset string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.ContainsFunc(a.presets, func(c agent.Choice) bool { return c.ID == preset })
}

// Forget implements [agent.Agent].
func (a *ACP) Forget(sessionID string) {
	a.mu.Lock()
	p := a.process
	a.mu.Unlock()
	if p != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		maps.DeleteFunc(p.conversations, func(id string, _ *conversation) bool { return id == sessionID })
	}
}

// Close implements [agent.Agent].
func (a *ACP) Close() error {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	a.starting.Lock() // whoever is starting it sees the end of its turn
	defer a.starting.Unlock()
	a.mu.Lock()
	p := a.process
	a.mu.Unlock()
	if p != nil {
		p.end()
	}
	a.tasks.Wait()
	return nil
}
