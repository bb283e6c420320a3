package browser

import (
	_ "embed"
	"errors"
	"fmt"
)

//go:embed aim.js
var aimScript string

// Point is a place in the viewport, in CSS pixels.
type Point struct{ X, Y float64 }

// ErrNoTarget means that there was nothing to aim at for five seconds.
var ErrNoTarget = errors.New("no such element, or another one covers it")

// Aim waits until the element that a JavaScript expression gives rests in view and
// is not covered, and tells its middle.
func (p *Page) Aim(expression string) (Point, error) { return p.aim(expression, false) }

func (p *Page) aim(expression string, guarded bool) (Point, error) {
	at, err := Eval[*Point](p, fmt.Sprintf(`(%s)(() => %s, %t)`, aimScript, expression, guarded))
	switch {
	case err != nil:
		return Point{}, fmt.Errorf("aim at %s: %w", expression, err)
	case at == nil:
		return Point{}, fmt.Errorf("aim at %s: %w", expression, ErrNoTarget)
	}
	return *at, nil
}

// ClickOn clicks the element that a JavaScript expression gives. When the page
// moves the element away from under the mouse, the click does nothing and is aimed anew.
func (p *Page) ClickOn(expression string) error {
	const aims = 5
	for range aims {
		at, err := p.aim(expression, true)
		if err != nil {
			return err
		}
		if err := p.Click(at.X, at.Y); err != nil {
			return err
		}
		// A page that the click left is another document: it was hit.
		hit, err := Eval[bool](p, `window.aimed ? window.aimed.hit() : true`)
		if err != nil || hit {
			return err
		}
	}
	return fmt.Errorf("click %s: it moved away %d times", expression, aims)
}
