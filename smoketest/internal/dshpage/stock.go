package dshpage

import (
	"fmt"
	"time"

	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/browser"
)

// PressNewSession clicks the page's own "New Session".
func (p *Page) PressNewSession() error { return p.ClickOn(`button[aria-label="New session"]`) }

// PressGroupPlus clicks the "+" of a workspace's group, which shows while the
// mouse is over the group's row.
func (p *Page) PressGroupPlus(workspace string) error {
	if err := p.hover(`[role=tree] [role=treeitem][aria-expanded]`, workspace); err != nil {
		return err
	}
	return p.ClickOn(`button[aria-label=` + quote("New session in "+workspace) + `]`)
}

// OpenPluginLine opens our page in the settings' list of plugins; it fails when
// there is none.
func (p *Page) OpenPluginLine() error {
	const settingsTimeout = 10 * time.Second
	for _, step := range []struct{ selector, label string }{
		{`button`, "Settings"}, {`[role=dialog] nav button`, "Plugins"}, {`[role=dialog] [role=tab]`, "Drafts"},
	} {
		if step.label != "Drafts" {
			if err := p.await(step.label+" is there", first(step.selector, step.label), settingsTimeout); err != nil {
				return err
			}
		}
		if err := p.clickOn(step.selector, step.label); err != nil {
			return err
		}
	}
	return p.await("our page is there", `document.querySelector('[data-drafts-line]')`, settingsTimeout)
}

// Alerts are the texts of the visible alerts, stock ones and ours.
func (p *Page) Alerts() ([]string, error) { return browser.Eval[[]string](p.Page, `probe.alerts()`) }

// MoveCaret puts the caret of the focused input at an offset in UTF-16 units.
func (p *Page) MoveCaret(offset int) error {
	return p.Do(fmt.Sprintf(`document.querySelector('textarea[data-phase]').setSelectionRange(%d, %d)`, offset, offset))
}

// AwaitStock waits until the page shows the stock browser and nothing of ours,
// and goes on showing nothing for a while in which our bundle would have come up.
func (p *Page) AwaitStock(limit time.Duration) error {
	const quiet = 1500 * time.Millisecond
	return p.awaitSteady("the page is stock", `probe.ready() && probe.ours() === 0`, quiet, limit)
}

// SeesText is whether the page's visible text contains text.
func (p *Page) SeesText(text string) (bool, error) {
	return browser.Eval[bool](p.Page, `document.body.innerText.includes(`+quote(text)+`)`)
}

// OpenVersions opens the list of a draft's conflict copies from its row.
func (p *Page) OpenVersions(draftID string) error {
	return p.ClickOn(fmt.Sprintf(`li[data-draft-id=%s] [data-drafts-conflicts]`, quote(draftID)))
}

// PickWorkspace chooses another workspace for the blank session that is shown.
func (p *Page) PickWorkspace(name string) error {
	if err := p.ClickOn(`button[aria-label="Choose workspace"]`); err != nil {
		return err
	}
	return p.clickOn(`[role=menu] [role=menuitem]`, name)
}

// Groups are the names of the workspaces in the sidebar.
func (p *Page) Groups() ([]string, error) { return browser.Eval[[]string](p.Page, `probe.groups()`) }

// ExpandGroup opens a workspace's group when it is folded.
func (p *Page) ExpandGroup(workspace string) error {
	const groupTimeout = 10 * time.Second
	return p.await("the group of "+workspace+" is open", `probe.expand(`+quote(workspace)+`)`, groupTimeout)
}

// OpenStockRow clicks the page's own row with that title.
func (p *Page) OpenStockRow(title string) error {
	return p.Do(`probe.stockRow(` + quote(title) + `).click()`)
}

// OpenRowThenStockRow clicks a draft's row and, as soon as the page can react, the
// page's own row with that title.
func (p *Page) OpenRowThenStockRow(draftID, title string) error {
	return p.Do(`probe.clickBoth(document.querySelector(` + quote(RowSelector(draftID)) + `), probe.stockRow(` + quote(title) + `))`)
}

// AwaitStaying waits until the page shows a session and goes on showing it for a second.
func (p *Page) AwaitStaying(sessionID string, limit time.Duration) error {
	return p.awaitSteady("the page stays on session "+sessionID, `probe.current() === `+quote(sessionID), time.Second, limit)
}

// PickSuggestion picks an entry of the menu that typing "@" or "/" opens.
func (p *Page) PickSuggestion(label string) error {
	const suggestionTimeout = 10 * time.Second
	if err := p.await("the suggestion "+label+" is there", `probe.suggestion(`+quote(label)+`)`, suggestionTimeout); err != nil {
		return err
	}
	return p.Enter()
}

// PasteImage pastes a small picture into the composer.
func (p *Page) PasteImage() error {
	if err := p.FocusComposer(); err != nil {
		return err
	}
	return p.Do(`probe.pasteImage()`)
}

// AwaitRest waits until the page shows "saved" where it says anything, its fonts
// are there and nothing has moved or changed for a while.
func (p *Page) AwaitRest(limit time.Duration) error {
	return p.await("the page is at rest", `probe.atRest()`, limit)
}

// GroupOrder is what a workspace's group holds from top to bottom: "draft" for
// our rows, "session" for the page's own.
func (p *Page) GroupOrder(workspace string) ([]string, error) {
	return browser.Eval[[]string](p.Page, `probe.groupOrder(`+quote(workspace)+`)`)
}

// ShowFlat chooses the page's view without workspace groups, from the next load on.
func (p *Page) ShowFlat() error { return p.Do(`probe.showFlat()`) }
