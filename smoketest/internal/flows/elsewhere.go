package flows

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// keyPause is the time between two keys where two people type at once.
const keyPause = 30 * time.Millisecond

// Two browsers: an edit in one shows in the other's row and in its composer when
// nobody writes there; while somebody does, a notice says it and the composer is
// left alone (invariants 5 and 6).
func editReachesAnotherBrowser(t *testing.T, h *Home) {
	one, two := h.Open(), h.Open()
	draft := one.NewDraftWith("shared")
	two.Shows(draft.ID, "shared")
	h.Must(two.Blur())

	one.Writes(" and changed")
	one.Saved(draft.ID)
	two.Holds("shared and changed")
	h.Eventually("the other browser's row shows the edit", func() error {
		rows, err := two.Rows()
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(rows, func(row Row) bool {
			return row.ID == draft.ID && strings.Contains(row.Title, "shared and changed")
		}) {
			return fmt.Errorf("rows %+v", rows)
		}
		return nil
	})

	// Somebody sits in the second composer, the caret in the middle of the text.
	h.Must(two.FocusComposer())
	h.Must(two.MoveCaret(3))
	one.Writes(" again")
	one.Saved(draft.ID)
	two.Says("elsewhere")
	composer := two.Field()
	if composer.Text != "shared and changed" || composer.Start != 3 || composer.End != 3 || !composer.Focused {
		t.Errorf("the composer that is being edited was touched: %+v", composer)
	}
	h.Must(two.Blur())
	two.Holds("shared and changed again")
	if got := h.Draft(draft.ID); len(got.Conflicts) != 0 {
		t.Errorf("nobody wrote against each other, but there are %d conflict copies", len(got.Conflicts))
	}
}

// An edit from elsewhere does not touch a composer in which an input method is
// composing; what is composed arrives whole, and no word is lost.
func compositionIsNotDisturbed(t *testing.T, h *Home) {
	one, two := h.Open(), h.Open()
	draft := one.NewDraftWith("base ")
	two.Shows(draft.ID, "base ")
	h.Must(two.FocusComposer())
	h.Must(two.Compose("ni hao"))
	one.Writes("changed")
	one.Saved(draft.ID)
	if got := two.Field().Text; got != "base ni hao" {
		t.Errorf("the composer holds %q during the composition", got)
	}
	h.Must(two.CommitComposition("你好"))
	two.Holds("base 你好")
	h.Eventually("both texts are kept", func() error {
		for _, want := range []string{"base changed", "base 你好"} {
			if h.DraftsWith(want) != 1 {
				return fmt.Errorf("%q is kept %d times in %+v", want, h.DraftsWith(want), h.AllDrafts())
			}
		}
		return nil
	})
}

// Both write into one draft at once, invariant 6: no word is lost, no caret
// moves, and nobody is kept from switching.
func bothTypingLosesNeither(t *testing.T, h *Home) {
	one, two := h.Open(), h.Open()
	other := one.NewDraftWith("other")
	draft := one.NewDraftWith("base")
	one.Shows(draft.ID, "base")
	two.Shows(draft.ID, "base")
	h.Must(one.FocusComposer())
	h.Must(two.FocusComposer())

	wantOne, wantTwo := "base", "base"
	typeBoth := func(a, b string) {
		t.Helper()
		done := make(chan error, 1)
		go func() { done <- two.Type(b, keyPause) }()
		h.Must(one.Type(a, keyPause))
		h.Must(<-done)
		wantOne, wantTwo = wantOne+a, wantTwo+b
		for _, c := range []struct {
			name string
			p    *Page
			want string
		}{{"first", one, wantOne}, {"second", two, wantTwo}} {
			composer := c.p.Field()
			if composer.Text != c.want || composer.Start != len(c.want) || composer.End != len(c.want) || !composer.Focused {
				t.Errorf("the %s browser typed %q, its composer is %+v", c.name, c.want, composer)
			}
		}
	}
	typeBoth(" from the first browser", " from the second browser")
	typeBoth(" more and more", " some other words")

	h.Eventually("both texts are kept, as the draft or a copy of it", func() error {
		now := h.Draft(draft.ID)
		kept := []string{now.Text}
		for _, conflict := range now.Conflicts {
			kept = append(kept, conflict.Text)
		}
		for _, want := range []string{wantOne, wantTwo} {
			if !slices.Contains(kept, want) {
				return fmt.Errorf("%q is not among %q", want, kept)
			}
		}
		return nil
	})
	// Neither is blocked.
	one.Shows(other.ID, "other")
	two.Shows(other.ID, "other")
	// And everybody can read both afterwards.
	three := h.Open()
	three.Shows(draft.ID, h.Draft(draft.ID).Text)
	h.Must(three.OpenVersions(draft.ID))
	for _, conflict := range h.Draft(draft.ID).Conflicts {
		three.Sees(conflict.Text)
	}
}

