// Package dshapi speaks the HTTP API of a running DeepSeek Harness: its own
// calls and the remote methods of our bundle, typed. It is the tests' second
// witness, beside the page, and plays "another client" where a test needs one.
package dshapi

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/draft-sessions/dsh-draft-sessions/host/dsh"
)

// Client calls the harness at URL. It has no state.
type Client struct {
	URL string
}

// Call calls a method of the harness and decodes its value into out, which may be nil.
func (c Client) Call(ctx context.Context, method string, payload, out any) error {
	return dsh.Call(ctx, c.URL, method, payload, out)
}

// Workspace is a folder that the harness works in.
type Workspace struct {
	ID         string   `json:"workspaceId"`
	Path       string   `json:"path"`
	SessionIDs []string `json:"sessionIds"`
}

// Session is a row of session.list.
type Session struct {
	ID          string `json:"sessionId"`
	Blank       bool   `json:"blank"`
	Running     bool   `json:"running"`
	CWD         string `json:"cwd"`
	AgentPreset string `json:"agentPreset"`
}

// UserMessage is a message of kind "user" in a session's history.
type UserMessage struct {
	Seq int64
	// RPCID is the id of the prompt that it came from; "" when a command started it.
	RPCID string
	Text  string
}

// History is what a test asks of a session's whole history.
type History struct {
	Messages   []UserMessage
	Permission string
	// InboxIDs are the rpc ids of prompts that entered the inbox, sent or not.
	InboxIDs []string
	LastSeq  int64
}

// Workspaces lists the workspaces and the archived session ids.
func (c Client) Workspaces(ctx context.Context) ([]Workspace, []string, error) {
	var value struct {
		Items    []Workspace `json:"items"`
		Archived []string    `json:"archivedSessionIds"`
	}
	err := c.Call(ctx, "workspace.list", struct{}{}, &value)
	return value.Items, value.Archived, err
}

// CreateWorkspace adds a folder; one that is there already keeps its id.
func (c Client) CreateWorkspace(ctx context.Context, path string) (Workspace, error) {
	var value struct {
		Workspace Workspace `json:"workspace"`
	}
	err := c.Call(ctx, "workspace.create", map[string]any{"path": path}, &value)
	return value.Workspace, err
}

// DeleteWorkspace takes a folder out of the list; its sessions stay.
func (c Client) DeleteWorkspace(ctx context.Context, workspaceID string) error {
	return c.Call(ctx, "workspace.delete", map[string]any{"workspaceId": workspaceID}, nil)
}

// ArchiveSession archives a session; there is no way back.
func (c Client) ArchiveSession(ctx context.Context, sessionID string) error {
	return c.Call(ctx, "workspace.archiveSession", map[string]any{"sessionId": sessionID}, nil)
}

// Sessions lists all sessions, blank ones included.
func (c Client) Sessions(ctx context.Context) ([]Session, error) {
	var value struct {
		Items []Session `json:"items"`
	}
	err := c.Call(ctx, "session.list", struct{}{}, &value)
	return value.Items, err
}

// CreateSession creates a session; with sessionID "" the harness chooses the id.
func (c Client) CreateSession(ctx context.Context, workspaceID, sessionID string) (string, error) {
	payload := map[string]any{"workspaceId": workspaceID}
	if sessionID != "" {
		payload["sessionId"] = sessionID
	}
	var value Session
	err := c.Call(ctx, "session.create", payload, &value)
	return value.ID, err
}

// RenameSession gives a session a title.
func (c Client) RenameSession(ctx context.Context, sessionID, title string) error {
	return c.Call(ctx, "session.rename", map[string]any{"sessionId": sessionID, "title": title}, nil)
}

// Prompt sends a prompt, as another client would, and returns when it is accepted or refused.
func (c Client) Prompt(ctx context.Context, sessionID, text string) error {
	payload := map[string]any{"sessionId": sessionID, "mode": "queue",
		"content": []any{map[string]any{"type": "text", "text": text}}}
	return c.Call(ctx, "session.prompt", payload, nil)
}

// RunCommand runs a command line such as "/permission read-only" in a session.
func (c Client) RunCommand(ctx context.Context, sessionID, line string) error {
	args := map[string]any{"agentId": sessionID, "line": line, "images": []any{}}
	return c.Call(ctx, "commands/execute", map[string]any{"args": args}, nil)
}

// UpdateSettings patches one settings namespace of the harness.
func (c Client) UpdateSettings(ctx context.Context, namespace string, patch map[string]any) error {
	return c.Call(ctx, "settings.update", map[string]any{"ns": namespace, "patch": patch}, nil)
}

// History reads the whole history of a session, page after page.
func (c Client) History(ctx context.Context, sessionID string) (History, error) {
	var history History
	var pages [][]historyEvent
	payload := map[string]any{"sessionId": sessionID, "maxMessages": 100000}
	for first := true; ; first = false {
		var page historyPage
		if err := c.Call(ctx, "session.history", payload, &page); err != nil {
			return History{}, err
		}
		if first {
			history.Permission = page.Projections.Values.Permissions.CurrentValue
			history.LastSeq = page.Projections.AsOfSeq
		}
		pages = append(pages, page.Events)
		if !page.HasMore || len(page.Events) == 0 {
			break
		}
		payload["beforeSeq"] = page.Events[0].Event.Seq
	}
	for i := len(pages) - 1; i >= 0; i-- {
		for _, event := range pages[i] {
			event.addTo(&history)
		}
	}
	return history, nil
}

type historyPage struct {
	Events      []historyEvent `json:"events"`
	HasMore     bool           `json:"hasMore"`
	Projections struct {
		AsOfSeq int64 `json:"asOfSeq"`
		Values  struct {
			Permissions struct {
				CurrentValue string `json:"currentValue"`
			} `json:"permissions"`
		} `json:"values"`
	} `json:"projections"`
}

type historyEvent struct {
	Event struct {
		Type string          `json:"type"`
		Seq  int64           `json:"seq"`
		Data json.RawMessage `json:"data"`
	} `json:"event"`
}

type message struct {
	Source struct {
		Kind  string `json:"kind"`
		RPCID string `json:"rpcId"`
	} `json:"source"`
	Content []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"content"`
}

func (e historyEvent) addTo(history *History) {
	switch e.Event.Type {
	case "user/message":
		var m message
		// Another shape of a user message would show as a missing one in the test.
		if json.Unmarshal(e.Event.Data, &m) != nil || m.Source.Kind != "user" {
			return
		}
		var texts []string
		for _, part := range m.Content {
			if part.Type == "text" {
				texts = append(texts, part.Text)
			}
		}
		history.Messages = append(history.Messages, UserMessage{Seq: e.Event.Seq, RPCID: m.Source.RPCID, Text: strings.Join(texts, "")})
	case "agent/inbox/spliced":
		var spliced struct {
			Inserted []message `json:"inserted"`
		}
		if json.Unmarshal(e.Event.Data, &spliced) != nil {
			return
		}
		for _, m := range spliced.Inserted {
			if m.Source.Kind == "user" {
				history.InboxIDs = append(history.InboxIDs, m.Source.RPCID)
			}
		}
	}
}
