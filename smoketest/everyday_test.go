package smoketest

import (
	"fmt"
	"slices"
	"syscall"
	"testing"

	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/dshpage"
)

// What was deleted is found again and brought back with keys alone, and the focus
// is never lost.
func TestDeletedDraftsComeBack(t *testing.T) {
	h := startHome(t)
	older, newer, kept := h.newDraft("the older one\nwith two lines"), h.newDraft("the newer one"), h.newDraft("kept")
	p := h.open()
	p.showsRow(kept.ID)
	p.hasStarted()
	for _, id := range []string{older.ID, newer.ID} {
		h.must(p.FocusRow(id))
		h.must(p.Keys(dshpage.KeyDelete))
		p.hasNoRow(id)
	}
	h.must(p.Do(`document.querySelector('[data-drafts-trash]').focus()`))
	h.must(p.Keys(dshpage.KeyEnter))
	p.seesText("with two lines")
	// The newest comes first; the button in the title is the first stop.
	h.must(p.Keys(dshpage.KeyTab, dshpage.KeyEnter))
	p.showsRow(newer.ID)
	p.seesText("Restored “the newer one”")
	h.eventually("the next entry has the focus", func() error {
		focus, err := p.FocusLabel()
		if err == nil && focus != "Restore “the older one”" {
			err = fmt.Errorf("it is on %q", focus)
		}
		return err
	})
	h.must(p.Keys(dshpage.KeyEnter))
	p.showsRow(older.ID)
	p.seesText("Nothing was deleted in the last 30 days.")
	h.must(p.Keys(dshpage.KeyEscape))
	p.hasFocus("the row that was restored last", older.ID)
	h.must(p.Keys(dshpage.KeyEnter))
	p.holds("the older one\nwith two lines")
	h.bound(older.ID)
	h.onDisk(newer.ID, "the newer one")
	h.onDisk(kept.ID, "kept")
}

// In a narrow window the sidebar is a rail: a draft can be made there, and the
// drafts that there are can be reached.
func TestRailLeadsToTheDrafts(t *testing.T) {
	h := startHome(t)
	draft := h.newDraft("reached from the rail")
	p := h.open()
	p.showsRow(draft.ID)
	const narrow, tall = 420, 900
	h.must(p.Resize(narrow, tall))
	// The sidebar fades into the rail.
	h.must(p.AwaitRest(patience))
	h.must(p.ClickOn(`[data-drafts-show]`))
	p.hasFocus("the draft's row", draft.ID)
	h.must(p.Keys(dshpage.KeyEnter))
	p.holds("reached from the rail")
}

// Invariants 8 and 13: a new draft that is asked for while the plugin is down is made
// once it is back, and made once.
func TestNewDraftWhileThePluginIsDown(t *testing.T) {
	h := startHome(t)
	p := h.open()
	draft := p.newDraftWith("before")
	before := h.drafts()
	for _, pid := range h.PluginPids() {
		h.must(syscall.Kill(pid, syscall.SIGKILL))
	}
	h.must(p.PressNewDraft())
	h.awaitMode("full")
	made := p.awaitNewDraft(before)
	p.write("after")
	p.saved(made.ID)
	h.onDisk(made.ID, "after")
	h.onDisk(draft.ID, "before")
	if drafts := h.drafts(); len(drafts) != len(before)+1 {
		t.Errorf("%d drafts, wanted %d", len(drafts), len(before)+1)
	}
	if alerts, err := p.Alerts(); err != nil || slices.ContainsFunc(alerts, func(alert string) bool { return alert != "" }) {
		t.Errorf("the page complains: %q, %v", alerts, err)
	}
}

// A new draft is seen: its group is unfolded when it was folded.
func TestNewDraftUnfoldsItsGroup(t *testing.T) {
	h := startHome(t)
	p := h.open()
	draft := p.newDraftWith("in the group")
	h.must(p.ClickOn(`[role=tree] [role=treeitem][aria-expanded=true]`))
	p.hasNoRow(draft.ID)
	made := p.newDraft()
	p.hasOrder(made.ID, draft.ID)
	p.write("and seen")
	p.saved(made.ID)
}
