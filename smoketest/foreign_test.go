package smoketest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/dshapi"
)

// A message of another client reaches a draft's session: the draft keeps its
// text and gets a fresh session; the other conversation stays as it is
// (invariants 2 and 12).
func TestMessageFromElsewhereDetaches(t *testing.T) {
	h := startHome(t)
	p := h.open()
	shown, hidden := p.newDraftWith("shown draft"), h.newDraft("hidden draft")
	p.showsRow(hidden.ID)
	p.shows(shown.ID, "shown draft")
	for _, draft := range []struct{ id, session, text string }{
		{hidden.ID, hidden.SessionID, "hidden draft"},
		{shown.ID, shown.SessionID, "shown draft"},
	} {
		h.must(h.API.Prompt(h.ctx, draft.session, "from elsewhere into "+draft.text))
		h.detached(draft.id, draft.session, draft.text)
		if got := h.awaitSent("from elsewhere into " + draft.text); got != draft.session {
			t.Errorf("the foreign message is in %s, sent to %s", got, draft.session)
		}
	}
	p.says("detached")
	p.shows(hidden.ID, "hidden draft")
	p.shows(shown.ID, "shown draft")
	// Still a draft like any other.
	p.write(" goes on")
	p.saved(shown.ID)
	h.must(p.Enter())
	h.awaitSent("shown draft goes on")
	p.hasNoRow(shown.ID)
}

// The same while our bundle was not there: in stock mode the page may open a
// draft's session and send something else in it.
func TestMessageInStockModeDetaches(t *testing.T) {
	h := startHome(t)
	draft := h.newDraft("written before")
	h.must(h.Stop())
	h.must(h.Uninstall(h.ctx))
	h.start()
	h.must(h.API.Prompt(h.ctx, draft.SessionID, "sent in stock mode"))
	if got := h.awaitSent("sent in stock mode"); got != draft.SessionID {
		t.Fatalf("the message is in %s", got)
	}
	h.must(h.Stop())
	h.install()
	h.start()
	h.awaitMode("full")
	p := h.open()
	p.showsRow(draft.ID)
	h.detached(draft.ID, draft.SessionID, "written before")
	p.says("detached")
	p.shows(draft.ID, "written before")
	if got := h.awaitSent("sent in stock mode"); got != draft.SessionID {
		t.Errorf("the foreign message moved to %s", got)
	}
}

// The session behind a draft was archived: opening the draft gives it another
// one, the text is kept, and the page says so.
func TestArchivedSessionIsMadeAgainWhenOpened(t *testing.T) {
	h := startHome(t)
	p := h.open()
	other := p.newDraftWith("other")
	draft := p.newDraftWith("behind an archived session")
	p.shows(other.ID, "other")
	h.must(h.API.ArchiveSession(h.ctx, draft.SessionID))
	p.shows(draft.ID, "behind an archived session")
	p.says("recreated")
	if got := h.bound(draft.ID); got == draft.SessionID {
		t.Error("the draft still has the archived session")
	}
	if got := p.current(); got != h.draft(draft.ID).SessionID {
		t.Errorf("the page shows %s, the draft's session is %s", got, h.draft(draft.ID).SessionID)
	}
	p.write(" and edited")
	p.saved(draft.ID)
	h.onDisk(draft.ID, "behind an archived session and edited")
}

// The same for the draft that is open at that moment.
func TestArchivedWhileOpen(t *testing.T) {
	h := startHome(t)
	p := h.open()
	draft := p.newDraftWith("open and archived")
	h.must(h.API.ArchiveSession(h.ctx, draft.SessionID))
	p.showsRow(draft.ID)
	h.onDisk(draft.ID, "open and archived")
	p.shows(draft.ID, "open and archived")
	if got := h.bound(draft.ID); got == draft.SessionID {
		t.Error("the draft still has the archived session")
	}
}

// A workspace whose folder was removed from the list and added again has a new
// id: its drafts come back under it with their texts.
func TestReaddedFolderIsAdopted(t *testing.T) {
	h := startHome(t)
	draft := h.newDraft("in a folder that comes back")
	p := h.open()
	p.shows(draft.ID, "in a folder that comes back")
	h.must(h.API.DeleteWorkspace(h.ctx, h.work.ID))
	p.hasNoGroup("work")
	p.showsRow(draft.ID)
	again, err := h.API.CreateWorkspace(h.ctx, h.work.Path)
	h.must(err)
	if again.ID == h.work.ID {
		t.Fatal("the harness kept the workspace's id; the test needs a new one")
	}
	// The page comes back on the session that has no folder, whose composer is shut.
	h.must(p.Reload())
	h.must(p.ExpandGroup("work"))
	p.shows(draft.ID, "in a folder that comes back")
	h.eventually("the draft belongs to the folder's new id", func() error {
		if now := h.draft(draft.ID); now.WorkspaceID != again.ID {
			return fmt.Errorf("workspace %s", now.WorkspaceID)
		}
		return nil
	})
	h.bound(draft.ID)
}

// detached waits until a draft has left its session with its text.
func (h *home) detached(draftID, oldSession, text string) {
	h.t.Helper()
	h.eventually("the draft has a fresh session and its text", func() error {
		now := h.draft(draftID)
		if now.SessionID == oldSession || now.SessionID == "" || now.Text != text {
			return fmt.Errorf("session %q, state %s, text %q", now.SessionID, now.State, now.Text)
		}
		if messages := h.history(now.SessionID).Messages; len(messages) != 0 {
			return fmt.Errorf("the fresh session has %d messages", len(messages))
		}
		return nil
	})
	h.bound(draftID)
	sidebar, err := h.API.Sidebar(h.ctx)
	h.must(err)
	if !slices.ContainsFunc(sidebar.Notices, func(notice dshapi.Notice) bool {
		return notice.Kind == "detached" && notice.DraftID == draftID
	}) {
		h.t.Errorf("notices %+v do not say that it was detached", sidebar.Notices)
	}
}
