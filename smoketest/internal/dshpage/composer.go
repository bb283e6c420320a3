package dshpage

import (
	"errors"
	"fmt"
	"time"

	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/browser"
)

// Composer is the state of the page's input.
type Composer struct {
	// Text is the exact text of the page's input state.
	Text string `json:"text"`
	// Phase is plain, adjudicating, claimed or submitting.
	Phase    string `json:"phase"`
	Focused  bool   `json:"focused"`
	Disabled bool   `json:"disabled"`
	ReadOnly bool   `json:"readOnly"`
	// Start and End are the selection, in UTF-16 units of the textarea's value.
	Start int `json:"start"`
	End   int `json:"end"`
}

// Composer reads the input.
func (p *Page) Composer() (Composer, error) {
	composer, err := browser.Eval[*Composer](p.Page, `probe.composer()`)
	if err != nil {
		return Composer{}, fmt.Errorf("read the composer: %w", err)
	}
	if composer == nil {
		return Composer{}, errors.New("read the composer: there is none")
	}
	return *composer, nil
}

// Current is the id of the session that the page shows, "" for none.
func (p *Page) Current() (string, error) { return browser.Eval[string](p.Page, `probe.current()`) }

// FocusComposer clicks into the input and puts the caret at its end.
func (p *Page) FocusComposer() error {
	if err := p.ClickOn(`textarea[data-phase]`); err != nil {
		return fmt.Errorf("focus the composer: %w", err)
	}
	return p.Press(browser.Key{Key: "End", Code: "End", VirtualKey: 35, Ctrl: true, Command: "moveToEndOfDocument"})
}

// pasteTimeout bounds how long a pasted text may take to be in the composer.
const pasteTimeout = 10 * time.Second

// TypePause is the time between two keys of a fast typist.
const TypePause = 40 * time.Millisecond

// Write focuses the composer and types text at its end, key by key.
func (p *Page) Write(text string) error {
	if err := p.FocusComposer(); err != nil {
		return err
	}
	return p.Type(text, TypePause)
}

// Paste focuses the composer and pastes text at its end: in one step, as from a
// clipboard, whatever its size.
func (p *Page) Paste(text string) error {
	if err := p.FocusComposer(); err != nil {
		return err
	}
	before, err := p.Composer()
	if err != nil {
		return err
	}
	if err := p.Do(`probe.paste(` + quote(text) + `)`); err != nil {
		return fmt.Errorf("paste: %w", err)
	}
	return p.AwaitText(before.Text+text, pasteTimeout)
}

// ClearComposer selects everything in the input and deletes it.
func (p *Page) ClearComposer() error {
	if err := p.FocusComposer(); err != nil {
		return err
	}
	if err := p.Press(browser.Key{Key: "a", Code: "KeyA", VirtualKey: 65, Ctrl: true, Command: "selectAll"}); err != nil {
		return err
	}
	return p.Press(browser.Key{Key: "Backspace", Code: "Backspace", VirtualKey: 8, Command: "deleteBackward"})
}

// Enter presses Enter in the focused composer, which sends.
func (p *Page) Enter() error {
	return p.Press(browser.Key{Key: "Enter", Code: "Enter", VirtualKey: 13, Text: "\r"})
}

// Blur takes the focus out of the composer by a click on an empty place.
func (p *Page) Blur() error {
	return p.Do(`document.activeElement instanceof HTMLElement && document.activeElement.blur()`)
}

// ClickOn clicks the first visible element of a CSS selector with the mouse.
func (p *Page) ClickOn(selector string) error { return p.clickOn(selector, "") }

// clickOn clicks the first visible element of a selector whose text is label, or
// whatever its text when that is "".
func (p *Page) clickOn(selector, label string) error { return p.Page.ClickOn(first(selector, label)) }

func (p *Page) hover(selector, label string) error {
	at, err := p.Aim(first(selector, label))
	if err != nil {
		return err
	}
	return p.Hover(at.X, at.Y)
}

func first(selector, label string) string {
	return `probe.first(` + quote(selector) + `, ` + quote(label) + `)`
}