// What is written after the draft was deleted elsewhere becomes a new draft.
func editAfterDeletionBecomesANewDraft(t *testing.T, h *Home) {
	p := h.Open()
	draft := p.NewDraftWith("will be deleted")
	h.Must(p.FocusComposer())
	h.Must(p.Type(" while", keyPause))
	h.Must(h.DeleteDraft(h.Ctx, draft.ID))
	h.Must(p.Type(" I write", keyPause))
	var late string
	h.Eventually("the text is a draft of its own", func() error {
		for _, now := range h.AllDrafts() {
			if now.ID != draft.ID && now.Text == "will be deleted while I write" {
				late = now.ID
				return nil
			}
		}
		return fmt.Errorf("drafts %+v", h.AllDrafts())
	})
	p.Says("late_edit")
	if got := h.DraftsWith("will be deleted while I write"); got != 1 {
		t.Errorf("the late text is there %d times", got)
	}
	p.Shows(late, "will be deleted while I write")
	h.Bound(late)
}

// What is written in one browser while another one sends the draft is kept, and
// the sent message is the sent message (invariants 2 and 6).
func editDuringASendElsewhereIsKept(t *testing.T, h *Home) {
	one, two := h.Open(), h.Open()
	draft := one.NewDraftWith("send this")
	two.Shows(draft.ID, "send this")
	one.Shows(draft.ID, "send this")
	h.Must(one.FocusComposer())
	h.Must(two.FocusComposer())
	h.Must(two.Type(" plus", 0))
	h.Must(one.Send())
	h.Must(two.Type(" late words", 0))
	h.AwaitSent("send this")
	h.Eventually("the late words are in a draft", func() error {
		drafts := h.AllDrafts()
		for _, now := range drafts {
			if now.Text == "send this plus late words" {
				return nil
			}
		}
		return fmt.Errorf("drafts %+v", drafts)
	})
	two.Says("late_edit", "conflict_kept")
	if count, _ := h.Sent("send this plus late words"); count != 0 {
		t.Error("words that were not sent are in a history")
	}
}

// A message of another client reaches a draft's session: the draft keeps its
// text and gets a fresh session; the other conversation stays as it is
// (invariants 2 and 12).
func messageFromElsewhereDetaches(t *testing.T, h *Home) {
	p := h.Open()
	shown, hidden := p.NewDraftWith("shown draft"), h.MakeDraft("hidden draft")
	p.ShowsRow(hidden.ID)
	p.Shows(shown.ID, "shown draft")
	for _, draft := range []struct{ id, session, text string }{
		{hidden.ID, hidden.SessionID, "hidden draft"},
		{shown.ID, shown.SessionID, "shown draft"},
	} {
		h.Must(h.Prompt(h.Ctx, draft.session, "from elsewhere into "+draft.text))
		h.Detached(draft.id, draft.session, draft.text)
		if got := h.AwaitSent("from elsewhere into " + draft.text); got != draft.session {
			t.Errorf("the foreign message is in %s, sent to %s", got, draft.session)
		}
	}
	p.Says("detached")
	p.Shows(hidden.ID, "hidden draft")
	p.Shows(shown.ID, "shown draft")
	// Still a draft like any other.
	p.Writes(" goes on")
	p.Saved(shown.ID)
	h.Must(p.Send())
	h.AwaitSent("shown draft goes on")
	p.HasNoRow(shown.ID)
}

// The session behind a draft was archived: opening the draft gives it another
// one, the text is kept, and the page says so.
func archivedSessionIsMadeAgainWhenOpened(t *testing.T, h *Home) {
	p := h.Open()
	other := p.NewDraftWith("other")
	draft := p.NewDraftWith("behind an archived session")
	p.Shows(other.ID, "other")
	h.Must(h.ArchiveSession(h.Ctx, draft.SessionID))
	p.Shows(draft.ID, "behind an archived session")
	p.Says("recreated")
	if got := h.Bound(draft.ID); got == draft.SessionID {
		t.Error("the draft still has the archived session")
	}
	if got, err := p.Writable(); err != nil || got != draft.ID {
		t.Errorf("the page shows draft %q, %v", got, err)
	}
	p.Writes(" and edited")
	p.Saved(draft.ID)
	h.OnDisk(draft.ID, "behind an archived session and edited")
}

// The same for the draft that is open at that moment.
func archivedWhileOpen(t *testing.T, h *Home) {
	p := h.Open()
	draft := p.NewDraftWith("open and archived")
	h.Must(h.ArchiveSession(h.Ctx, draft.SessionID))
	p.ShowsRow(draft.ID)
	h.OnDisk(draft.ID, "open and archived")
	p.Shows(draft.ID, "open and archived")
	if got := h.Bound(draft.ID); got == draft.SessionID {
		t.Error("the draft still has the archived session")
	}
}
