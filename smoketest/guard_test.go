package smoketest

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/contract"
)

// Invariant 4: with 25 drafts in one workspace the start page, New Session and
// the group's "+" open a session of none of them, and what is written and sent
// there touches no draft.
func TestStockSessionsNeverOpenADraft(t *testing.T) {
	h := startHome(t)
	var drafts []contract.Draft
	sessions := map[string]string{}
	for i := range 25 {
		draft := h.MakeDraft(fmt.Sprintf("draft number %d", i))
		if owner, taken := sessions[draft.SessionID]; taken {
			t.Fatalf("drafts %s and %s share session %s", owner, draft.ID, draft.SessionID)
		}
		sessions[draft.SessionID] = draft.ID
		drafts = append(drafts, draft)
	}
	p := h.open()
	p.onBlankSession()
	h.Eventually("there are 25 rows", func() error {
		rows, err := p.Rows()
		if err != nil {
			return err
		}
		if len(rows) != len(drafts) {
			return fmt.Errorf("%d rows", len(rows))
		}
		return nil
	})

	ways := []struct {
		name string
		open func() error
	}{
		{"the start page", func() error { return nil }},
		{"New Session", p.PressNewSession},
		{"the group's +", func() error { return p.PressGroupPlus("work") }},
		{"New Session while a draft is open", func() error {
			p.Shows(drafts[7].ID, drafts[7].Text)
			return p.PressNewSession()
		}},
		{"the group's + while a draft is open", func() error {
			p.Shows(drafts[11].ID, drafts[11].Text)
			return p.PressGroupPlus("work")
		}},
	}
	for i, way := range ways {
		t.Log(way.name)
		h.Must(way.open())
		p.onBlankSession()
		p.Holds("")
		text := fmt.Sprintf("ordinary prompt %d", i)
		p.Writes(text)
		h.Must(p.Enter())
		session := h.AwaitSent(text)
		if owner, isDrafts := sessions[session]; isDrafts {
			t.Fatalf("%s: the prompt went into the session of draft %s", way.name, owner)
		}
		p.Holds("")
	}
	h.Must(h.API.Flush(h.Ctx))
	for _, draft := range drafts {
		h.Must(h.CheckDisk(draft.ID, draft.Text))
	}
	if now := h.AllDrafts(); len(now) != len(drafts) {
		t.Errorf("%d drafts, want %d", len(now), len(drafts))
	}
	other := h.open()
	other.onBlankSession()
	other.Shows(drafts[24].ID, drafts[24].Text)
}

// The start page's workspace picker makes the page show a session of another
// workspace and carries the text there, which leaves the draft's composer empty.
// Invariant 5: the draft moves along, or stays as it is; it is never emptied.
func TestWorkspacePickerEmptiesNoDraft(t *testing.T) {
	h := startHome(t)
	elsewhere := h.workspace("elsewhere")
	p := h.open()
	other := p.NewDraftWith("bystander")
	draft := p.NewDraftWith("carry me")
	if draft.WorkspaceID == elsewhere.ID {
		elsewhere = h.work
	}
	bystander := h.open()
	h.Must(p.PickWorkspace(filepath.Base(elsewhere.Path)))
	h.Eventually("the page shows a session of the other workspace", func() error {
		workspaces, _, err := h.API.Workspaces(h.Ctx)
		if err != nil {
			return err
		}
		current := p.current()
		for _, workspace := range workspaces {
			for _, session := range workspace.SessionIDs {
				if session == current && workspace.ID == elsewhere.ID {
					return nil
				}
			}
		}
		return fmt.Errorf("it shows %s", current)
	})
	p.Holds("carry me")
	bystander.Says("moved")
	h.Must(h.API.Flush(h.Ctx))
	h.Eventually("the draft has its text, in its workspace or the other one", func() error {
		if now := h.Draft(draft.ID); now.Text != "carry me" || (now.WorkspaceID != draft.WorkspaceID && now.WorkspaceID != elsewhere.ID) {
			return fmt.Errorf("text %q, workspace %s", now.Text, now.WorkspaceID)
		}
		return nil
	})
	h.Bound(draft.ID)
	p.Shows(other.ID, "bystander")
	p.Shows(draft.ID, "carry me")
	seen, err := p.NoticesSeen()
	h.Must(err)
	if slices.Contains(seen, "moved") {
		t.Error("the page that moved the draft says that it was moved")
	}
	p.Reloads()
	p.Shows(draft.ID, "carry me")
	h.OnDisk(draft.ID, "carry me")
	h.OnDisk(other.ID, "bystander")
}
