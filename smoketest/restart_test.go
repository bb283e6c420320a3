package smoketest

import (
	"fmt"
	"slices"
	"testing"
)

// Invariant 1: what the page called saved is there after SIGTERM and after
// SIGKILL right behind the word.
func TestSavedDraftsSurviveSigtermAndSigkill(t *testing.T) {
	h := startHome(t)
	p := h.open()
	a := p.newDraftWith("draft one")
	b := p.newDraftWith("draft two")
	h.restart()
	h.awaitMode("full")
	p.shows(a.ID, "draft one")
	p.shows(b.ID, "draft two")

	p.write(", and more")
	p.saved(b.ID)
	h.Kill()
	h.must(h.checkDisk(a.ID, "draft one"))
	h.must(h.checkDisk(b.ID, "draft two, and more"))
	h.start()
	h.awaitMode("full")
	p.reload()
	p.shows(a.ID, "draft one")
	p.shows(b.ID, "draft two, and more")
	h.bound(a.ID)
	h.bound(b.ID)

	// A browser that has never seen them, so nothing comes from its own storage.
	other := h.open()
	other.shows(a.ID, "draft one")
	other.shows(b.ID, "draft two, and more")
}

// Binding: a draft whose session has vanished gets a session again, with its
// permission, and keeps its text.
func TestVanishedSessionIsMadeAgain(t *testing.T) {
	h := startHome(t)
	draft, other := h.newDraft("text of the vanished"), h.newDraft("bystander")
	h.must(h.API.RunCommand(h.ctx, draft.SessionID, "/permission read-only"))
	p := h.open()
	p.shows(draft.ID, "text of the vanished")
	p.shows(other.ID, "bystander")
	h.eventually("the permission is known", func() error {
		if got := h.history(draft.SessionID).Permission; got != "read-only" {
			return fmt.Errorf("it is %s", got)
		}
		return nil
	})

	h.must(h.Stop())
	h.must(h.ForgetSession(draft.SessionID))
	h.start()
	if sessions, err := h.API.Sessions(h.ctx); err != nil || slices.ContainsFunc(sessions, sameSession(draft.SessionID)) {
		t.Logf("the session was made again before the test could look (%v)", err)
	}
	h.awaitMode("full")
	p.reload()
	p.shows(draft.ID, "text of the vanished")
	session := h.bound(draft.ID)
	h.eventually("the new session has the old one's permission", func() error {
		if got := h.history(session).Permission; got != "read-only" {
			return fmt.Errorf("it has %s", got)
		}
		return nil
	})
	h.onDisk(draft.ID, "text of the vanished")
	p.shows(other.ID, "bystander")
	if got := h.bound(other.ID); got != other.SessionID {
		t.Errorf("the bystander's session changed from %s to %s", other.SessionID, got)
	}
}

// Reload: typing on without touching a row is saved to the draft that is shown
// (the public plugin lost such words).
func TestReloadThenTypeIsSaved(t *testing.T) {
	h := startHome(t)
	p := h.open()
	other := p.newDraftWith("other")
	draft := p.newDraftWith("before")
	p.reload()
	p.holds("before")
	p.write(" after")
	p.saved(draft.ID)
	h.onDisk(draft.ID, "before after")

	// Again, with a reload that outruns the pause after which a draft is saved.
	p.write(" unsaved")
	p.reload()
	p.holds("before after unsaved")
	p.write(" end")
	p.saved(draft.ID)
	h.onDisk(draft.ID, "before after unsaved end")
	if got := h.draft(draft.ID); len(got.Conflicts) != 0 {
		t.Errorf("one browser alone made %d conflict copies", len(got.Conflicts))
	}
	p.shows(other.ID, "other")
	p.shows(draft.ID, "before after unsaved end")
}

// Invariant 9: no plugin process stays when its host is killed.
func TestNoPluginOutlivesAKilledHost(t *testing.T) {
	h := startHome(t)
	h.newDraft("x")
	if pids := h.PluginPids(); len(pids) != 1 {
		t.Fatalf("plugin processes %v, want one", pids)
	}
	h.Kill()
	h.eventually("the plugin has ended", func() error {
		if pids := h.PluginPids(); len(pids) > 0 {
			return fmt.Errorf("still %v", pids)
		}
		return nil
	})
}
