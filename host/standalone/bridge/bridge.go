// Package bridge connects the standalone host to its plugin process: it keeps
// the process running, hands on what a page asks of the drafts, tells it of
// prompts, and passes its events on. Make it with [New], start the process with
// [Bridge.Start].
//
// The host lives without it (invariant 8): while the process is being started
// again, drafts are paused; when it does not stay up, the host goes on as stock.
package bridge

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/draft-sessions/dsh-draft-sessions/host"
	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/fault"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
	pb "github.com/draft-sessions/dsh-draft-sessions/shared/proto/draftsessionsv1"
)

// askWithin bounds the question whether a prompt may be admitted.
const askWithin = 10 * time.Second

// The modes.
const (
	ModeFull  = "full"
	ModeStock = "stock"
)

// State is how the plugin is, for a page.
type State struct {
	Mode string `json:"mode"`
	// Epoch is new for every start of the process, "" while none runs.
	Epoch string `json:"epoch"`
	// Message says why drafts are paused or off, "" when they are not.
	Message string `json:"message"`
}

// Options configure [New].
type Options struct {
	// Event takes the plugin's events, in order; it must not block.
	Event func(*pb.Event)
	// Changed is told a new state; it must not block.
	Changed func(State)
	Log     hclog.Logger
}

// Bridge is the connection. Its methods may be called from any goroutine.
type Bridge struct {
	opts   Options
	cancel context.CancelFunc
	tasks  sync.WaitGroup

	mu         sync.Mutex // guards what follows
	supervisor *host.Supervisor
	state      State
	sidebar    *pb.Sidebar
}

// New makes a bridge without a process.
func New(o Options) *Bridge {
	return &Bridge{opts: o, state: State{Mode: ModeFull, Message: "The drafts are being opened."}}
}

// Start starts the process in the background and keeps it running until Close.
func (b *Bridge) Start(launch host.Options) {
	ctx, cancel := context.WithCancel(context.Background())
	b.cancel = cancel
	supervisor := host.Supervise(ctx, host.Supervision{Options: launch})
	b.mu.Lock()
	b.supervisor = supervisor
	b.mu.Unlock()
	b.tasks.Go(func() { b.follow(ctx, supervisor) })
}

// Close ends the process; what it has accepted is saved.
func (b *Bridge) Close() {
	if b.cancel == nil {
		return
	}
	b.cancel()
	b.mu.Lock()
	supervisor := b.supervisor
	b.mu.Unlock()
	supervisor.Close()
	b.tasks.Wait()
}

// follow tells of every change of the process, and watches each one's events.
func (b *Bridge) follow(ctx context.Context, supervisor *host.Supervisor) {
	stop := func() {}
	defer func() { stop() }()
	for status := range supervisor.Changes(ctx) {
		stop()
		stop = func() {}
		plugin, err := supervisor.Plugin()
		if status.Mode != host.Full || err != nil {
			b.set(away(status))
			continue
		}
		life, cancel := context.WithCancel(ctx)
		done := make(chan struct{})
		go func() { defer close(done); b.watch(life, plugin) }()
		stop = func() { cancel(); <-done }
	}
}

// away is the state while no process serves.
func away(status host.Status) State {
	s := State{Mode: ModeFull, Message: "The drafts are paused: the plugin ended and is being started again."}
	switch status.Mode {
	case host.Starting:
		s.Message = "The drafts are being opened."
	case host.Stock:
		s.Mode, s.Message = ModeStock, "The drafts are off."
		for _, reason := range status.Reasons {
			s.Message += " " + reason.Message
		}
	}
	return s
}

// watch passes the events on. The process counts as there when its first
// sidebar has come.
func (b *Bridge) watch(ctx context.Context, plugin *host.Plugin) {
	for ctx.Err() == nil {
		stream, err := plugin.Client.Watch(ctx, &pb.WatchRequest{})
		for err == nil {
			var e *pb.Event
			if e, err = stream.Recv(); err == nil {
				b.take(plugin, e)
			}
		}
		if status.Code(err) != codes.ResourceExhausted { // too slow: another stream begins with a fresh sidebar
			select {
			case <-time.After(100 * time.Millisecond):
			case <-ctx.Done():
			}
		}
	}
}

func (b *Bridge) take(plugin *host.Plugin, e *pb.Event) {
	if s := e.GetSidebar(); s != nil {
		b.mu.Lock()
		b.sidebar = s
		b.mu.Unlock()
		b.set(State{Mode: ModeFull, Epoch: plugin.Info.Epoch})
	}
	b.opts.Event(e)
}

