package standalone_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/browser"
	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/standalone"
)

// maxWeight bounds what the page fetches of itself, uncompressed, in bytes.
const maxWeight = 150_000

// findings asks axe-core for serious and critical findings in what is on screen.
const findings = `axe.run(document, {resultTypes: ['violations']}).then(found => found.violations
	.filter(one => one.impact === 'serious' || one.impact === 'critical')
	.map(one => one.id + ': ' + one.nodes.slice(0, 3).map(node => node.html.slice(0, 200) + ' ' + (node.any[0]?.message ?? '')).join(' | ')))`

func checkAccess(t *testing.T, page *standalone.Page, what string) {
	t.Helper()
	found, err := browser.Eval[[]string](page.Page, findings)
	must(t, err)
	if len(found) > 0 {
		t.Errorf("%s:\n%s", what, strings.Join(found, "\n"))
	}
}

// Nothing that axe-core finds is serious, in every state of the page, light and dark,
// wide and narrow; and the page is light in the other sense as well.
func TestAccess(t *testing.T) {
	axe, err := os.ReadFile(filepath.Join(gate.source, pageSource, "node_modules", "axe-core", "axe.min.js"))
	must(t, err)
	host := startHost(t)
	workspace := mustGet[string](t)(host.Workspace(t.Context()))
	for _, text := range []string{"Another", "A task\n\nwith lines"} {
		mustGet[string](t)(host.Draft(t.Context(), workspace, text))
	}
	for _, look := range []struct {
		name string
		browser.Look
	}{
		{"light", browser.Look{}},
		{"dark, narrow, Chinese", browser.Look{Dark: true, Language: "zh-CN", Width: 400, Height: 800}},
	} {
		page := open(t, host, look.Look)
		narrow := look.Width != 0
		check := func(what string) { t.Helper(); checkAccess(t, page, look.name+", "+what) }
		drawer := func() {
			t.Helper()
			if narrow {
				must(t, page.ClickOn(`document.querySelector('.drawer-button')`))
				must(t, page.Await("the drawer", `document.getElementById('app').dataset.drawer !== undefined && document.querySelector('.sidebar').getBoundingClientRect().left === 0`))
			}
		}
		mustGet[bool](t)(browser.Eval[bool](page.Page, string(axe)+";true"))
		must(t, page.Await("the welcome", `document.querySelector('.welcome')`))
		check("the welcome")
		drawer()
		check("the list")
		must(t, page.ClickRow("A task"))
		must(t, page.AwaitText("A task\n\nwith lines"))
		must(t, page.AwaitSaved())
		check("a draft")
		must(t, page.ClickOn(`document.querySelector('.bar [aria-haspopup="menu"]')`))
		must(t, page.Await("the menu", `document.activeElement?.matches('[role="menuitem"]')`))
		check("a menu")
		must(t, page.Press(browser.Key{Key: "Escape", Code: "Escape", VirtualKey: 27}))
		must(t, page.Await("the keyboard back at the menu's button", `document.activeElement?.matches('.bar [aria-haspopup="menu"]')`))
		if !narrow {
			bytes := mustGet[float64](t)(browser.Eval[float64](page.Page, `[...performance.getEntriesByType('resource'), ...performance.getEntriesByType('navigation')]
				.filter(one => !one.name.includes('/api/')).reduce((sum, one) => sum + one.decodedBodySize, 0)`))
			t.Logf("the page's weight: %.0f bytes", bytes)
			if bytes > maxWeight {
				t.Errorf("the page weighs %.0f bytes, more than %d", bytes, maxWeight)
			}
		}
		drawer()
		must(t, page.ClickOn(`document.querySelector('.sidebar-end .icon-trash').closest('button')`))
		must(t, page.Await("the trash", `document.querySelector('dialog .nothing, dialog .lines')`))
		check("a dialog")
		must(t, page.Press(browser.Key{Key: "Escape", Code: "Escape", VirtualKey: 27}))
		must(t, page.Await("no dialog, and the keyboard somewhere", `!document.querySelector('dialog') && document.activeElement !== document.body`))
	}
	page := open(t, host, browser.Look{Dark: true})
	mustGet[bool](t)(browser.Eval[bool](page.Page, string(axe)+";true"))
	must(t, page.ClickRow("Another"))
	must(t, page.AwaitText("Another"))
	must(t, page.AwaitSaved())
	must(t, page.Press(send))
	must(t, page.Await("the answer", `document.querySelector('.item-assistant:not(.live) .prose')`))
	checkAccess(t, page, "dark, a session")
	must(t, page.Press(toList))
	must(t, page.Press(browser.Key{Key: "End", Code: "End", VirtualKey: 35}))
	must(t, page.Press(remove))
	must(t, page.Await("the offer to undo", `document.querySelector('.toast button')`))
	checkAccess(t, page, "dark, a toast")
}
