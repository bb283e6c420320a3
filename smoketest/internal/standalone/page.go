package standalone

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/browser"
)

// Patience bounds every wait for the page.
const Patience = 30 * time.Second

// Page is a tab of the page. It knows the page by its roles, labels and the marks
// that its stylesheet goes by.
type Page struct {
	*browser.Page
}

// watch collects what a test asks for later: violations of the content security
// policy, and the kinds of all notices that were shown.
const watch = `
window.__notices = [];
new MutationObserver(() => {
  for (const { dataset: { kind } } of document.querySelectorAll('.note, .toast'))
    if (kind && !__notices.includes(kind)) __notices.push(kind);
}).observe(document, { subtree: true, childList: true });
window.__violations = [];
addEventListener('securitypolicyviolation', e => __violations.push(e.violatedDirective + ' ' + e.blockedURI));`

// Open lets a new profile in by a one-time link.
func Open(ctx context.Context, b *browser.Browser, host *Host, look browser.Look) (*Page, error) {
	tab, err := b.NewPage(look)
	if err != nil {
		return nil, err
	}
	p := &Page{tab}
	link, err := host.Link(ctx)
	if err == nil {
		err = errors.Join(p.AddScript(watch), p.Goto(link), p.AwaitConnected())
	}
	if err != nil {
		tab.Close()
		return nil, fmt.Errorf("open the page: %w", err)
	}
	return p, nil
}

// Watch looks at a page that somebody else opened and that may still be loading.
func Watch(opened *browser.Page) (*Page, error) {
	p := &Page{opened}
	if err := p.AwaitConnected(); err != nil {
		return nil, err
	}
	return p, p.Do(`(() => {` + watch + `})()`)
}

// Tab opens the page in another tab of the same profile.
func (p *Page) Tab(host *Host) (*Page, error) {
	tab, err := p.NewTab()
	if err != nil {
		return nil, err
	}
	other := &Page{tab}
	return other, errors.Join(other.AddScript(watch), other.Goto(host.URL()), other.AwaitConnected())
}

// Await waits until a JavaScript expression is true.
func (p *Page) Await(what, expression string) error {
	return p.AwaitFor(what, expression, Patience)
}

// AwaitFor is [Page.Await] with a limit of its own.
func (p *Page) AwaitFor(what, expression string, limit time.Duration) error {
	deadline := time.Now().Add(limit)
	for {
		ok, err := browser.Eval[bool](p.Page, "Boolean("+expression+")")
		if err == nil && ok {
			return nil
		}
		if time.Now().After(deadline) {
			text, textErr := browser.Eval[string](p.Page, "document.body.innerText.slice(0, 2000)")
			return errors.Join(fmt.Errorf("not in time: %s", what), err, textErr, fmt.Errorf("the page shows:\n%s", text))
		}
		time.Sleep(15 * time.Millisecond)
	}
}

// AwaitConnected waits until the page has the host's state.
func (p *Page) AwaitConnected() error {
	return p.Await("the page is connected", `document.getElementById('app')?.dataset.connection === 'ok'`)
}

// AwaitText waits until the text field on screen holds text.
func (p *Page) AwaitText(text string) error {
	return p.Await("the field holds "+Quote(text), `document.querySelector('textarea.field')?.value === `+Quote(text))
}

// AwaitSaved waits until the draft on screen says that it is saved.
func (p *Page) AwaitSaved() error {
	return p.Await("the draft is saved", `document.querySelector('.save')?.dataset.state === 'saved' && document.querySelector('textarea.field').value !== undefined`)
}

// AwaitRow waits until the list has a draft of that title.
func (p *Page) AwaitRow(title string) error {
	return p.Await("a row "+Quote(title), rowExpression(title)+" !== undefined")
}

// AwaitNoRow waits until the list has no draft of that title.
func (p *Page) AwaitNoRow(title string) error {
	return p.Await("no row "+Quote(title), rowExpression(title)+" === undefined")
}

// Rows are the titles of the drafts that the list shows, from top to bottom.
func (p *Page) Rows() ([]string, error) {
	return browser.Eval[[]string](p.Page, `[...document.querySelectorAll('.row-draft')].map(row => row.querySelector('.row-title').textContent)`)
}

func rowExpression(title string) string {
	return `[...document.querySelectorAll('.row-draft')].find(row => row.querySelector('.row-title')?.textContent === ` + Quote(title) + `)`
}

// ClickRow clicks a draft in the list.
func (p *Page) ClickRow(title string) error {
	if err := p.AwaitRow(title); err != nil {
		return err
	}
	return p.ClickOn(rowExpression(title) + `?.querySelector('.row-title')`)
}

// DragRow puts a draft where another one is, a little beyond its middle.
func (p *Page) DragRow(title, to string) error {
	from, err := p.Aim(rowExpression(title))
	if err != nil {
		return err
	}
	onto, err := p.Aim(rowExpression(to))
	if err != nil {
		return err
	}
	beyond := 4.0
	if onto.Y < from.Y {
		beyond = -beyond
	}
	return p.Drag(from.X, from.Y, onto.X, onto.Y+beyond)
}

// NewDraft presses Alt+Shift+N and waits until the empty field has the keyboard.
func (p *Page) NewDraft() error {
	if err := p.Press(browser.Key{Key: "N", Code: "KeyN", VirtualKey: 'N', Alt: true, Shift: true}); err != nil {
		return err
	}
	return p.Await("a new empty draft with the keyboard", `document.activeElement?.matches('textarea.field') && document.activeElement.value === '' && location.hash.startsWith('#/draft/')`)
}

// Write types into the element that has the keyboard; a line break is Enter.
func (p *Page) Write(text string) error {
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			if err := p.Press(browser.Key{Key: "Enter", Code: "Enter", VirtualKey: 13, Text: "\r"}); err != nil {
				return err
			}
		}
		if err := p.Type(line, 0); err != nil {
			return err
		}
	}
	return nil
}

// Focused describes the element that has the keyboard: its label or its row's title.
func (p *Page) Focused() (string, error) {
	return browser.Eval[string](p.Page, `(one => one === document.body ? 'body' : one.querySelector?.('.row-title')?.textContent ?? one.getAttribute('aria-label') ?? one.textContent)(document.activeElement ?? document.body)`)
}

// Violations are the content security policy's complaints so far.
func (p *Page) Violations() ([]string, error) {
	return browser.Eval[[]string](p.Page, `window.__violations`)
}

// Quote is text as a JavaScript literal.
func Quote(text string) string {
	raw, _ := json.Marshal(text) // a string can always be encoded
	return string(raw)
}
