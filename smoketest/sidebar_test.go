package smoketest

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/browser"
	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/dshpage"
)

// The rows stand inside their workspace's group, before its ordinary sessions,
// with the first line as the title; the drafts' own blank sessions are not
// listed a second time. In the page's flat view, which has no groups, they stand
// in a section of their own.
func TestRowsStandInTheirGroup(t *testing.T) {
	h := startHome(t)
	p := h.open()
	p.write("an ordinary session")
	h.must(p.Enter())
	h.awaitSent("an ordinary session")
	first := p.newDraftWith("first line\nsecond line")
	second := p.newDraftWith("another")
	h.eventually("the group holds the drafts, then the one ordinary session", func() error {
		kinds, err := p.GroupOrder("work")
		if err != nil {
			return err
		}
		if !slices.Equal(kinds, []string{"draft", "draft", "session"}) {
			return fmt.Errorf("it holds %q", kinds)
		}
		return nil
	})
	rows, err := p.Rows()
	h.must(err)
	if !slices.ContainsFunc(rows, func(row dshpage.Row) bool { return row.ID == first.ID && row.Title == "first line" }) {
		t.Errorf("rows %+v", rows)
	}
	if !slices.ContainsFunc(rows, func(row dshpage.Row) bool { return row.ID == second.ID && row.Selected }) {
		t.Errorf("the open draft's row is not marked: %+v", rows)
	}

	h.must(p.ShowFlat())
	p.reload()
	p.seesText("Drafts")
	p.shows(first.ID, "first line\nsecond line")
	p.shows(second.ID, "another")
}

// Chinese where the page is Chinese.
func TestChinesePage(t *testing.T) {
	h := startHome(t)
	p := h.opened(dshpage.Open(gate.browser, browser.Look{Language: "zh-CN", Dark: true}, h.URL()))
	p.seesText("新建草稿")
	draft := p.newDraft()
	p.seesText("空草稿")
	p.write("写测试")
	p.saved(draft.ID)
	p.seesText("已保存")
	if errors := p.Errors(); len(errors) > 0 {
		t.Errorf("the page threw %q", errors)
	}
}

// What cannot be saved is said, stays in the composer, and is saved once the
// reason is gone; the unreadable file is not touched (invariants 1 and 7).
func TestNotSavedIsSaid(t *testing.T) {
	h := startHome(t)
	p := h.open()
	draft := p.newDraftWith("on disk")
	good, err := os.ReadFile(h.DraftFile())
	h.must(err)
	garbage := []byte("{ not JSON")
	h.must(os.WriteFile(h.DraftFile(), garbage, 0o600))
	p.write(", not yet")
	h.eventually("the page says that it is not saved", func() error {
		state, err := p.SaveState(draft.ID)
		if err == nil && state != "not_saved" {
			err = fmt.Errorf("it says %q", state)
		}
		return err
	})
	now, err := os.ReadFile(h.DraftFile())
	h.must(err)
	if string(now) != string(garbage) {
		t.Error("the unreadable file was overwritten")
	}
	p.holds("on disk, not yet")

	h.must(os.WriteFile(h.DraftFile(), good, 0o600))
	p.saved(draft.ID)
	h.onDisk(draft.ID, "on disk, not yet")
	if got := h.draft(draft.ID); len(got.Conflicts) != 0 {
		t.Errorf("%d conflict copies", len(got.Conflicts))
	}
}

// Deleting a draft leaves its session as it is (invariant 12), can be undone,
// and a deleted draft's text is in no composer afterwards.
func TestDeleteAndUndo(t *testing.T) {
	h := startHome(t)
	p := h.open()
	other := p.newDraftWith("other")
	draft := p.newDraftWith("delete me")
	h.must(p.DeleteRow(draft.ID))
	p.hasNoRow(draft.ID)
	sessions, err := h.API.Sessions(h.ctx)
	h.must(err)
	if !slices.ContainsFunc(sessions, sameSession(draft.SessionID)) {
		t.Errorf("session %s of the deleted draft is gone", draft.SessionID)
	}
	h.must(p.Undo())
	p.shows(draft.ID, "delete me")
	h.onDisk(draft.ID, "delete me")
	h.bound(draft.ID)
	p.shows(other.ID, "other")
}

// The last click wins: who opens a draft and goes on to an ordinary session at
// once stays there, though the draft's answer comes later.
func TestLastClickWins(t *testing.T) {
	h := startHome(t)
	p := h.open()
	p.write("an ordinary session")
	h.must(p.Enter())
	ordinary := h.awaitSent("an ordinary session")
	h.must(h.API.RenameSession(h.ctx, ordinary, "ordinary"))
	draft := p.newDraftWith("a draft")
	h.must(p.PressNewSession())
	p.onBlankSession()
	for range 5 {
		h.must(p.OpenRowThenStockRow(draft.ID, "ordinary"))
		h.must(p.AwaitStaying(ordinary, patience))
	}
	p.shows(draft.ID, "a draft")
}
