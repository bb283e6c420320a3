// Command planner is an agent of the Agent Client Protocol for tests of a page: the
// prompt "plan" has it work off a plan of two steps, "wait" until it is cancelled, and
// "die" ends the process in the middle of an answer.
package main

import (
	"context"
	"os"
	"sync"

	sdk "github.com/coder/acp-go-sdk"
)

type planner struct {
	sdk.Agent // what is not needed here is not called
	conn      *sdk.AgentSideConnection

	mu     sync.Mutex
	cancel context.CancelFunc // of the prompt that waits
}

func main() {
	p := &planner{}
	p.conn = sdk.NewAgentSideConnection(p, os.Stdout, os.Stdin)
	<-p.conn.Done()
}

func (p *planner) Initialize(context.Context, sdk.InitializeRequest) (sdk.InitializeResponse, error) {
	return sdk.InitializeResponse{ProtocolVersion: sdk.ProtocolVersionNumber}, nil
}

func (p *planner) NewSession(context.Context, sdk.NewSessionRequest) (sdk.NewSessionResponse, error) {
	return sdk.NewSessionResponse{SessionId: "one"}, nil
}

func (p *planner) Cancel(context.Context, sdk.CancelNotification) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cancel != nil {
		p.cancel()
	}
	return nil
}

func (p *planner) Prompt(_ context.Context, r sdk.PromptRequest) (sdk.PromptResponse, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	p.mu.Lock()
	p.cancel = cancel
	p.mu.Unlock()
	tell := func(updates ...sdk.SessionUpdate) (err error) {
		for _, update := range updates {
			if err = p.conn.SessionUpdate(context.Background(), sdk.SessionNotification{SessionId: r.SessionId, Update: update}); err != nil {
				return err
			}
		}
		return nil
	}
	step := func(text string, status sdk.PlanEntryStatus) sdk.PlanEntry {
		return sdk.PlanEntry{Content: text, Priority: sdk.PlanEntryPriorityMedium, Status: status}
	}
	done := sdk.PromptResponse{StopReason: sdk.StopReasonEndTurn}
	switch r.Prompt[0].Text.Text {
	case "wait":
		if err := tell(sdk.UpdateAgentMessageText("waiting")); err != nil {
			return done, err
		}
		<-ctx.Done()
		return sdk.PromptResponse{StopReason: sdk.StopReasonCancelled}, nil
	case "die":
		_ = tell(sdk.UpdateAgentMessageText("half an answer"))
		os.Exit(3)
	}
	return done, tell(
		sdk.UpdatePlan(step("Look at it", sdk.PlanEntryStatusInProgress), step("Mend it", sdk.PlanEntryStatusPending)),
		sdk.UpdateAgentMessageText("Working it off."),
		sdk.UpdatePlan(step("Look at it", sdk.PlanEntryStatusCompleted), step("Mend it", sdk.PlanEntryStatusInProgress)),
	)
}
