package acp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	sdk "github.com/coder/acp-go-sdk"
)

// program is a small agent on the real protocol, run as a process of its own:
// the prompt says what it does.
type program struct {
	conn *sdk.AgentSideConnection

	mu     sync.Mutex
	cancel map[sdk.SessionId]context.CancelFunc
	mode   sdk.SessionModeId
	count  int
}

// serve is the whole process.
func serve() {
	p := &program{cancel: map[sdk.SessionId]context.CancelFunc{}, mode: "calm"}
	p.conn = sdk.NewAgentSideConnection(p, os.Stdout, os.Stdin)
	<-p.conn.Done()
	if os.Getenv("STUBBORN") != "" {
		time.Sleep(time.Hour)
	}
}

func (p *program) Initialize(context.Context, sdk.InitializeRequest) (sdk.InitializeResponse, error) {
	version := sdk.ProtocolVersion(sdk.ProtocolVersionNumber)
	if os.Getenv("FUTURE") != "" {
		version = 99
	}
	return sdk.InitializeResponse{ProtocolVersion: version, AgentCapabilities: sdk.AgentCapabilities{LoadSession: os.Getenv("LOADS") != ""}}, nil
}

func (p *program) modes() *sdk.SessionModeState {
	return &sdk.SessionModeState{CurrentModeId: "calm", AvailableModes: []sdk.SessionMode{{Id: "calm", Name: "Calm"}, {Id: "bold", Name: "Bold"}}}
}

func (p *program) NewSession(_ context.Context, r sdk.NewSessionRequest) (sdk.NewSessionResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count++
	return sdk.NewSessionResponse{SessionId: sdk.SessionId(fmt.Sprint(os.Getpid(), "-", p.count, r.Cwd)), Modes: p.modes()}, nil
}

func (p *program) LoadSession(_ context.Context, r sdk.LoadSessionRequest) (sdk.LoadSessionResponse, error) {
	// The history is told again, as the protocol wants it.
	err := p.say(r.SessionId, "old words")
	return sdk.LoadSessionResponse{Modes: p.modes()}, err
}

func (p *program) SetSessionMode(_ context.Context, r sdk.SetSessionModeRequest) (sdk.SetSessionModeResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mode = r.ModeId
	return sdk.SetSessionModeResponse{}, nil
}

func (p *program) Cancel(_ context.Context, r sdk.CancelNotification) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if cancel := p.cancel[r.SessionId]; cancel != nil {
		cancel()
	}
	return nil
}

func (p *program) say(id sdk.SessionId, text string) error {
	return p.conn.SessionUpdate(context.Background(), sdk.SessionNotification{SessionId: id, Update: sdk.UpdateAgentMessageText(text)})
}

func (p *program) Prompt(_ context.Context, r sdk.PromptRequest) (sdk.PromptResponse, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	p.mu.Lock()
	p.cancel[r.SessionId] = cancel
	mode := p.mode
	p.mu.Unlock()
	text := r.Prompt[0].Text.Text
	switch word, _, _ := strings.Cut(text, " "); word {
	case "die":
		_ = p.say(r.SessionId, "dying")
		os.Exit(3)
	case "refuse":
		return sdk.PromptResponse{}, errors.New("no: " + text)
	case "wait":
		if err := p.say(r.SessionId, "waiting"); err != nil {
			return sdk.PromptResponse{}, err
		}
		<-ctx.Done()
		return sdk.PromptResponse{StopReason: sdk.StopReasonCancelled}, p.say(r.SessionId, " no more")
	case "deaf":
		if err := p.say(r.SessionId, "deaf"); err != nil {
			return sdk.PromptResponse{}, err
		}
		time.Sleep(time.Hour)
	case "child":
		child := exec.Command("sleep", "3600")
		if err := child.Start(); err != nil {
			return sdk.PromptResponse{}, err
		}
		return sdk.PromptResponse{StopReason: sdk.StopReasonEndTurn}, p.say(r.SessionId, fmt.Sprint(child.Process.Pid))
	case "work":
		return p.work(ctx, r.SessionId)
	}
	return sdk.PromptResponse{StopReason: sdk.StopReasonEndTurn}, p.say(r.SessionId, string(mode)+": "+text)
}

// work is a turn with everything in it.
func (p *program) work(ctx context.Context, id sdk.SessionId) (sdk.PromptResponse, error) {
	for _, update := range []sdk.SessionUpdate{
		sdk.UpdateAgentThoughtText("thinking"),
		sdk.UpdatePlan(sdk.PlanEntry{Content: "look", Priority: sdk.PlanEntryPriorityHigh, Status: sdk.PlanEntryStatusPending}),
		sdk.StartToolCall("t1", "Reading", sdk.WithStartKind(sdk.ToolKindRead), sdk.WithStartStatus(sdk.ToolCallStatusPending), sdk.WithStartLocations([]sdk.ToolCallLocation{{Path: "/a", Line: sdk.Ptr(7)}}), sdk.WithStartRawInput(map[string]any{"path": "/a"})),
		sdk.UpdateToolCall("t1", sdk.WithUpdateStatus(sdk.ToolCallStatusCompleted), sdk.WithUpdateContent([]sdk.ToolCallContent{sdk.ToolContent(sdk.TextBlock("found")), sdk.ToolDiffContent("/a", "new", "old")})),
	} {
		if err := p.conn.SessionUpdate(ctx, sdk.SessionNotification{SessionId: id, Update: update}); err != nil {
			return sdk.PromptResponse{}, err
		}
	}
	answer, err := p.conn.RequestPermission(ctx, sdk.RequestPermissionRequest{
		SessionId: id, ToolCall: sdk.ToolCallUpdate{ToolCallId: "t1"},
		Options: []sdk.PermissionOption{{OptionId: "y", Name: "Yes", Kind: sdk.PermissionOptionKindAllowOnce}, {OptionId: "n", Name: "No", Kind: sdk.PermissionOptionKindRejectOnce}},
	})
	if err != nil {
		return sdk.PromptResponse{}, err
	}
	said := "dismissed"
	if answer.Outcome.Selected != nil {
		said = "chose " + string(answer.Outcome.Selected.OptionId)
	}
	return sdk.PromptResponse{StopReason: sdk.StopReasonMaxTokens}, p.say(id, said)
}

func (p *program) Authenticate(context.Context, sdk.AuthenticateRequest) (sdk.AuthenticateResponse, error) {
	return sdk.AuthenticateResponse{}, nil
}

func (p *program) CloseSession(context.Context, sdk.CloseSessionRequest) (sdk.CloseSessionResponse, error) {
	return sdk.CloseSessionResponse{}, sdk.NewMethodNotFound(sdk.AgentMethodSessionClose)
}

func (p *program) ListSessions(context.Context, sdk.ListSessionsRequest) (sdk.ListSessionsResponse, error) {
	return sdk.ListSessionsResponse{}, sdk.NewMethodNotFound(sdk.AgentMethodSessionList)
}

func (p *program) ResumeSession(context.Context, sdk.ResumeSessionRequest) (sdk.ResumeSessionResponse, error) {
	return sdk.ResumeSessionResponse{}, sdk.NewMethodNotFound(sdk.AgentMethodSessionResume)
}

func (p *program) SetSessionConfigOption(context.Context, sdk.SetSessionConfigOptionRequest) (sdk.SetSessionConfigOptionResponse, error) {
	return sdk.SetSessionConfigOptionResponse{}, sdk.NewMethodNotFound(sdk.AgentMethodSessionSetConfigOption)
}
