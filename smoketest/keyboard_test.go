package smoketest

import (
	"fmt"
	"testing"

	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/dshpage"
)

// The keyboard focus stays with the rows, whatever is done to them: it never falls
// to the page's body.
func TestFocusStaysWithTheRows(t *testing.T) {
	h := startHome(t)
	third, second, first := h.newDraft("third"), h.newDraft("second"), h.newDraft("first")
	p := h.open()
	p.showsRow(first.ID)
	p.hasStarted()

	h.must(p.FocusRow(first.ID))
	h.must(p.Keys(dshpage.KeyDelete))
	p.hasNoRow(first.ID)
	p.hasFocus("the next row after a deletion", second.ID)
	h.must(p.Keys(dshpage.KeyUndo))
	p.showsRow(first.ID)
	p.hasFocus("the restored row", first.ID)

	h.must(p.Keys(dshpage.KeyDown, dshpage.KeyDown, dshpage.KeyTab, dshpage.KeyEnter))
	h.must(p.MenuAction("up"))
	p.hasOrder(first.ID, third.ID, second.ID)
	p.hasFocus("the row that moved up", third.ID)
	h.must(p.Keys(dshpage.KeyEnter))
	h.must(p.MenuAction("down"))
	p.hasOrder(first.ID, second.ID, third.ID)
	p.hasFocus("the row that moved down", third.ID)

	h.must(p.Keys(dshpage.KeyDelete))
	p.hasNoRow(third.ID)
	p.hasFocus("the row before the last one, which was deleted", second.ID)

	h.must(p.Keys(dshpage.KeyF2))
	h.must(p.Type("renamed", keyPause))
	h.must(p.Keys(dshpage.KeyEnter))
	p.seesText("renamed")
	p.hasFocus("the row that was renamed", second.ID)

	before := h.drafts()
	h.must(p.Keys(dshpage.KeyTab, dshpage.KeyEnter))
	h.must(p.MenuAction("duplicate"))
	var copied string
	h.eventually("there is a copy", func() error {
		for _, draft := range h.drafts() {
			if draft.ID != before[0].ID && draft.ID != before[1].ID {
				copied = draft.ID
				return nil
			}
		}
		return fmt.Errorf("none among %d", len(h.drafts()))
	})
	p.hasFocus("the copy", copied)

	// Two deletions are taken back one after the other.
	for _, id := range []string{copied, second.ID} {
		h.must(p.FocusRow(id))
		h.must(p.Keys(dshpage.KeyDelete))
		p.hasNoRow(id)
	}
	for _, id := range []string{second.ID, copied} {
		h.must(p.Keys(dshpage.KeyUndo))
		p.showsRow(id)
		p.hasFocus("the restored row", id)
	}

	for _, id := range []string{copied, second.ID, first.ID} {
		h.must(p.FocusRow(id))
		h.must(p.Keys(dshpage.KeyDelete))
		p.hasNoRow(id)
	}
	p.hasFocus("the button for a new draft, when no row is left", "new")
}

// Ctrl+Z takes a deletion back while the focus is in the rows; in the composer it
// undoes what was written there, and nothing else.
func TestUndoKeyBelongsToWhereTheFocusIs(t *testing.T) {
	h := startHome(t)
	p := h.open()
	open := p.newDraftWith("the open draft")
	other := h.newDraft("to be deleted")
	p.showsRow(other.ID)

	h.must(p.FocusRow(other.ID))
	h.must(p.Keys(dshpage.KeyDelete))
	p.hasNoRow(other.ID)
	h.must(p.Keys(dshpage.KeyUndo))
	p.showsRow(other.ID)
	p.holds("the open draft")

	// By the mouse: what had the focus is gone, and nothing has it, or the next row.
	h.must(p.DeleteRow(other.ID))
	p.hasNoRow(other.ID)
	h.must(p.Keys(dshpage.KeyUndo))
	p.showsRow(other.ID)
	p.holds("the open draft")

	h.must(p.DeleteRow(other.ID))
	p.hasNoRow(other.ID)
	p.write("!")
	h.must(p.Keys(dshpage.KeyUndo))
	h.eventually("the composer has undone its own last words", func() error {
		if got := p.composer().Text; got == "the open draft!" {
			return fmt.Errorf("it holds %q", got)
		}
		return nil
	})
	h.must(p.Undo())
	p.showsRow(other.ID)
	h.bound(open.ID)
}

// hasStarted waits until the page has put the focus into its composer by itself.
func (p *page) hasStarted() {
	p.h.t.Helper()
	p.h.must(p.AwaitRest(patience))
	p.hasFocus("the composer, where the page begins", "composer")
}

// hasFocus waits until the keyboard focus is there, see [dshpage.Page.Focus].
func (p *page) hasFocus(what, where string) {
	p.h.t.Helper()
	p.h.eventually("the focus is on "+what, func() error {
		focus, err := p.Focus()
		if err == nil && focus != where {
			err = fmt.Errorf("it is on %s, wanted %s", focus, where)
		}
		return err
	})
}

// hasOrder waits until the rows are these, in this order.
func (p *page) hasOrder(ids ...string) {
	p.h.t.Helper()
	p.h.eventually("the rows are in order", func() error {
		rows, err := p.Rows()
		if err != nil {
			return err
		}
		if len(rows) != len(ids) {
			return fmt.Errorf("%d rows, wanted %d", len(rows), len(ids))
		}
		for i, row := range rows {
			if row.ID != ids[i] {
				return fmt.Errorf("rows %+v", rows)
			}
		}
		return nil
	})
}
