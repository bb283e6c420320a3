package dshapi

import (
	"context"

	"github.com/draft-sessions/dsh-draft-sessions/host/dsh"
	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/contract"
	"github.com/google/uuid"
)

type object = map[string]any

func (c Client) draft(ctx context.Context, method string, request, out any) error {
	return dsh.Draft(ctx, c.URL, method, request, out)
}

// Status asks the bundle how it is.
func (c Client) Status(ctx context.Context) (dsh.Status, error) {
	var status dsh.Status
	err := c.draft(ctx, "status", object{}, &status)
	return status, err
}

// Drafts lists all drafts of all workspaces.
func (c Client) Drafts(ctx context.Context) ([]contract.Draft, error) {
	var value struct {
		Drafts []contract.Draft `json:"drafts"`
	}
	err := c.draft(ctx, "list", object{"workspaceId": ""}, &value)
	return value.Drafts, err
}

// Draft gets one draft.
func (c Client) Draft(ctx context.Context, id string) (contract.Draft, error) {
	var draft contract.Draft
	err := c.draft(ctx, "get", object{"draftId": id}, &draft)
	return draft, err
}

// NewDraft makes a draft with a session of its own, as the page's button does.
func (c Client) NewDraft(ctx context.Context, workspaceID, text string) (contract.Draft, error) {
	var draft contract.Draft
	err := c.draft(ctx, "newDraft", object{"workspaceId": workspaceID, "currentSessionId": "", "recentWorkspaceId": "",
		"idempotencyKey": uuid.NewString(), "text": text, "agentPresetId": ""}, &draft)
	return draft, err
}

// SetText replaces a draft's text, as a terminal would: strictly by revision.
func (c Client) SetText(ctx context.Context, id string, expectedRevision int64, text string) (contract.Draft, error) {
	var draft contract.Draft
	err := c.draft(ctx, "update", object{"draftId": id, "expectedRevision": expectedRevision, "text": text}, &draft)
	return draft, err
}

// DeleteDraft moves a draft to the trash.
func (c Client) DeleteDraft(ctx context.Context, id string) error {
	return c.draft(ctx, "delete", object{"draftId": id, "expectedRevision": 0}, nil)
}

// Sidebar gets the rows.
func (c Client) Sidebar(ctx context.Context) (contract.Sidebar, error) {
	var sidebar contract.Sidebar
	err := c.draft(ctx, "sidebar", object{}, &sidebar)
	return sidebar, err
}

// Reconcile compares all drafts with the harness' sessions.
func (c Client) Reconcile(ctx context.Context) error {
	return c.draft(ctx, "reconcile", object{"workspaceId": ""}, nil)
}

// Flush answers when every edit accepted so far is on disk.
func (c Client) Flush(ctx context.Context) error {
	return c.draft(ctx, "flush", object{"draftId": ""}, nil)
}
