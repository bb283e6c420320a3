package flows

import (
	"fmt"
	"slices"

	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/contract"
)

// Page is a tab of a home's page; its methods end the test on an error.
type Page struct {
	Tab
	H *Home
}

// NewDraft presses "New draft" and waits until the page shows the new draft, ready to
// be written in.
func (p *Page) NewDraft() contract.Draft {
	p.H.T.Helper()
	before := p.H.AllDrafts()
	p.H.Must(p.PressNewDraft())
	return p.AwaitNewDraft(before)
}

// AwaitNewDraft waits until the page shows a draft that was not there before.
func (p *Page) AwaitNewDraft(before []contract.Draft) contract.Draft {
	p.H.T.Helper()
	var made contract.Draft
	p.H.Eventually("the page shows a new draft", func() error {
		drafts, err := p.H.Drafts(p.H.Ctx) // an error while they are paused
		if err != nil {
			return err
		}
		for _, draft := range drafts {
			if slices.ContainsFunc(before, func(old contract.Draft) bool { return old.ID == draft.ID }) {
				continue
			}
			shown, err := p.Writable()
			if err != nil {
				return err
			}
			if draft.SessionID == "" || shown != draft.ID {
				return fmt.Errorf("draft %s has session %q, the page shows draft %q", draft.ID, draft.SessionID, shown)
			}
			made = draft
			return nil
		}
		return fmt.Errorf("still %d drafts", len(before))
	})
	p.ShowsRow(made.ID)
	return made
}

// NewDraftWith makes a draft, types text into it and waits until it is saved.
func (p *Page) NewDraftWith(text string) contract.Draft {
	p.H.T.Helper()
	draft := p.NewDraft()
	p.Writes(text)
	p.Saved(draft.ID)
	return draft
}

// Writes types at the end of the composer, key by key, and waits until it holds that.
func (p *Page) Writes(text string) {
	p.H.T.Helper()
	before := p.Field().Text
	p.H.Secret(text, before+text)
	p.H.Must(p.Write(text))
	p.Holds(before + text)
}

// Pastes puts text at the end of the composer in one step.
func (p *Page) Pastes(text string) {
	p.H.T.Helper()
	p.H.Secret(text)
	p.H.Must(p.Paste(text))
}

// Saved waits until the page says that the last key of the open draft is saved.
func (p *Page) Saved(draftID string) {
	p.H.T.Helper()
	p.H.Must(p.AwaitSaved(draftID, p.H.Patience))
}

// Shows opens a draft by its row and waits until the composer holds exactly text.
func (p *Page) Shows(draftID, text string) {
	p.H.T.Helper()
	p.ShowsRow(draftID)
	p.H.Must(p.OpenRow(draftID))
	p.Holds(text)
}

// Holds waits until the composer holds exactly text.
func (p *Page) Holds(text string) {
	p.H.T.Helper()
	p.H.Must(p.AwaitText(text, p.H.Patience))
}

// Field reads the composer.
func (p *Page) Field() Composer {
	p.H.T.Helper()
	composer, err := p.Composer()
	p.H.Must(err)
	return composer
}

// Reloads reloads the page.
func (p *Page) Reloads() {
	p.H.T.Helper()
	p.H.Must(p.ReloadPage())
}

// ShowsRow waits until the page has a row for the draft.
func (p *Page) ShowsRow(draftID string) {
	p.H.T.Helper()
	p.H.Eventually("there is a row for draft "+draftID, func() error {
		rows, err := p.Rows()
		if err == nil && !slices.ContainsFunc(rows, func(row Row) bool { return row.ID == draftID }) {
			err = fmt.Errorf("rows %+v", rows)
		}
		return err
	})
}

// HasNoRow waits until the page has no row for the draft.
func (p *Page) HasNoRow(draftID string) {
	p.H.T.Helper()
	p.H.Eventually("the row of draft "+draftID+" is gone", func() error {
		rows, err := p.Rows()
		if err == nil && slices.ContainsFunc(rows, func(row Row) bool { return row.ID == draftID }) {
			err = fmt.Errorf("rows %+v", rows)
		}
		return err
	})
}

// Says waits until the page shows, or has shown since it was loaded, a notice of
// one of these kinds.
func (p *Page) Says(kinds ...string) {
	p.H.T.Helper()
	p.H.Eventually(fmt.Sprintf("the page says one of %q", kinds), func() error {
		seen, err := p.NoticesSeen()
		if err == nil && !slices.ContainsFunc(kinds, func(kind string) bool { return slices.Contains(seen, kind) }) {
			err = fmt.Errorf("it has said %q", seen)
		}
		return err
	})
}

// Sees waits until text is visible on the page.
func (p *Page) Sees(text string) {
	p.H.T.Helper()
	p.H.Eventually("the page shows "+brief(text), func() error {
		sees, err := p.SeesText(text)
		if err == nil && !sees {
			err = fmt.Errorf("it does not")
		}
		return err
	})
}

// ThrewNothing fails the test when the page threw anything.
func (p *Page) ThrewNothing() {
	p.H.T.Helper()
	if errors := p.Look().Errors(); len(errors) > 0 {
		p.H.T.Errorf("the page threw %q", errors)
	}
}
