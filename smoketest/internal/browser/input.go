package browser

import (
	"context"
	"fmt"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// Click presses and releases the left button at a point of the viewport.
func (p *Page) Click(x, y float64) error {
	return p.call(func(ctx context.Context) error { return chromedp.Do(ctx, chromedp.MouseClickXY(x, y)) })
}

// Hover moves the mouse to a point of the viewport.
func (p *Page) Hover(x, y float64) error {
	return p.call(func(ctx context.Context) error {
		return chromedp.Do(ctx, chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x, y))
	})
}

// Type sends key events for each character to the focused element, with a pause
// between them. A line break is Shift+Enter, since Enter sends in a composer.
func (p *Page) Type(text string, pause time.Duration) error {
	for _, character := range text {
		var err error
		if character == '\n' {
			err = p.Press(Key{Key: "Enter", Code: "Enter", VirtualKey: 13, Text: "\r", Shift: true})
		} else {
			err = p.call(func(ctx context.Context) error { return chromedp.Do(ctx, chromedp.KeyEvent(string(character))) })
		}
		if err != nil {
			return fmt.Errorf("type: %w", err)
		}
		time.Sleep(pause)
	}
	return nil
}

// Compose shows text in the focused element as what an input method is about to
// write; CommitComposition writes it.
func (p *Page) Compose(text string) error {
	return p.call(func(ctx context.Context) error {
		_, err := chromedp.Call(ctx, input.ImeSetComposition, input.ImeSetCompositionParams{
			Text: text, SelectionStart: int64(len(text)), SelectionEnd: int64(len(text))})
		return err
	})
}

// CommitComposition ends the composition with text.
func (p *Page) CommitComposition(text string) error {
	return p.call(func(ctx context.Context) error {
		_, err := chromedp.Call(ctx, input.InsertText, input.InsertTextParams{Text: text})
		return err
	})
}

// Key is a key press.
type Key struct {
	Key, Code  string
	VirtualKey int64
	// Text is what the key types, "" for none.
	Text  string
	Shift bool
	Ctrl  bool
	Alt   bool
	// Command is an editing command that the browser runs with the key, such as "selectAll".
	Command string
}

// Press sends a key down and a key up.
func (p *Page) Press(key Key) error {
	down := input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Key: key.Key, Code: key.Code,
		WindowsVirtualKeyCode: key.VirtualKey, NativeVirtualKeyCode: key.VirtualKey, Text: key.Text}
	if key.Text == "" {
		down.Type = input.DispatchKeyEventTypeRawKeyDown
	}
	if key.Command != "" {
		down.Commands = []string{key.Command}
	}
	if key.Shift {
		down.Modifiers |= 8
	}
	if key.Ctrl {
		down.Modifiers |= 2
	}
	if key.Alt {
		down.Modifiers |= 1
	}
	up := input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyUp, Key: key.Key, Code: key.Code,
		WindowsVirtualKeyCode: key.VirtualKey, Modifiers: down.Modifiers}
	return p.call(func(ctx context.Context) error {
		if _, err := chromedp.Call(ctx, input.DispatchKeyEvent, down); err != nil {
			return fmt.Errorf("press %s: %w", key.Key, err)
		}
		_, err := chromedp.Call(ctx, input.DispatchKeyEvent, up)
		return err
	})
}

// Drag presses the left button at one point, moves in steps to another, and lets go.
func (p *Page) Drag(fromX, fromY, toX, toY float64) error {
	const steps = 8
	mouse := func(kind input.DispatchMouseEventType, x, y float64, buttons int64) error {
		return p.call(func(ctx context.Context) error {
			_, err := chromedp.Call(ctx, input.DispatchMouseEvent, input.DispatchMouseEventParams{
				Type: kind, X: x, Y: y, Button: input.MouseButtonLeft, Buttons: buttons, ClickCount: 1})
			return err
		})
	}
	if err := mouse(input.DispatchMouseEventTypeMousePressed, fromX, fromY, 1); err != nil {
		return fmt.Errorf("drag: %w", err)
	}
	for i := 1; i <= steps; i++ {
		at := float64(i) / steps
		if err := mouse(input.DispatchMouseEventTypeMouseMoved, fromX+(toX-fromX)*at, fromY+(toY-fromY)*at, 1); err != nil {
			return fmt.Errorf("drag: %w", err)
		}
	}
	if err := mouse(input.DispatchMouseEventTypeMouseReleased, toX, toY, 0); err != nil {
		return fmt.Errorf("drag: %w", err)
	}
	return nil
}
