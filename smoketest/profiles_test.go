package smoketest

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
func TestEditReachesAnotherBrowser(t *testing.T) {
	h := startHome(t)
	one, two := h.open(), h.open()
	draft := one.newDraftWith("shared")
	two.shows(draft.ID, "shared")
	h.must(two.Blur())

	one.write(" and changed")
	one.saved(draft.ID)
	two.holds("shared and changed")
	h.eventually("the other browser's row shows the edit", func() error {
		rows, err := two.Rows()
		if err != nil {
			return err
		}
		for _, row := range rows {
			if row.ID == draft.ID && strings.Contains(row.Title, "shared and changed") {
				return nil
			}
		}
		return fmt.Errorf("rows %+v", rows)
	})

	// Somebody sits in the second composer, the caret in the middle of the text.
	h.must(two.FocusComposer())
	h.must(two.MoveCaret(3))
	one.write(" again")
	one.saved(draft.ID)
	two.says("elsewhere")
	composer := two.composer()
	if composer.Text != "shared and changed" || composer.Start != 3 || composer.End != 3 || !composer.Focused {
		t.Errorf("the composer that is being edited was touched: %+v", composer)
	}
	h.must(two.Blur())
	two.holds("shared and changed again")
	if got := h.draft(draft.ID); len(got.Conflicts) != 0 {
		t.Errorf("nobody wrote against each other, but there are %d conflict copies", len(got.Conflicts))
	}
}

// An edit from elsewhere does not touch a composer in which an input method is
// composing; what is composed arrives whole, and no word is lost.
func TestCompositionIsNotDisturbed(t *testing.T) {
	h := startHome(t)
	one, two := h.open(), h.open()
	draft := one.newDraftWith("base ")
	two.shows(draft.ID, "base ")
	h.must(two.FocusComposer())
	h.must(two.Compose("ni hao"))
	one.write("changed")
	one.saved(draft.ID)
	if got := two.composer().Text; got != "base ni hao" {
		t.Errorf("the composer holds %q during the composition", got)
	}
	h.must(two.CommitComposition("你好"))
	two.holds("base 你好")
	h.eventually("both texts are kept", func() error {
		for _, want := range []string{"base changed", "base 你好"} {
			if h.draftsWith(want) != 1 {
				return fmt.Errorf("%q is kept %d times in %+v", want, h.draftsWith(want), h.drafts())
			}
		}
		return nil
	})
}

// Both write into one draft at once, invariant 6: no word is lost, no caret
// moves, and nobody is kept from switching.
func TestBothTypingLosesNeither(t *testing.T) {
	h := startHome(t)
	one, two := h.open(), h.open()
	other := one.newDraftWith("other")
	draft := one.newDraftWith("base")
	one.shows(draft.ID, "base")
	two.shows(draft.ID, "base")
	h.must(one.FocusComposer())
	h.must(two.FocusComposer())

	wantOne, wantTwo := "base", "base"
	typeBoth := func(a, b string) {
		t.Helper()
		done := make(chan error, 1)
		go func() { done <- two.Type(b, keyPause) }()
		h.must(one.Type(a, keyPause))
		h.must(<-done)
		wantOne, wantTwo = wantOne+a, wantTwo+b
		for _, c := range []struct {
			name string
			p    *page
			want string
		}{{"first", one, wantOne}, {"second", two, wantTwo}} {
			composer := c.p.composer()
			if composer.Text != c.want || composer.Start != len(c.want) || composer.End != len(c.want) || !composer.Focused {
				t.Errorf("the %s browser typed %q, its composer is %+v", c.name, c.want, composer)
			}
		}
	}
	typeBoth(" from the first browser", " from the second browser")
	typeBoth(" more and more", " some other words")

	h.eventually("both texts are kept, as the draft or a copy of it", func() error {
		now := h.draft(draft.ID)
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
	one.shows(other.ID, "other")
	two.shows(other.ID, "other")
	// And everybody can read both afterwards.
	three := h.open()
	three.shows(draft.ID, h.draft(draft.ID).Text)
	h.must(three.OpenVersions(draft.ID))
	for _, conflict := range h.draft(draft.ID).Conflicts {
		three.seesText(conflict.Text)
	}
}

// What is written after the draft was deleted elsewhere becomes a new draft.
func TestEditAfterDeletionBecomesANewDraft(t *testing.T) {
	h := startHome(t)
	p := h.open()
	draft := p.newDraftWith("will be deleted")
	h.must(p.FocusComposer())
	h.must(p.Type(" while", keyPause))
	h.must(h.API.DeleteDraft(h.ctx, draft.ID))
	h.must(p.Type(" I write", keyPause))
	var late string
	h.eventually("the text is a draft of its own", func() error {
		for _, now := range h.drafts() {
			if now.ID != draft.ID && now.Text == "will be deleted while I write" {
				late = now.ID
				return nil
			}
		}
		return fmt.Errorf("drafts %+v", h.drafts())
	})
	p.says("late_edit")
	if got := h.draftsWith("will be deleted while I write"); got != 1 {
		t.Errorf("the late text is there %d times", got)
	}
	p.shows(late, "will be deleted while I write")
	h.bound(late)
}

// What is written in one browser while another one sends the draft is kept, and
// the sent message is the sent message (invariants 2 and 6).
func TestEditDuringASendElsewhereIsKept(t *testing.T) {
	h := startHome(t)
	one, two := h.open(), h.open()
	draft := one.newDraftWith("send this")
	two.shows(draft.ID, "send this")
	one.shows(draft.ID, "send this")
	h.must(one.FocusComposer())
	h.must(two.FocusComposer())
	h.must(two.Type(" plus", 0))
	h.must(one.Enter())
	h.must(two.Type(" late words", 0))
	h.awaitSent("send this")
	h.eventually("the late words are in a draft", func() error {
		drafts := h.drafts()
		for _, now := range drafts {
			if now.Text == "send this plus late words" {
				return nil
			}
		}
		return fmt.Errorf("drafts %+v", drafts)
	})
	two.says("late_edit", "conflict_kept")
	if count, _ := h.sent("send this plus late words"); count != 0 {
		t.Error("words that were not sent are in a history")
	}
}
