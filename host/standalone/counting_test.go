package standalone_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	sdk "github.com/coder/acp-go-sdk"
	"github.com/tidwall/gjson"
	"io"
)

// countingAgent names the file in which a counting program writes every prompt.
const countingAgent = "STANDALONE_TEST_COUNTS"

// counting is an agent on the real protocol, run as a process of its own.
type counting struct {
	conn *sdk.AgentSideConnection
	log  string
}

func serveCounting(log string) {
	c := &counting{log: log}
	c.conn = sdk.NewAgentSideConnection(c, os.Stdout, os.Stdin)
	<-c.conn.Done()
}

func (c *counting) Initialize(context.Context, sdk.InitializeRequest) (sdk.InitializeResponse, error) {
	return sdk.InitializeResponse{ProtocolVersion: sdk.ProtocolVersionNumber}, nil
}

func (c *counting) NewSession(context.Context, sdk.NewSessionRequest) (sdk.NewSessionResponse, error) {
	return sdk.NewSessionResponse{SessionId: sdk.SessionId(fmt.Sprint("c", os.Getpid()))}, nil
}

func (c *counting) Prompt(ctx context.Context, r sdk.PromptRequest) (sdk.PromptResponse, error) {
	text := r.Prompt[0].Text.Text
	file, err := os.OpenFile(c.log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return sdk.PromptResponse{}, err
	}
	_, err = file.WriteString(text + "\n")
	if err := errors.Join(err, file.Close()); err != nil {
		return sdk.PromptResponse{}, err
	}
	if strings.HasPrefix(text, "ask") {
		answer, err := c.conn.RequestPermission(ctx, sdk.RequestPermissionRequest{
			SessionId: r.SessionId, ToolCall: sdk.ToolCallUpdate{ToolCallId: "t", Title: sdk.Ptr("Write a file")},
			Options: []sdk.PermissionOption{{OptionId: "y", Name: "Yes", Kind: sdk.PermissionOptionKindAllowOnce}, {OptionId: "n", Name: "No", Kind: sdk.PermissionOptionKindRejectOnce}},
		})
		if err != nil {
			return sdk.PromptResponse{}, err
		}
		text = "chose " + string(answer.Outcome.Selected.OptionId)
	}
	return sdk.PromptResponse{StopReason: sdk.StopReasonEndTurn}, c.conn.SessionUpdate(ctx, sdk.SessionNotification{SessionId: r.SessionId, Update: sdk.UpdateAgentMessageText("heard: " + text)})
}

func (c *counting) Cancel(context.Context, sdk.CancelNotification) error { return nil }

func (c *counting) Authenticate(context.Context, sdk.AuthenticateRequest) (sdk.AuthenticateResponse, error) {
	return sdk.AuthenticateResponse{}, nil
}

func (c *counting) CloseSession(context.Context, sdk.CloseSessionRequest) (sdk.CloseSessionResponse, error) {
	return sdk.CloseSessionResponse{}, nil
}

func (c *counting) ListSessions(context.Context, sdk.ListSessionsRequest) (sdk.ListSessionsResponse, error) {
	return sdk.ListSessionsResponse{}, nil
}

func (c *counting) ResumeSession(context.Context, sdk.ResumeSessionRequest) (sdk.ResumeSessionResponse, error) {
	return sdk.ResumeSessionResponse{}, nil
}

func (c *counting) SetSessionConfigOption(context.Context, sdk.SetSessionConfigOptionRequest) (sdk.SetSessionConfigOptionResponse, error) {
	return sdk.SetSessionConfigOptionResponse{}, nil
}

func (c *counting) SetSessionMode(context.Context, sdk.SetSessionModeRequest) (sdk.SetSessionModeResponse, error) {
	return sdk.SetSessionModeResponse{}, nil
}

// model is an OpenAI-compatible endpoint that counts the prompts and echoes them.
type model struct {
	server *httptest.Server
	// hold, when not nil, is waited for after the first piece of an answer.
	hold chan struct{}

	mu      sync.Mutex
	prompts []string
}

func newModel(t *testing.T) *model {
	m := &model{}
	m.server = httptest.NewServer(http.HandlerFunc(m.serve))
	t.Cleanup(m.server.Close)
	return m
}

func (m *model) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || !strings.HasSuffix(r.URL.Path, "/chat/completions") {
		http.NotFound(w, r)
		return
	}
	messages := gjson.GetBytes(body, "messages").Array()
	prompt := messages[len(messages)-1].Get("content").String()
	m.mu.Lock()
	m.prompts = append(m.prompts, prompt)
	m.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	piece := func(text, finish string) {
		_, _ = fmt.Fprintf(w, "data: {\"id\":\"1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":%q},\"finish_reason\":%s}]}\n\n", text, finish)
		w.(http.Flusher).Flush()
	}
	piece("heard: ", "null")
	if m.hold != nil {
		select {
		case <-m.hold:
		case <-r.Context().Done():
			return
		}
	}
	piece(prompt, `"stop"`)
	_, _ = io.WriteString(w, "data: [DONE]\n\n")
}

// count is how often a prompt was asked.
func (m *model) count(prompt string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := 0
	for _, p := range m.prompts {
		if p == prompt {
			n++
		}
	}
	return n
}
