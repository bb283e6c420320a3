package flows

import (
	"fmt"
	"slices"
	"syscall"
	"testing"
)

// Invariant 1: what the page called saved is there after SIGTERM and after
// SIGKILL right behind the word.
func savedDraftsSurviveSigtermAndSigkill(t *testing.T, h *Home) {
	p := h.Open()
	a := p.NewDraftWith("draft one")
	b := p.NewDraftWith("draft two")
	h.Restart()
	p.Shows(a.ID, "draft one")
	p.Shows(b.ID, "draft two")

	p.Writes(", and more")
	p.Saved(b.ID)
	h.Kill()
	h.Must(h.CheckDisk(a.ID, "draft one"))
	h.Must(h.CheckDisk(b.ID, "draft two, and more"))
	h.Must(h.Start(h.Ctx))
	p.Reloads()
	p.Shows(a.ID, "draft one")
	p.Shows(b.ID, "draft two, and more")
	h.Bound(a.ID)
	h.Bound(b.ID)

	// A browser that has never seen them, so nothing comes from its own storage.
	other := h.Open()
	other.Shows(a.ID, "draft one")
	other.Shows(b.ID, "draft two, and more")
}

// Binding: a draft whose session has vanished gets a session again, with its
// permission, and keeps its text.
func vanishedSessionIsMadeAgain(t *testing.T, h *Home) {
	const permission = "read-only"
	draft, other := h.MakeDraft("text of the vanished"), h.MakeDraft("bystander")
	h.Must(h.SetPermission(h.Ctx, draft.SessionID, permission))
	p := h.Open()
	p.Shows(draft.ID, "text of the vanished")
	p.Shows(other.ID, "bystander")
	h.hasPermission(draft.SessionID, permission)

	h.Must(h.Stop())
	h.Must(h.ForgetSession(draft.SessionID))
	h.Must(h.Start(h.Ctx))
	p.Reloads()
	p.Shows(draft.ID, "text of the vanished")
	h.hasPermission(h.Bound(draft.ID), permission)
	h.OnDisk(draft.ID, "text of the vanished")
	p.Shows(other.ID, "bystander")
	if got := h.Bound(other.ID); got != other.SessionID {
		t.Errorf("the bystander's session changed from %s to %s", other.SessionID, got)
	}
}

func (h *Home) hasPermission(sessionID, want string) {
	h.T.Helper()
	h.Eventually("the session has the permission "+want, func() error {
		history, err := h.History(h.Ctx, sessionID)
		if err == nil && history.Permission != want {
			err = fmt.Errorf("it has %q", history.Permission)
		}
		return err
	})
}

func (h *Home) hasSession(sessionID string) {
	h.T.Helper()
	sessions, err := h.Sessions(h.Ctx)
	h.Must(err)
	if !slices.ContainsFunc(sessions, func(s Session) bool { return s.ID == sessionID && !s.Archived }) {
		h.T.Errorf("session %s is gone", sessionID)
	}
}

// Invariant 4: 25 drafts in one workspace, each with a blank session of its own, and
// sending one touches none of the others.
func manyDraftsHaveSessionsOfTheirOwn(t *testing.T, h *Home) {
	const many = 25
	owners := map[string]int{}
	ids := make([]string, many)
	for i := range many {
		draft := h.MakeDraft(fmt.Sprintf("draft number %d", i))
		if owner, taken := owners[draft.SessionID]; taken {
			t.Fatalf("drafts %d and %d share session %s", owner, i, draft.SessionID)
		}
		owners[draft.SessionID], ids[i] = i, draft.ID
	}
	sessions, err := h.Sessions(h.Ctx)
	h.Must(err)
	for _, session := range sessions {
		if owner, isDrafts := owners[session.ID]; isDrafts && !session.Blank {
			t.Errorf("the session of draft %d is not blank", owner)
		}
	}
	p := h.Open()
	p.Shows(ids[7], "draft number 7")
	h.Must(p.FocusComposer())
	h.Must(p.Send())
	if session := h.AwaitSent("draft number 7"); owners[session] != 7 {
		t.Errorf("it was sent in the session of draft %d", owners[session])
	}
	p.HasNoRow(ids[7])
	for i, id := range ids {
		if i != 7 {
			h.Must(h.CheckDisk(id, fmt.Sprintf("draft number %d", i)))
		}
	}
	p.Shows(ids[24], "draft number 24")
}

// Invariant 9: no plugin process stays when its host is killed.
func noPluginOutlivesAKilledHost(t *testing.T, h *Home) {
	h.MakeDraft("x")
	if pids := h.PluginPids(); len(pids) != 1 {
		t.Fatalf("plugin processes %v, want one", pids)
	}
	h.Kill()
	h.Eventually("the plugin has ended", func() error {
		if pids := h.PluginPids(); len(pids) > 0 {
			return fmt.Errorf("still %v", pids)
		}
		return nil
	})
}

// Invariant 8: the plugin is killed while the page is open. The host lives, the
// page says that drafts are paused, what is typed meanwhile stays in the composer
// and is saved when the plugin is back.
func pluginKilledWhileTyping(t *testing.T, h *Home) {
	p := h.Open()
	other := p.NewDraftWith("other")
	draft := p.NewDraftWith("before")
	host := h.Pid()
	h.Must(p.FocusComposer())

	h.killPlugins()
	h.Must(p.Type(" typed while it was down", keyPause))
	if got := p.Field().Text; got != "before typed while it was down" {
		t.Errorf("the composer holds %q", got)
	}
	p.Says("paused")
	p.Saved(draft.ID)
	p.Holds("before typed while it was down")
	h.OnDisk(draft.ID, "before typed while it was down")
	if !h.Running() || h.Pid() != host {
		t.Error("the host did not live on")
	}
	if pids := h.PluginPids(); len(pids) != 1 {
		t.Errorf("plugin processes %v, want one", pids)
	}
	if got := h.Draft(draft.ID); len(got.Conflicts) != 0 {
		t.Errorf("%d conflict copies", len(got.Conflicts))
	}
	p.Writes(", and after")
	p.Saved(draft.ID)
	h.OnDisk(draft.ID, "before typed while it was down, and after")
	p.Shows(other.ID, "other")
}

// Invariants 8 and 13: a new draft that is asked for while the plugin is down is made
// once it is back, and made once.
func newDraftWhileThePluginIsDown(t *testing.T, h *Home) {
	p := h.Open()
	draft := p.NewDraftWith("before")
	before := h.AllDrafts()
	h.killPlugins()
	h.Must(p.PressNewDraft())
	made := p.AwaitNewDraft(before)
	p.Writes("after")
	p.Saved(made.ID)
	h.OnDisk(made.ID, "after")
	h.OnDisk(draft.ID, "before")
	if drafts := h.AllDrafts(); len(drafts) != len(before)+1 {
		t.Errorf("%d drafts, wanted %d", len(drafts), len(before)+1)
	}
}

func (h *Home) killPlugins() {
	h.T.Helper()
	for _, pid := range h.PluginPids() {
		h.Must(syscall.Kill(pid, syscall.SIGKILL))
	}
}
