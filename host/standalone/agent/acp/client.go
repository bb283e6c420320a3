package acp

import (
	"context"
	"sync"
	"time"

	sdk "github.com/coder/acp-go-sdk"
	"github.com/go-json-experiment/json"

	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/agent"
)

// client takes what the program calls.
type client struct {
	mu    sync.Mutex // guards turns
	turns map[sdk.SessionId]*attached
}

// attached is the turn that a conversation is in.
type attached struct {
	out agent.Output
	// mu is held while out is used: detach waits for the last use.
	mu    sync.Mutex
	gone  bool
	calls map[sdk.ToolCallId]agent.ToolCall
	// more is closed and replaced with every tool call that is told.
	more chan struct{}
}

func (c *client) attach(id sdk.SessionId, out agent.Output) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.turns[id] = &attached{out: out, calls: map[sdk.ToolCallId]agent.ToolCall{}, more: make(chan struct{})}
}

func (c *client) detach(id sdk.SessionId) {
	c.mu.Lock()
	t := c.turns[id]
	delete(c.turns, id)
	c.mu.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.gone = true
}

func (c *client) turn(id sdk.SessionId) *attached {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.turns[id]
}

// SessionUpdate takes what the agent does. What belongs to no turn is dropped.
func (c *client) SessionUpdate(_ context.Context, n sdk.SessionNotification) error {
	t := c.turn(n.SessionId)
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.gone {
		return nil
	}
	u := n.Update
	switch {
	case u.AgentMessageChunk != nil:
		t.out.Text(text(u.AgentMessageChunk.Content))
	case u.AgentThoughtChunk != nil:
		t.out.Thought(text(u.AgentThoughtChunk.Content))
	case u.Plan != nil:
		entries := []agent.PlanEntry{}
		for _, e := range u.Plan.Entries {
			entries = append(entries, agent.PlanEntry{Text: e.Content, Priority: string(e.Priority), Status: string(e.Status)})
		}
		return t.out.Plan(entries)
	case u.ToolCall != nil:
		call := agent.ToolCall{ID: string(u.ToolCall.ToolCallId), Title: u.ToolCall.Title, Kind: string(u.ToolCall.Kind), Status: string(u.ToolCall.Status)}
		if call.Status == "" {
			call.Status = string(sdk.ToolCallStatusPending)
		}
		return t.tool(u.ToolCall.ToolCallId, fill(call, u.ToolCall.Content, u.ToolCall.Locations, u.ToolCall.RawInput))
	case u.ToolCallUpdate != nil:
		return t.update(u.ToolCallUpdate.ToolCallId, u.ToolCallUpdate.Title, u.ToolCallUpdate.Kind, u.ToolCallUpdate.Status, u.ToolCallUpdate.Content, u.ToolCallUpdate.Locations, u.ToolCallUpdate.RawInput)
	}
	return nil
}

func (t *attached) tool(id sdk.ToolCallId, call agent.ToolCall) error {
	t.calls[id] = call
	close(t.more)
	t.more = make(chan struct{})
	return t.out.Tool(call)
}

// announcedWithin is how long a request waits for its tool call to be told: the
// connection handles notifications in order, but requests beside them.
const announcedWithin = time.Second

// announced waits until a tool call was told, and gives it.
func (t *attached) announced(ctx context.Context, id sdk.ToolCallId) agent.ToolCall {
	ctx, cancel := context.WithTimeout(ctx, announcedWithin)
	defer cancel()
	for {
		t.mu.Lock()
		call, known := t.calls[id]
		more := t.more
		t.mu.Unlock()
		if known {
			return call
		}
		select {
		case <-more:
		case <-ctx.Done(): // an agent may ask about what it never told of
			return agent.ToolCall{}
		}
	}
}

// update changes the members of a call that are given.
func (t *attached) update(id sdk.ToolCallId, title *string, kind *sdk.ToolKind, status *sdk.ToolCallStatus, content []sdk.ToolCallContent, locations []sdk.ToolCallLocation, input any) error {
	call, known := t.calls[id]
	if !known {
		call = agent.ToolCall{ID: string(id), Status: string(sdk.ToolCallStatusPending)}
	}
	if title != nil {
		call.Title = *title
	}
	if kind != nil {
		call.Kind = string(*kind)
	}
	if status != nil {
		call.Status = string(*status)
	}
	return t.tool(id, fill(call, content, locations, input))
}

// maxToolText bounds one text of a tool call's content, in bytes.
const maxToolText = 256 << 10

