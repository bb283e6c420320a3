package smoketest

import (
	"fmt"
	"testing"
)

// The same while our bundle was not there: in stock mode the page may open a
// draft's session and send something else in it.
func TestMessageInStockModeDetaches(t *testing.T) {
	h := startHome(t)
	draft := h.MakeDraft("written before")
	h.Must(h.Stop())
	h.Must(h.Uninstall(h.Ctx))
	h.start()
	h.Must(h.API.Prompt(h.Ctx, draft.SessionID, "sent in stock mode"))
	if got := h.AwaitSent("sent in stock mode"); got != draft.SessionID {
		t.Fatalf("the message is in %s", got)
	}
	h.Must(h.Stop())
	h.install()
	h.start()
	h.awaitMode("full")
	p := h.open()
	p.ShowsRow(draft.ID)
	h.Detached(draft.ID, draft.SessionID, "written before")
	p.Says("detached")
	p.Shows(draft.ID, "written before")
	if got := h.AwaitSent("sent in stock mode"); got != draft.SessionID {
		t.Errorf("the foreign message moved to %s", got)
	}
}

// A workspace whose folder was removed from the list and added again has a new
// id: its drafts come back under it with their texts.
func TestReaddedFolderIsAdopted(t *testing.T) {
	h := startHome(t)
	draft := h.MakeDraft("in a folder that comes back")
	p := h.open()
	p.Shows(draft.ID, "in a folder that comes back")
	h.Must(h.API.DeleteWorkspace(h.Ctx, h.work.ID))
	p.hasNoGroup("work")
	p.ShowsRow(draft.ID)
	again, err := h.API.CreateWorkspace(h.Ctx, h.work.Path)
	h.Must(err)
	if again.ID == h.work.ID {
		t.Fatal("the harness kept the workspace's id; the test needs a new one")
	}
	// The page comes back on the session that has no folder, whose composer is shut.
	h.Must(p.Reload())
	h.Must(p.ExpandGroup("work"))
	p.Shows(draft.ID, "in a folder that comes back")
	h.Eventually("the draft belongs to the folder's new id", func() error {
		if now := h.Draft(draft.ID); now.WorkspaceID != again.ID {
			return fmt.Errorf("workspace %s", now.WorkspaceID)
		}
		return nil
	})
	h.Bound(draft.ID)
}
