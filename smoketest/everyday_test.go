package smoketest

import (
	"fmt"
	"testing"

	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/dshpage"
)

// What was deleted is found again and brought back with keys alone, and the focus
// is never lost.
func TestDeletedDraftsComeBack(t *testing.T) {
	h := startHome(t)
	older, newer, kept := h.MakeDraft("the older one\nwith two lines"), h.MakeDraft("the newer one"), h.MakeDraft("kept")
	p := h.open()
	p.ShowsRow(kept.ID)
	p.hasStarted()
	for _, id := range []string{older.ID, newer.ID} {
		h.Must(p.FocusRow(id))
		h.Must(p.Keys(dshpage.KeyDelete))
		p.HasNoRow(id)
	}
	h.Must(p.Do(`document.querySelector('[data-drafts-trash]').focus()`))
	h.Must(p.Keys(dshpage.KeyEnter))
	p.Sees("with two lines")
	// The newest comes first; the button in the title is the first stop.
	h.Must(p.Keys(dshpage.KeyTab, dshpage.KeyEnter))
	p.ShowsRow(newer.ID)
	p.Sees("Restored “the newer one”")
	h.Eventually("the next entry has the focus", func() error {
		focus, err := p.FocusLabel()
		if err == nil && focus != "Restore “the older one”" {
			err = fmt.Errorf("it is on %q", focus)
		}
		return err
	})
	h.Must(p.Keys(dshpage.KeyEnter))
	p.ShowsRow(older.ID)
	p.Sees("Nothing was deleted in the last 30 days.")
	h.Must(p.Keys(dshpage.KeyEscape))
	p.hasFocus("the row that was restored last", older.ID)
	h.Must(p.Keys(dshpage.KeyEnter))
	p.Holds("the older one\nwith two lines")
	h.Bound(older.ID)
	h.OnDisk(newer.ID, "the newer one")
	h.OnDisk(kept.ID, "kept")
}

// In a narrow window the sidebar is a rail: a draft can be made there, and the
// drafts that there are can be reached.
func TestRailLeadsToTheDrafts(t *testing.T) {
	h := startHome(t)
	draft := h.MakeDraft("reached from the rail")
	p := h.open()
	p.ShowsRow(draft.ID)
	const narrow, tall = 420, 900
	h.Must(p.Resize(narrow, tall))
	// The sidebar fades into the rail.
	h.Must(p.AwaitRest(patience))
	h.Must(p.ClickOn(`[data-drafts-show]`))
	p.hasFocus("the draft's row", draft.ID)
	h.Must(p.Keys(dshpage.KeyEnter))
	p.Holds("reached from the rail")
}

// A new draft is seen: its group is unfolded when it was folded.
func TestNewDraftUnfoldsItsGroup(t *testing.T) {
	h := startHome(t)
	p := h.open()
	draft := p.NewDraftWith("in the group")
	h.Must(p.ClickOn(`[role=tree] [role=treeitem][aria-expanded=true]`))
	p.HasNoRow(draft.ID)
	made := p.NewDraft()
	p.hasOrder(made.ID, draft.ID)
	p.Writes("and seen")
	p.Saved(made.ID)
}