func fill(call agent.ToolCall, content []sdk.ToolCallContent, locations []sdk.ToolCallLocation, input any) agent.ToolCall {
	if content != nil || call.Content == nil {
		call.Content = []agent.ToolContent{}
	}
	for _, c := range content {
		switch {
		case c.Content != nil:
			call.Content = append(call.Content, agent.ToolContent{Type: "text", Text: cut(text(c.Content.Content), maxToolText)})
		case c.Diff != nil:
			call.Content = append(call.Content, agent.ToolContent{Type: "diff", Path: c.Diff.Path, OldText: cut(value(c.Diff.OldText), maxToolText), NewText: cut(c.Diff.NewText, maxToolText)})
		case c.Terminal != nil:
			call.Content = append(call.Content, agent.ToolContent{Type: "terminal", Text: c.Terminal.TerminalId})
		}
	}
	if locations != nil || call.Locations == nil {
		call.Locations = []agent.Location{}
	}
	for _, l := range locations {
		location := agent.Location{Path: l.Path}
		if l.Line != nil {
			location.Line = *l.Line
		}
		call.Locations = append(call.Locations, location)
	}
	if input != nil {
		if data, err := json.Marshal(input, json.Deterministic(true)); err == nil { // came as JSON
			call.Input = cut(string(data), agent.MaxToolInput)
		}
	}
	return call
}

// cut shortens a text to at most limit bytes.
func cut(s string, limit int) string {
	const mark = "…"
	if len(s) <= limit {
		return s
	}
	end := limit - len(mark)
	for end > 0 && s[end]&0xC0 == 0x80 { // inside a character
		end--
	}
	return s[:end] + mark
}

// text is a block as text: what is none is named.
func text(b sdk.ContentBlock) string {
	switch {
	case b.Text != nil:
		return b.Text.Text
	case b.ResourceLink != nil:
		return b.ResourceLink.Name + " <" + b.ResourceLink.Uri + ">"
	case b.Image != nil:
		return "[image]"
	case b.Audio != nil:
		return "[audio]"
	case b.Resource != nil && b.Resource.Resource.TextResourceContents != nil:
		return b.Resource.Resource.TextResourceContents.Text
	}
	return "[content that cannot be shown]"
}

// RequestPermission asks the person, or the session's permission answers.
func (c *client) RequestPermission(ctx context.Context, r sdk.RequestPermissionRequest) (sdk.RequestPermissionResponse, error) {
	dismissed := sdk.RequestPermissionResponse{Outcome: sdk.NewRequestPermissionOutcomeCancelled()}
	t := c.turn(r.SessionId)
	if t == nil {
		return dismissed, nil
	}
	request := agent.PermissionRequest{ToolCallID: string(r.ToolCall.ToolCallId), Title: value(r.ToolCall.Title), Options: []agent.PermissionOption{}}
	for _, o := range r.Options {
		request.Options = append(request.Options, agent.PermissionOption{ID: string(o.OptionId), Name: o.Name, Kind: string(o.Kind)})
	}
	if call := t.announced(ctx, r.ToolCall.ToolCallId); request.Title == "" {
		request.Title = call.Title
	}
	t.mu.Lock()
	gone := t.gone
	t.mu.Unlock()
	if gone {
		return dismissed, nil
	}
	option, err := t.out.Ask(ctx, request)
	if err != nil {
		return dismissed, nil
	}
	return sdk.RequestPermissionResponse{Outcome: sdk.NewRequestPermissionOutcomeSelected(sdk.PermissionOptionId(option))}, nil
}

// The host offers neither files nor terminals, and says so when it introduces itself.

// ReadTextFile refuses.
func (*client) ReadTextFile(context.Context, sdk.ReadTextFileRequest) (sdk.ReadTextFileResponse, error) {
	return sdk.ReadTextFileResponse{}, sdk.NewMethodNotFound(sdk.ClientMethodFsReadTextFile)
}

// WriteTextFile refuses.
func (*client) WriteTextFile(context.Context, sdk.WriteTextFileRequest) (sdk.WriteTextFileResponse, error) {
	return sdk.WriteTextFileResponse{}, sdk.NewMethodNotFound(sdk.ClientMethodFsWriteTextFile)
}

// CreateTerminal refuses.
func (*client) CreateTerminal(context.Context, sdk.CreateTerminalRequest) (sdk.CreateTerminalResponse, error) {
	return sdk.CreateTerminalResponse{}, sdk.NewMethodNotFound(sdk.ClientMethodTerminalCreate)
}

// KillTerminal refuses.
func (*client) KillTerminal(context.Context, sdk.KillTerminalRequest) (sdk.KillTerminalResponse, error) {
	return sdk.KillTerminalResponse{}, sdk.NewMethodNotFound(sdk.ClientMethodTerminalKill)
}

// TerminalOutput refuses.
func (*client) TerminalOutput(context.Context, sdk.TerminalOutputRequest) (sdk.TerminalOutputResponse, error) {
	return sdk.TerminalOutputResponse{}, sdk.NewMethodNotFound(sdk.ClientMethodTerminalOutput)
}

// ReleaseTerminal refuses.
func (*client) ReleaseTerminal(context.Context, sdk.ReleaseTerminalRequest) (sdk.ReleaseTerminalResponse, error) {
	return sdk.ReleaseTerminalResponse{}, sdk.NewMethodNotFound(sdk.ClientMethodTerminalRelease)
}

// WaitForTerminalExit refuses.
func (*client) WaitForTerminalExit(context.Context, sdk.WaitForTerminalExitRequest) (sdk.WaitForTerminalExitResponse, error) {
	return sdk.WaitForTerminalExitResponse{}, sdk.NewMethodNotFound(sdk.ClientMethodTerminalWaitForExit)
}
