package smoketest

import (
	"fmt"
	"slices"

	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/browser"
	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/dshapi"
	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/dshpage"
)

// page is a tab of a home's harness; its methods end the test on an error.
type page struct {
	*dshpage.Page
	h *home
}

// open opens the harness in a new browser profile.
func (h *home) open() *page {
	h.t.Helper()
	opened, err := dshpage.Open(gate.browser, browser.Look{}, h.URL())
	return h.opened(opened, err)
}

func (h *home) opened(opened *dshpage.Page, err error) *page {
	h.t.Helper()
	if opened != nil {
		h.pages = append(h.pages, opened)
	}
	h.must(err)
	return &page{Page: opened, h: h}
}

// newDraft presses "New draft" and waits until the page shows the new draft's
// session, ready to be written in.
func (p *page) newDraft() dshapi.Draft {
	p.h.t.Helper()
	before := p.h.drafts()
	p.h.must(p.PressNewDraft())
	return p.awaitNewDraft(before)
}

func (p *page) awaitNewDraft(before []dshapi.Draft) dshapi.Draft {
	p.h.t.Helper()
	var made dshapi.Draft
	p.h.eventually("the page shows a new draft", func() error {
		for _, draft := range p.h.drafts() {
			if slices.ContainsFunc(before, func(old dshapi.Draft) bool { return old.ID == draft.ID }) {
				continue
			}
			current, err := p.Current()
			if err != nil {
				return err
			}
			composer, err := p.Composer()
			if err != nil {
				return err
			}
			if draft.SessionID == "" || current != draft.SessionID || composer.Disabled {
				return fmt.Errorf("draft %s has session %q, the page shows %q", draft.ID, draft.SessionID, current)
			}
			made = draft
			return nil
		}
		return fmt.Errorf("still %d drafts", len(before))
	})
	p.showsRow(made.ID)
	return made
}

// newDraftWith makes a draft, types text into it and waits until it is saved.
func (p *page) newDraftWith(text string) dshapi.Draft {
	p.h.t.Helper()
	draft := p.newDraft()
	p.write(text)
	p.saved(draft.ID)
	return draft
}

// write types at the end of the composer, key by key, and waits until it holds that.
func (p *page) write(text string) {
	p.h.t.Helper()
	before := p.composer().Text
	gate.leaks.Secret(text, before+text)
	p.h.must(p.Write(text))
	p.holds(before + text)
}

// paste puts text at the end of the composer in one step.
func (p *page) paste(text string) {
	p.h.t.Helper()
	gate.leaks.Secret(text)
	p.h.must(p.Paste(text))
}

// saved waits until the page says that the last key of the open draft is saved.
func (p *page) saved(draftID string) {
	p.h.t.Helper()
	p.h.must(p.AwaitSaved(draftID, patience))
}

// shows opens a draft by its row and waits until the composer holds exactly text.
func (p *page) shows(draftID, text string) {
	p.h.t.Helper()
	p.h.must(p.OpenRow(draftID))
	p.holds(text)
}

// holds waits until the composer holds exactly text.
func (p *page) holds(text string) {
	p.h.t.Helper()
	p.h.must(p.AwaitText(text, patience))
}

// composer reads the input.
func (p *page) composer() dshpage.Composer {
	p.h.t.Helper()
	composer, err := p.Composer()
	p.h.must(err)
	return composer
}

// current is the session that the page shows.
func (p *page) current() string {
	p.h.t.Helper()
	current, err := p.Current()
	p.h.must(err)
	return current
}

func (p *page) reload() {
	p.h.t.Helper()
	p.h.must(p.ReloadPage())
}

// showsRow waits until the page has a row for the draft.
func (p *page) showsRow(draftID string) {
	p.h.t.Helper()
	p.h.eventually("there is a row for draft "+draftID, func() error {
		rows, err := p.Rows()
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(rows, func(row dshpage.Row) bool { return row.ID == draftID }) {
			return fmt.Errorf("rows %+v", rows)
		}
		return nil
	})
}

// hasNoRow waits until the page has no row for the draft.
func (p *page) hasNoRow(draftID string) {
	p.h.t.Helper()
	p.h.eventually("the row of draft "+draftID+" is gone", func() error {
		rows, err := p.Rows()
		if err != nil {
			return err
		}
		if slices.ContainsFunc(rows, func(row dshpage.Row) bool { return row.ID == draftID }) {
			return fmt.Errorf("rows %+v", rows)
		}
		return nil
	})
}

// says waits until the page shows, or has shown since it was loaded, a notice of
// one of these kinds.
func (p *page) says(kinds ...string) {
	p.h.t.Helper()
	p.h.eventually(fmt.Sprintf("the page says one of %q", kinds), func() error {
		seen, err := p.NoticesSeen()
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(kinds, func(kind string) bool { return slices.Contains(seen, kind) }) {
			return fmt.Errorf("it has said %q", seen)
		}
		return nil
	})
}

// seesText waits until text is visible on the page.
func (p *page) seesText(text string) {
	p.h.t.Helper()
	p.h.eventually("the page shows "+brief(text), func() error {
		sees, err := p.SeesText(text)
		if err == nil && !sees {
			err = fmt.Errorf("it does not")
		}
		return err
	})
}

// onBlankSession waits until the page shows a blank session that belongs to no
// draft (invariant 4).
func (p *page) onBlankSession() {
	p.h.t.Helper()
	p.h.eventually("the page shows a blank session that belongs to no draft", func() error {
		current, err := p.Current()
		if err != nil {
			return err
		}
		for _, draft := range p.h.drafts() {
			if draft.SessionID == current {
				return fmt.Errorf("it shows the session of draft %s", draft.ID)
			}
		}
		sessions, err := p.h.API.Sessions(p.h.ctx)
		if err != nil {
			return err
		}
		for _, session := range sessions {
			if session.ID == current && session.Blank {
				return nil
			}
		}
		return fmt.Errorf("it shows %q", current)
	})
}

// hasNoGroup waits until the page shows no workspace of that name.
func (p *page) hasNoGroup(workspace string) {
	p.h.t.Helper()
	p.h.eventually("the workspace "+workspace+" is gone from the page", func() error {
		groups, err := p.Groups()
		if err == nil && slices.Contains(groups, workspace) {
			err = fmt.Errorf("groups %q", groups)
		}
		return err
	})
}
