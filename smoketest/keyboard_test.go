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
	third, second, first := h.MakeDraft("third"), h.MakeDraft("second"), h.MakeDraft("first")
	p := h.open()
	p.ShowsRow(first.ID)
	p.hasStarted()

	h.Must(p.FocusRow(first.ID))
	h.Must(p.Keys(dshpage.KeyDelete))
	p.HasNoRow(first.ID)
	p.hasFocus("the next row after a deletion", second.ID)
	h.Must(p.Keys(dshpage.KeyUndo))
	p.ShowsRow(first.ID)
	p.hasFocus("the restored row", first.ID)

	h.Must(p.Keys(dshpage.KeyDown, dshpage.KeyDown, dshpage.KeyTab, dshpage.KeyEnter))
	h.Must(p.MenuAction("up"))
	p.hasOrder(first.ID, third.ID, second.ID)
	p.hasFocus("the row that moved up", third.ID)
	h.Must(p.Keys(dshpage.KeyEnter))
	h.Must(p.MenuAction("down"))
	p.hasOrder(first.ID, second.ID, third.ID)
	p.hasFocus("the row that moved down", third.ID)

	h.Must(p.Keys(dshpage.KeyDelete))
	p.HasNoRow(third.ID)
	p.hasFocus("the row before the last one, which was deleted", second.ID)

	h.Must(p.Keys(dshpage.KeyF2))
	h.Must(p.Page.Type("renamed", dshpage.TypePause))
	h.Must(p.Keys(dshpage.KeyEnter))
	p.Sees("renamed")
	p.hasFocus("the row that was renamed", second.ID)

	before := h.AllDrafts()
	h.Must(p.Keys(dshpage.KeyTab, dshpage.KeyEnter))
	h.Must(p.MenuAction("duplicate"))
	var copied string
	h.Eventually("there is a copy", func() error {
		for _, draft := range h.AllDrafts() {
			if draft.ID != before[0].ID && draft.ID != before[1].ID {
				copied = draft.ID
				return nil
			}
		}
		return fmt.Errorf("none among %d", len(h.AllDrafts()))
	})
	p.hasFocus("the copy", copied)

	// Two deletions are taken back one after the other.
	for _, id := range []string{copied, second.ID} {
		h.Must(p.FocusRow(id))
		h.Must(p.Keys(dshpage.KeyDelete))
		p.HasNoRow(id)
	}
	for _, id := range []string{second.ID, copied} {
		h.Must(p.Keys(dshpage.KeyUndo))
		p.ShowsRow(id)
		p.hasFocus("the restored row", id)
	}

	for _, id := range []string{copied, second.ID, first.ID} {
		h.Must(p.FocusRow(id))
		h.Must(p.Keys(dshpage.KeyDelete))
		p.HasNoRow(id)
	}
	p.hasFocus("the button for a new draft, when no row is left", "new")
}

// Ctrl+Z takes a deletion back while the focus is in the rows; in the composer it
// undoes what was written there, and nothing else.
func TestUndoKeyBelongsToWhereTheFocusIs(t *testing.T) {
	h := startHome(t)
	p := h.open()
	open := p.NewDraftWith("the open draft")
	other := h.MakeDraft("to be deleted")
	p.ShowsRow(other.ID)

	h.Must(p.FocusRow(other.ID))
	h.Must(p.Keys(dshpage.KeyDelete))
	p.HasNoRow(other.ID)
	h.Must(p.Keys(dshpage.KeyUndo))
	p.ShowsRow(other.ID)
	p.Holds("the open draft")

	// By the mouse: what had the focus is gone, and nothing has it, or the next row.
	h.Must(p.DeleteRow(other.ID))
	p.HasNoRow(other.ID)
	h.Must(p.Keys(dshpage.KeyUndo))
	p.ShowsRow(other.ID)
	p.Holds("the open draft")

	h.Must(p.DeleteRow(other.ID))
	p.HasNoRow(other.ID)
	p.Writes("!")
	h.Must(p.Keys(dshpage.KeyUndo))
	h.Eventually("the composer has undone its own last words", func() error {
		if got := p.composer().Text; got == "the open draft!" {
			return fmt.Errorf("it holds %q", got)
		}
		return nil
	})
	h.Must(p.Undo())
	p.ShowsRow(other.ID)
	h.Bound(open.ID)
}

// hasStarted waits until the page has put the focus into its composer by itself.
func (p *page) hasStarted() {
	p.h.T.Helper()
	p.h.Must(p.AwaitRest(patience))
	p.hasFocus("the composer, where the page begins", "composer")
}

// hasFocus waits until the keyboard focus is there, see [dshpage.Page.Focus].
func (p *page) hasFocus(what, where string) {
	p.h.T.Helper()
	p.h.Eventually("the focus is on "+what, func() error {
		focus, err := p.Focus()
		if err == nil && focus != where {
			err = fmt.Errorf("it is on %s, wanted %s", focus, where)
		}
		return err
	})
}

// hasOrder waits until the rows are these, in this order.
func (p *page) hasOrder(ids ...string) {
	p.h.T.Helper()
	p.h.Eventually("the rows are in order", func() error {
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
