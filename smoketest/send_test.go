package smoketest

import (
	"fmt"
	"testing"
)

// Nothing brings a sent draft back into DSH's own new session (the public plugin's did).
func TestSentDraftStaysOutOfANewSession(t *testing.T) {
	h := startHome(t)
	p := h.open()
	draft := p.NewDraftWith("please send me")
	h.Must(p.Enter())
	h.AwaitSent("please send me")
	p.HasNoRow(draft.ID)
	h.Must(p.PressNewSession())
	p.onBlankSession()
	p.Holds("")
	if count, _ := h.Sent("please send me"); count != 1 || h.FileHolds("please send me") {
		t.Errorf("the message is in histories %d times, and in the file: %t", count, h.FileHolds("please send me"))
	}
}

// A command that starts a turn counts as the draft's send; its message carries
// no id (invariant 2, facts on /plan).
func TestPlanWithTextCountsAsSend(t *testing.T) {
	h := startHome(t)
	p := h.open()
	other := p.NewDraftWith("stays")
	draft := p.NewDraft()
	h.Must(p.Write("/plan tidy the build"))
	p.Saved(draft.ID)
	// The page completes the command's name as it is typed.
	h.OnDisk(draft.ID, p.composer().Text)
	h.Must(p.Enter())
	h.Eventually("the command's message is in the history", func() error {
		if messages := h.history(draft.SessionID).Messages; len(messages) != 1 {
			return fmt.Errorf("messages %+v", messages)
		}
		return nil
	})
	p.HasNoRow(draft.ID)
	h.Eventually("the file has forgotten the text", func() error {
		if h.FileHolds("tidy the build") {
			return fmt.Errorf("it holds it")
		}
		return nil
	})
	p.Shows(other.ID, "stays")
}

// A command that sends nothing empties the composer, but is neither a send nor
// an edit (invariants 2 and 5).
func TestPermissionCommandLosesNothing(t *testing.T) {
	h := startHome(t)
	p := h.open()
	draft := p.NewDraft()
	h.Must(p.Write("/permission read-only"))
	h.Must(p.Enter())
	h.Eventually("the command has run", func() error {
		if got := h.history(draft.SessionID).Permission; got != "read-only" {
			return fmt.Errorf("permission %s", got)
		}
		return nil
	})
	p.ShowsRow(draft.ID)
	p.Holds("")
	p.Writes("the real task")
	p.Saved(draft.ID)
	h.OnDisk(draft.ID, "the real task")
	if got := h.Bound(draft.ID); got != draft.SessionID {
		t.Errorf("the session changed from %s to %s", draft.SessionID, got)
	}
}
