package smoketest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/dshapi"
	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/dshpage"
)

// Accepted Send, invariants 2 and 12: the row goes, an ordinary session with the
// prompt stays, the file forgets the text, and nothing brings it back.
func TestAcceptedSend(t *testing.T) {
	h := startHome(t)
	p := h.open()
	other := p.newDraftWith("stays a draft")
	draft := p.newDraftWith("please send me")
	h.must(p.Enter())
	if session := h.awaitSent("please send me"); session != draft.SessionID {
		t.Errorf("sent in session %s, the draft's was %s", session, draft.SessionID)
	}
	p.hasNoRow(draft.ID)
	h.eventually("the file has forgotten the text", func() error {
		if h.fileHolds("please send me") {
			return fmt.Errorf("it holds it")
		}
		return nil
	})
	p.holds("")
	h.eventually("the sent session is an ordinary row", func() error {
		rows, err := p.StockRows()
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(rows, func(row dshpage.StockRow) bool { return row.Selected }) {
			return fmt.Errorf("rows %+v", rows)
		}
		return nil
	})
	h.eventually("the model has answered", func() error {
		if h.Model.Seen("please send me") == 0 {
			return fmt.Errorf("it has seen %d requests", len(h.Model.Requests()))
		}
		return nil
	})

	spentIsGone := func(when string) {
		t.Helper()
		if h.fileHolds("please send me") {
			t.Errorf("%s: the file holds the sent text", when)
		}
		if count, _ := h.sent("please send me"); count != 1 {
			t.Errorf("%s: the message is in histories %d times", when, count)
		}
		p.hasNoRow(draft.ID)
	}
	fresh := p.newDraft()
	p.holds("")
	spentIsGone("after a new draft")
	h.must(p.PressNewSession())
	p.onBlankSession()
	p.holds("")
	spentIsGone("after New Session")
	p.reload()
	spentIsGone("after a reload")
	h.restart()
	h.awaitMode("full")
	h.must(h.API.Reconcile(h.ctx))
	p.reload()
	spentIsGone("after a restart")
	p.shows(fresh.ID, "")
	p.shows(other.ID, "stays a draft")
	if drafts := h.drafts(); len(drafts) != 2 {
		t.Errorf("%d drafts, want the two that were not sent", len(drafts))
	}
}

// Rejected Send, invariant 2: the draft is unchanged, and can be sent once the
// reason is gone.
func TestRejectedSend(t *testing.T) {
	h := startHome(t)
	p := h.open()
	draft := p.newDraftWith("cannot be sent yet")
	before := h.draft(draft.ID)
	// The page would not let one send, if it knew.
	h.must(p.Block("*://*:*/api/session.models*"))
	h.serveModel("nope", "m")
	h.must(p.Enter())
	p.seesAlert()
	p.holds("cannot be sent yet")
	p.showsRow(draft.ID)
	h.unchangedSince(before)

	// Another client is refused as well.
	if err := h.API.Prompt(h.ctx, draft.SessionID, "cannot be sent yet"); err == nil {
		t.Error("the harness accepted a prompt for a model that is not served")
	}
	h.unchangedSince(before)
	if count, _ := h.sent("cannot be sent yet"); count != 0 {
		t.Errorf("the rejected message is in histories %d times", count)
	}
	h.restart()
	h.awaitMode("full")
	h.must(h.API.Reconcile(h.ctx))
	h.unchangedSince(before)

	h.serveModel("deepseek-official", "deepseek-v4-flash")
	h.must(p.Block())
	p.reload()
	p.shows(draft.ID, "cannot be sent yet")
	p.write("!")
	p.saved(draft.ID)
	h.must(p.Enter())
	h.awaitSent("cannot be sent yet!")
	p.hasNoRow(draft.ID)
}

// serveModel makes a model the one that prompts use.
func (h *home) serveModel(provider, model string) {
	h.t.Helper()
	h.must(h.API.UpdateSettings(h.ctx, "agent-default-model", map[string]any{"provider": provider, "model": model}))
}

