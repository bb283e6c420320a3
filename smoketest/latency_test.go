package smoketest

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// Reported, not asserted: from the click on a draft's row to its text in the
// composer, beside the page's own switch between two ordinary sessions, in turns
// on one page; and from the last key to "saved".
func TestLatencies(t *testing.T) {
	const rounds = 15
	h := startHome(t)
	p := h.open()
	var stock [2]string
	for i := range stock {
		h.Must(p.PressNewSession())
		p.onBlankSession()
		title := fmt.Sprintf("ordinary %d", i)
		p.Writes(title)
		h.Must(p.Enter())
		session := h.AwaitSent(title)
		h.Must(h.API.RenameSession(h.Ctx, session, title))
		stock[i] = title
		p.Sees("echo: " + title) // the page makes a new composer while the turn begins
		p.Holds("")
		p.Writes("unsent " + title)
	}
	drafts := []string{p.NewDraftWith("first draft").ID, p.NewDraftWith("second draft").ID}
	texts := []string{"first draft", "second draft"}

	var row, own []time.Duration
	for range rounds {
		// Timed from draft to draft and from session to session; the ways between are not.
		p.Shows(drafts[0], texts[0])
		took, err := p.TimeRow(drafts[1], texts[1])
		h.Must(err)
		row = append(row, took)
		h.Must(p.OpenStockRow(stock[0]))
		p.Holds("unsent " + stock[0])
		took, err = p.TimeStockRow(stock[1], "unsent "+stock[1])
		h.Must(err)
		own = append(own, took)
	}
	t.Logf("click to text, medians of %d: draft row %v, the page's own session row %v", rounds, median(row), median(own))

	var saved []time.Duration
	p.Shows(drafts[0], texts[0])
	for range 5 {
		p.Writes("x")
		began := time.Now()
		p.Saved(drafts[0])
		saved = append(saved, time.Since(began))
	}
	t.Logf("last key to saved, median of %d: %v (of which 350 ms are the pause for more keys)", len(saved), median(saved))
}

func median(all []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2].Round(100 * time.Microsecond)
}
