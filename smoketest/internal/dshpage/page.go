// Package dshpage knows the page of the harness, as pinned, and what our bundle
// puts into it. Our elements are found by data attributes (data-draft-id,
// data-save-state, data-drafts-notice, data-drafts-new); the stock page's by
// roles and labels, since its class names are hashed. Reading is exact: the
// composer's text comes from the page's own mirror of its input state, which
// keeps line ends that a textarea's value would normalise.
package dshpage

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"time"

	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/browser"
)

// probe runs in every document before the page's own code; see probe.js.
//
//go:embed probe.js
var probe string

// Page is a tab that shows the harness.
type Page struct {
	*browser.Page
	url string
}

// Open opens the harness at url in a new profile and waits until it can be used.
func Open(b *browser.Browser, look browser.Look, url string) (*Page, error) {
	opened, err := b.NewPage(look)
	if err != nil {
		return nil, err
	}
	return load(opened, url)
}

// OpenTab opens the harness in another tab of p's profile.
func (p *Page) OpenTab() (*Page, error) {
	opened, err := p.NewTab()
	if err != nil {
		return nil, err
	}
	return load(opened, p.url)
}

func load(opened *browser.Page, url string) (*Page, error) {
	p := &Page{Page: opened, url: url}
	if err := p.AddScript(probe); err != nil {
		opened.Close()
		return nil, err
	}
	if err := p.Goto(url); err != nil {
		opened.Close()
		return nil, err
	}
	return p, p.awaitReady()
}

// Watch looks at a page that somebody else opened and that may still be loading.
func Watch(opened *browser.Page) (*Page, error) {
	p := &Page{Page: opened}
	deadline := time.Now().Add(readyTimeout)
	for {
		// Until the document is the harness', what runs in it is lost with it.
		err := p.Do(`window.probe ?? (() => { ` + probe + ` })()`)
		if err == nil {
			err = p.awaitReady()
		}
		if err == nil || time.Now().After(deadline) {
			return p, err
		}
	}
}

// ReloadPage reloads and waits until the page can be used.
func (p *Page) ReloadPage() error {
	if err := p.Reload(); err != nil {
		return err
	}
	return p.awaitReady()
}

// readyTimeout bounds how long the page may take to show its composer.
const readyTimeout = 30 * time.Second

func (p *Page) awaitReady() error {
	return p.await("the page shows its composer", `probe.ready()`, readyTimeout)
}

// await waits in the page until expression is true.
func (p *Page) await(what, expression string, limit time.Duration) error {
	return p.until(what, `() => `+expression, limit)
}

// awaitSteady waits until expression has been true for a while without a break.
func (p *Page) awaitSteady(what, expression string, while, limit time.Duration) error {
	return p.until(what, fmt.Sprintf(`probe.steadily(() => %s, %d)`, expression, while.Milliseconds()), limit)
}

func (p *Page) until(what, check string, limit time.Duration) error {
	script := fmt.Sprintf(`probe.until(%s, %d)`, check, limit.Milliseconds())
	reached, err := browser.EvalFor[bool](p.Page, script, limit+10*time.Second)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if !reached {
		return fmt.Errorf("after %v not true that %s", limit, what)
	}
	return nil
}

// quote is text as a JavaScript literal.
func quote(text string) string {
	encoded, err := json.Marshal(text)
	if err != nil {
		panic(err) // a string always encodes
	}
	return string(encoded)
}