// unchangedSince waits until a draft is as it was, apart from its bookkeeping.
func (h *home) unchangedSince(before dshapi.Draft) {
	h.t.Helper()
	h.eventually("the draft is as it was", func() error {
		after := h.draft(before.ID)
		if after.Text != before.Text || after.TextRevision != before.TextRevision || after.SessionID != before.SessionID || after.State != "ready" {
			return fmt.Errorf("before %+v, after %+v", before, after)
		}
		return nil
	})
	h.onDisk(before.ID, before.Text)
}

// seesAlert waits until the page has given up a send with a message.
func (p *page) seesAlert() {
	p.h.t.Helper()
	p.h.eventually("the page says that it could not send", func() error {
		alerts, err := p.Alerts()
		if err != nil {
			return err
		}
		if composer := p.composer(); composer.Phase != "plain" || len(alerts) == 0 {
			return fmt.Errorf("phase %s, alerts %q", composer.Phase, alerts)
		}
		return nil
	})
}

// A command that starts a turn counts as the draft's send; its message carries
// no id (invariant 2, facts on /plan).
func TestPlanWithTextCountsAsSend(t *testing.T) {
	h := startHome(t)
	p := h.open()
	other := p.newDraftWith("stays")
	draft := p.newDraft()
	h.must(p.Write("/plan tidy the build"))
	p.saved(draft.ID)
	// The page completes the command's name as it is typed.
	h.onDisk(draft.ID, p.composer().Text)
	h.must(p.Enter())
	h.eventually("the command's message is in the history", func() error {
		if messages := h.history(draft.SessionID).Messages; len(messages) != 1 {
			return fmt.Errorf("messages %+v", messages)
		}
		return nil
	})
	p.hasNoRow(draft.ID)
	h.eventually("the file has forgotten the text", func() error {
		if h.fileHolds("tidy the build") {
			return fmt.Errorf("it holds it")
		}
		return nil
	})
	p.shows(other.ID, "stays")
}

// A command that sends nothing empties the composer, but is neither a send nor
// an edit (invariants 2 and 5).
func TestPermissionCommandLosesNothing(t *testing.T) {
	h := startHome(t)
	p := h.open()
	draft := p.newDraft()
	h.must(p.Write("/permission read-only"))
	h.must(p.Enter())
	h.eventually("the command has run", func() error {
		if got := h.history(draft.SessionID).Permission; got != "read-only" {
			return fmt.Errorf("permission %s", got)
		}
		return nil
	})
	p.showsRow(draft.ID)
	p.holds("")
	p.write("the real task")
	p.saved(draft.ID)
	h.onDisk(draft.ID, "the real task")
	if got := h.bound(draft.ID); got != draft.SessionID {
		t.Errorf("the session changed from %s to %s", draft.SessionID, got)
	}
}

// Invariant 3: nothing of a draft reaches the model before Send, and creating,
// writing, switching and restarting make no request at all.
func TestModelSeesNothingBeforeSend(t *testing.T) {
	h := startHome(t)
	p := h.open()
	first := p.newDraftWith("secret alpha")
	second := p.newDraftWith("secret beta")
	p.shows(first.ID, "secret alpha")
	p.reload()
	h.restart()
	h.awaitMode("full")
	p.reload()
	h.must(h.API.Reconcile(h.ctx))
	p.shows(second.ID, "secret beta")
	if requests := h.Model.Requests(); len(requests) != 0 {
		t.Fatalf("the model got %d requests before any Send", len(requests))
	}
	h.must(p.FocusComposer())
	h.must(p.Enter())
	h.awaitSent("secret beta")
	h.eventually("the model has seen the sent text", func() error {
		if h.Model.Seen("secret beta") == 0 {
			return fmt.Errorf("%d requests", len(h.Model.Requests()))
		}
		return nil
	})
	if h.Model.Seen("secret alpha") != 0 {
		t.Error("the model has seen the text of a draft that was not sent")
	}
}
