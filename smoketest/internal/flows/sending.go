package flows

import (
	"fmt"
	"os"
	"testing"
	"time"
)

// EnvSoak makes the flows with kills try more often.
const EnvSoak = "DRAFT_SESSIONS_SOAK"

// Accepted Send, invariants 2 and 12: the row goes, an ordinary session with the
// prompt stays, the file forgets the text, and nothing brings it back.
func acceptedSend(t *testing.T, h *Home) {
	p := h.Open()
	other := p.NewDraftWith("stays a draft")
	draft := p.NewDraftWith("please send me")
	h.Must(p.Send())
	if session := h.AwaitSent("please send me"); session != draft.SessionID {
		t.Errorf("sent in session %s, the draft's was %s", session, draft.SessionID)
	}
	p.HasNoRow(draft.ID)
	h.Eventually("the file has forgotten the text", func() error {
		if h.FileHolds("please send me") {
			return fmt.Errorf("it holds it")
		}
		return nil
	})
	h.Must(p.AwaitEmpty(h.Patience))
	h.Must(p.AwaitSent(draft.SessionID, h.Patience))
	h.modelHasSeen("please send me")

	spentIsGone := func(when string) {
		t.Helper()
		if h.FileHolds("please send me") {
			t.Errorf("%s: the file holds the sent text", when)
		}
		if count, _ := h.Sent("please send me"); count != 1 {
			t.Errorf("%s: the message is in histories %d times", when, count)
		}
		p.HasNoRow(draft.ID)
	}
	fresh := p.NewDraft()
	p.Holds("")
	spentIsGone("after a new draft")
	p.Reloads()
	spentIsGone("after a reload")
	h.Restart()
	h.Must(h.Reconcile(h.Ctx))
	p.Reloads()
	spentIsGone("after a restart")
	p.Shows(fresh.ID, "")
	p.Shows(other.ID, "stays a draft")
	if drafts := h.AllDrafts(); len(drafts) != 2 {
		t.Errorf("%d drafts, want the two that were not sent", len(drafts))
	}
}

// Rejected Send, invariant 2: the draft is unchanged, and can be sent once the
// reason is gone.
func rejectedSend(t *testing.T, h *Home) {
	p := h.Open()
	draft := p.NewDraftWith("cannot be sent yet")
	before := h.Draft(draft.ID)
	h.Must(h.RefusePrompts(h.Ctx, true))
	p.Holds("cannot be sent yet")
	h.Must(p.FocusComposer())
	h.Must(p.Send())
	h.Must(p.AwaitRefused(h.Patience))
	p.Holds("cannot be sent yet")
	p.ShowsRow(draft.ID)
	h.UnchangedSince(before)

	// Another client is refused as well.
	if err := h.Prompt(h.Ctx, draft.SessionID, "cannot be sent yet"); err == nil {
		t.Error("the host accepted a prompt that it has to refuse")
	}
	h.UnchangedSince(before)
	if count, _ := h.Sent("cannot be sent yet"); count != 0 {
		t.Errorf("the rejected message is in histories %d times", count)
	}
	h.Restart()
	h.Must(h.Reconcile(h.Ctx))
	h.UnchangedSince(before)

	h.Must(h.RefusePrompts(h.Ctx, false))
	p.Reloads()
	p.Shows(draft.ID, "cannot be sent yet")
	p.Writes("!")
	p.Saved(draft.ID)
	h.Must(p.Send())
	h.AwaitSent("cannot be sent yet!")
	p.HasNoRow(draft.ID)
}

// Invariant 3: nothing of a draft reaches the model before Send, and creating,
// writing, switching and restarting make no request at all.
func modelSeesNothingBeforeSend(t *testing.T, h *Home) {
	p := h.Open()
	first := p.NewDraftWith("secret alpha")
	second := p.NewDraftWith("secret beta")
	p.Shows(first.ID, "secret alpha")
	p.Reloads()
	h.Restart()
	p.Reloads()
	h.Must(h.Reconcile(h.Ctx))
	p.Shows(second.ID, "secret beta")
	if requests := h.Model().Requests(); len(requests) != 0 {
		t.Fatalf("the model got %d requests before any Send", len(requests))
	}
	h.Must(p.FocusComposer())
	h.Must(p.Send())
	h.AwaitSent("secret beta")
	h.modelHasSeen("secret beta")
	if h.Model().Seen("secret alpha") != 0 {
		t.Error("the model has seen the text of a draft that was not sent")
	}
}

func (h *Home) modelHasSeen(text string) {
	h.T.Helper()
	h.Eventually("the model has seen the sent text", func() error {
		if h.Model().Seen(text) == 0 {
			return fmt.Errorf("it has seen %d requests", len(h.Model().Requests()))
		}
		return nil
	})
}

// Invariants 2 and 10: the host is killed around the moment at which an accepted
// prompt becomes durable. Afterwards the message is in the history, or the text is
// still a draft: never both, never neither, and another restart changes nothing.
func killedAfterAcceptance(t *testing.T, h *Home) {
	tries := 2
	if os.Getenv(EnvSoak) != "" {
		tries = 10
	}
	settled := map[string]bool{}
	for _, delay := range []time.Duration{0, 50 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond} {
		sent := 0
		for try := range tries {
			text := fmt.Sprintf("send at %v, try %d", delay, try)
			draft := h.MakeDraft(text)
			h.Must(h.Prompt(h.Ctx, draft.SessionID, text))
			// The moment of the kill is what is tested, not a wait for something.
			time.Sleep(delay)
			h.Crash()
			h.Must(h.Reconcile(h.Ctx))
			isSent := h.SentOrDraft(draft.ID, text)
			settled[text] = isSent
			if isSent {
				sent++
			}
			for earlier, wasSent := range settled {
				h.Unchanged(earlier, wasSent)
			}
		}
		t.Logf("killed %v after acceptance: sent %d of %d, the others are drafts", delay, sent, tries)
	}
	h.Restart()
	h.Must(h.Reconcile(h.Ctx))
	for text, wasSent := range settled {
		h.Unchanged(text, wasSent)
	}
}

// The same from the page: Send, then the kill as soon as the page shows that the
// prompt was accepted.
func killedAfterSendFromThePage(t *testing.T, h *Home) {
	p := h.Open()
	draft := p.NewDraftWith("sent by hand")
	h.Must(p.Send())
	h.Must(p.AwaitEmpty(h.Patience))
	h.Crash()
	h.Must(h.Reconcile(h.Ctx))
	isSent := h.SentOrDraft(draft.ID, "sent by hand")
	p.Reloads()
	if isSent {
		p.HasNoRow(draft.ID)
	} else {
		p.Shows(draft.ID, "sent by hand")
	}
	h.Restart()
	h.Unchanged("sent by hand", isSent)
}
