package smoketest

import (
	"fmt"
	"os"
	"testing"
	"time"
)

// envSoak makes the tests of crashes try more often.
const envSoak = "DRAFT_SESSIONS_SOAK"

// Invariants 2 and 10: the harness is killed around the moment at which an
// accepted prompt becomes durable. Afterwards the message is in the history, or
// the text is still a draft: never both, never neither, and another restart
// changes nothing.
func TestKilledAfterAcceptance(t *testing.T) {
	tries := 2
	if os.Getenv(envSoak) != "" {
		tries = 10
	}
	h := startHome(t)
	settled := map[string]bool{}
	for _, delay := range []time.Duration{0, 50 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond} {
		sent := 0
		for try := range tries {
			text := fmt.Sprintf("send at %v, try %d", delay, try)
			draft := h.newDraft(text)
			h.must(h.API.Prompt(h.ctx, draft.SessionID, text))
			// The moment of the kill is what is tested, not a wait for something.
			time.Sleep(delay)
			h.crash()
			h.awaitMode("full")
			h.must(h.API.Reconcile(h.ctx))
			isSent := h.sentOrDraft(draft.ID, text)
			settled[text] = isSent
			if isSent {
				sent++
			}
			for earlier, wasSent := range settled {
				h.unchanged(earlier, wasSent)
			}
		}
		t.Logf("killed %v after acceptance: sent %d of %d, the others are drafts", delay, sent, tries)
	}
	h.restart()
	h.awaitMode("full")
	h.must(h.API.Reconcile(h.ctx))
	for text, wasSent := range settled {
		h.unchanged(text, wasSent)
	}
}

// The same from the page: Enter, then the kill as soon as the page shows that
// the prompt was accepted.
func TestKilledAfterSendFromThePage(t *testing.T) {
	h := startHome(t)
	p := h.open()
	draft := p.newDraftWith("sent by hand")
	h.must(p.Enter())
	h.must(p.AwaitText("", patience))
	h.crash()
	h.awaitMode("full")
	h.must(h.API.Reconcile(h.ctx))
	isSent := h.sentOrDraft(draft.ID, "sent by hand")
	p.reload()
	if isSent {
		p.hasNoRow(draft.ID)
	} else {
		p.shows(draft.ID, "sent by hand")
	}
	h.restart()
	h.awaitMode("full")
	h.unchanged("sent by hand", isSent)
}

// sentOrDraft waits until exactly one holds: one message in a history, or one
// draft with the text.
func (h *home) sentOrDraft(draftID, text string) (isSent bool) {
	h.t.Helper()
	h.eventually("the text is a message or a draft", func() error {
		messages, _ := h.sent(text)
		drafts := h.draftsWith(text)
		if messages+drafts != 1 {
			return fmt.Errorf("%d messages, %d drafts", messages, drafts)
		}
		isSent = messages == 1
		return nil
	})
	if !isSent {
		h.must(h.checkDisk(draftID, text))
		h.bound(draftID)
	}
	return isSent
}

func (h *home) unchanged(text string, wasSent bool) {
	h.t.Helper()
	messages, _ := h.sent(text)
	drafts := h.draftsWith(text)
	if wasSent != (messages == 1) || wasSent == (drafts == 1) || messages+drafts != 1 {
		h.t.Errorf("%q: sent %t before, now %d messages and %d drafts", text, wasSent, messages, drafts)
	}
}

func (h *home) draftsWith(text string) int {
	h.t.Helper()
	count := 0
	for _, draft := range h.drafts() {
		if draft.Text == text {
			count++
		}
		for _, conflict := range draft.Conflicts {
			if conflict.Text == text {
				count++
			}
		}
	}
	return count
}
