package flows

import (
	"strings"
	"testing"
)

// A terminal beside two open pages: new shows a row in both at once, edit shows in the
// open composer, a page's draft can be listed, send sends once, and asking again sends
// nothing (invariants 2 and 14).
func terminalBesideTwoBrowsers(t *testing.T, h *Home) {
	p, other := h.Open(), h.Open()
	mine := p.NewDraftWith("from the page")
	other.ShowsRow(mine.ID)

	id := h.Terminal("", "new", "from the terminal")
	other.ShowsRow(id)
	p.Shows(id, "from the terminal") // Opening it binds it.
	if session := h.Bound(id); session == mine.SessionID {
		t.Error("two drafts share a session")
	}
	other.Shows(id, "from the terminal")
	h.Must(other.Blur())
	h.Terminal("from both sides", "edit", id, "-")
	p.Holds("from both sides")
	other.Holds("from both sides")
	p.Writes("!")
	p.Saved(id)
	other.Holds("from both sides!")
	if got := h.Terminal("", "show", "--text", id); got != "from both sides!" {
		t.Errorf("the terminal shows %q", got)
	}
	if list := h.Terminal("", "list"); !strings.Contains(list, "from the page") || !strings.Contains(list, "from both sides!") {
		t.Errorf("the terminal lists %q", list)
	}

	answer := h.Terminal("", "send", "--wait", id)
	if answer != "echo: from both sides!" {
		t.Errorf("the answer is %q", answer)
	}
	h.AwaitSent("from both sides!")
	for _, page := range []*Page{p, other} {
		page.HasNoRow(id)
		h.Must(page.AwaitEmpty(h.Patience))
	}
	if again := h.Terminal("", "send", id); !strings.HasPrefix(again, "sent "+id) {
		t.Errorf("sent again it says %q", again)
	}
	h.AwaitSent("from both sides!")
	if seen := h.Model().Seen("from both sides!"); seen < 1 || seen > 2 { // A title may be a request of its own.
		t.Errorf("the model has seen it %d times", seen)
	}
	p.ShowsRow(mine.ID)

	// A draft whose page is elsewhere is sent as well.
	p.Shows(mine.ID, "from the page")
	unseen := h.Terminal("", "new", "sent unseen")
	h.Terminal("", "send", unseen)
	h.AwaitSent("sent unseen")
	p.HasNoRow(unseen)
	p.Holds("from the page")
}
