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

// TypePause is the time between two keys of a fast typist.
const TypePause = 40 * time.Millisecond

// Write focuses the composer and types text at its end, key by key.
func (p *Page) Write(text string) error {
	if err := p.FocusComposer(); err != nil {
		return err
	}
	return p.Type(text, TypePause)
}

// Paste focuses the composer and inserts text at its end in one step.
func (p *Page) Paste(text string) error {
	if err := p.FocusComposer(); err != nil {
		return err
	}
	return p.Insert(text)
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
func (p *Page) ClickOn(selector string) error {
	var point *struct{ X, Y float64 }
	var err error
	// What is being laid out or covered for a moment becomes clickable.
	for range 50 {
		if point, err = browser.Eval[*struct{ X, Y float64 }](p.Page, `probe.point(`+quote(selector)+`)`); err != nil {
			return fmt.Errorf("click %s: %w", selector, err)
		}
		if point != nil {
			return p.Click(point.X, point.Y)
		}
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Errorf("click %s: no such element, or another one covers it", selector)
}
