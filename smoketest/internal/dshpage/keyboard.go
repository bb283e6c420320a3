package dshpage

import (
	"fmt"

	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/browser"
)

// Keys of the rows and their menus.
var (
	KeyEnter  = browser.Key{Key: "Enter", Code: "Enter", VirtualKey: 13, Text: "\r"}
	KeyTab    = browser.Key{Key: "Tab", Code: "Tab", VirtualKey: 9}
	KeyEscape = browser.Key{Key: "Escape", Code: "Escape", VirtualKey: 27}
	KeyUp     = browser.Key{Key: "ArrowUp", Code: "ArrowUp", VirtualKey: 38}
	KeyDown   = browser.Key{Key: "ArrowDown", Code: "ArrowDown", VirtualKey: 40}
	KeyDelete = browser.Key{Key: "Delete", Code: "Delete", VirtualKey: 46}
	KeyF2     = browser.Key{Key: "F2", Code: "F2", VirtualKey: 113}
	// KeyNewDraft is the chord for a new draft that a synthetic key press can be.
	KeyNewDraft = browser.Key{Key: "N", Code: "KeyN", VirtualKey: 78, Shift: true, Ctrl: true}
	// KeyUndo is Ctrl+Z, with what the browser itself does with it.
	KeyUndo = browser.Key{Key: "z", Code: "KeyZ", VirtualKey: 90, Ctrl: true, Command: "undo"}
)

// Keys presses keys one after the other, wherever the focus is.
func (p *Page) Keys(keys ...browser.Key) error {
	for _, key := range keys {
		if err := p.Press(key); err != nil {
			return err
		}
	}
	return nil
}

// FocusRow gives the keyboard focus to a draft's row.
func (p *Page) FocusRow(draftID string) error { return p.Do(`probe.focusRow(` + quote(draftID) + `)`) }

// Focus is where the keyboard focus is: a draft's id for its row or menu, "new" for
// the button of a new draft, "composer", "body" for nowhere, else a tag.
func (p *Page) Focus() (string, error) { return browser.Eval[string](p.Page, `probe.focus()`) }

// FocusLabel is what a screen reader calls the element that has the focus.
func (p *Page) FocusLabel() (string, error) {
	return browser.Eval[string](p.Page, `document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent ?? ''`)
}

// MenuAction moves to an entry of the open menu with the arrow keys and takes it.
func (p *Page) MenuAction(action string) error {
	const entries = 12
	for range entries {
		at, err := browser.Eval[string](p.Page, `document.activeElement?.dataset?.draftsAction ?? ''`)
		if err != nil {
			return err
		}
		if at == action {
			return p.Press(KeyEnter)
		}
		if err := p.Press(KeyDown); err != nil {
			return err
		}
	}
	return fmt.Errorf("the menu has no entry %s to be reached by keys", action)
}