func (b *Bridge) set(s State) {
	b.mu.Lock()
	changed := b.state != s
	b.state = s
	b.mu.Unlock()
	if changed {
		b.opts.Changed(s)
	}
}

// State is how the plugin is now.
func (b *Bridge) State() State {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.state
}

// Sidebar is the last one that was heard of, nil when none was.
func (b *Bridge) Sidebar() *pb.Sidebar {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.sidebar
}

// DraftSessions are the sessions that belong to drafts, reserved ones included.
func (b *Bridge) DraftSessions() map[string]bool {
	out := map[string]bool{}
	for _, id := range b.Sidebar().GetSessionIds() {
		out[id] = true
	}
	return out
}

// Client calls the plugin. Code: plugin-unavailable.
func (b *Bridge) Client() (pb.DraftSessionsClient, error) {
	b.mu.Lock()
	supervisor, state := b.supervisor, b.state
	b.mu.Unlock()
	if supervisor != nil {
		if client, err := supervisor.Client(); err == nil {
			return client, nil
		}
	}
	message := state.Message
	if message == "" { // it ended this very moment
		message = "The drafts are paused: the plugin ended and is being started again."
	}
	return nil, fault.Errorf(fault.PluginUnavailable, "%s", message)
}

// BeforePrompt implements sessions.Plugin. While the process is being started
// again, a prompt into a draft's session is refused: admitted behind the
// plugin's back it would leave its draft behind, as if it were unsent.
func (b *Bridge) BeforePrompt(ctx context.Context, sessionID, submissionID, text string) error {
	client, err := b.Client()
	if err != nil {
		if b.State().Mode == ModeFull && b.DraftSessions()[sessionID] {
			return err
		}
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	admission, err := client.BeforePrompt(ctx, &pb.BeforePromptRequest{SessionId: sessionID, PromptId: submissionID, Text: text})
	if err != nil {
		b.opts.Log.Warn("the plugin could not be asked before a prompt", "session", sessionID, "code", shared.CodeOf(err))
		if b.DraftSessions()[sessionID] {
			return fault.Errorf(fault.PluginUnavailable, "the draft could not be saved before its send; try again")
		}
		return nil
	}
	if admission.Decision == pb.Admission_REFUSE {
		return shared.Errorf(shared.Code(admission.Code), "%s", admission.Message)
	}
	return nil
}

// AfterPrompt implements sessions.Plugin.
func (b *Bridge) AfterPrompt(ctx context.Context, sessionID, submissionID string, accepted bool) {
	b.tell(ctx, "a prompt", func(ctx context.Context, client pb.DraftSessionsClient) error {
		if _, err := client.AfterPrompt(ctx, &pb.AfterPromptRequest{SessionId: sessionID, PromptId: submissionID, Accepted: accepted}); err != nil || !accepted {
			return err
		}
		_, err := client.ObserveSession(ctx, &pb.ObserveSessionRequest{SessionId: sessionID, Observation: &pb.ObserveSessionRequest_UserMessage{UserMessage: &pb.UserMessage{PromptId: submissionID}}})
		return err
	})
}

// SettingsChanged implements sessions.Plugin.
func (b *Bridge) SettingsChanged(ctx context.Context, sessionID, permission, agentPresetID string) {
	b.tell(ctx, "a setting", func(ctx context.Context, client pb.DraftSessionsClient) error {
		var err error
		if permission != "" {
			_, err = client.ObserveSession(ctx, &pb.ObserveSessionRequest{SessionId: sessionID, Observation: &pb.ObserveSessionRequest_Permission{Permission: permission}})
		}
		if agentPresetID != "" {
			_, presetErr := client.ObserveSession(ctx, &pb.ObserveSessionRequest{SessionId: sessionID, Observation: &pb.ObserveSessionRequest_AgentPreset{AgentPreset: agentPresetID}})
			err = errors.Join(err, presetErr)
		}
		return err
	})
}

// tell tells the plugin of something; what it does not hear, it finds in the
// sessions when it reconciles.
func (b *Bridge) tell(ctx context.Context, what string, call func(context.Context, pb.DraftSessionsClient) error) {
	client, err := b.Client()
	if err == nil {
		err = call(ctx, client)
	}
	if err != nil {
		b.opts.Log.Debug("the plugin was not told", "of", what, "code", shared.CodeOf(err))
	}
}
