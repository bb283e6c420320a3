package standalone_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/browser"
	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/standalone"
)

// measured is what the page of one home took, in milliseconds.
type measured struct {
	Paint  []float64
	Switch []float64
	Key    []float64
	// Stalled is Key while no save comes to its end: the plugin is stopped.
	Stalled []float64
}

// firstPaint is when the list was on screen: the frame after its first draft row.
const firstPaint = `
window.__painted = new Promise(done => {
	new MutationObserver((_, observer) => {
		if (!document.querySelector('.row-draft')) return
		observer.disconnect()
		requestAnimationFrame(() => setTimeout(() => done(performance.now())))
	}).observe(document, { childList: true, subtree: true })
})`

// rowSwitch clicks another draft and waits for the frame that shows its text.
const rowSwitch = `new Promise(done => {
	const row = [...document.querySelectorAll('.row-draft')].find(one => one.getAttribute('aria-selected') === 'false' && one.querySelector('.row-title').textContent.startsWith('Task'))
	const want = row.querySelector('.row-title').textContent
	const begun = performance.now()
	row.click()
	const look = () => document.querySelector('textarea.field')?.value.startsWith(want) ? setTimeout(() => done(performance.now() - begun)) : requestAnimationFrame(look)
	requestAnimationFrame(look)
})`

// keyToPaint writes a letter and waits for the frame that has it.
const keyToPaint = `new Promise(done => {
	const field = document.querySelector('textarea.field')
	field.focus()
	const begun = performance.now()
	document.execCommand('insertText', false, 'x')
	requestAnimationFrame(() => setTimeout(() => done(performance.now() - begun)))
})`

// What is in the page does not grow with the home: with 1,000 drafts and 1,000 sessions
// it holds as many rows and hardly more nodes than with 50 of each. The times are
// BenchmarkPage's.
func TestLargeHome(t *testing.T) {
	small, large := populated(t, 1, 50), populated(t, 20, 50)
	var nodes []float64
	for _, host := range []*standalone.Host{small, large} {
		page := open(t, host, browser.Look{})
		must(t, page.Await("a row", `document.querySelector('.row-draft')`))
		must(t, page.ClickRow("Task 49 of 0"))
		must(t, page.AwaitSaved())
		nodes = append(nodes, mustGet[float64](t)(browser.Eval[float64](page.Page, `document.querySelectorAll('*').length`)))
		rows := mustGet[float64](t)(browser.Eval[float64](page.Page, `document.querySelectorAll('.row').length`))
		if rows > 60 {
			t.Errorf("%.0f rows are in the page", rows)
		}
		must(t, page.Press(toList))
		must(t, page.Press(browser.Key{Key: "End", Code: "End", VirtualKey: 35}))
		must(t, page.Await("the keyboard on the last row", `document.activeElement?.matches('.row-more') && document.activeElement.getBoundingClientRect().bottom <= innerHeight`))
	}
	if nodes[1] > 1.1*nodes[0] {
		t.Errorf("%.0f nodes with 1,000 drafts, %.0f with 50", nodes[1], nodes[0])
	}
}

// The page with 1,000 drafts and 1,000 sessions against the same page with 10 of each,
// in turns: ratios of the medians, and beside each what the noise alone makes (aa: 10
// against 10 of another home). The bar is 1.3. Of a key while saves are stalled, the
// ratio to a key while they go on tells that no key waits for a save.
func BenchmarkPage(b *testing.B) {
	small, large, again := populated(b, 1, 10), populated(b, 20, 50), populated(b, 1, 10)
	figures := map[*standalone.Host]*measured{small: {}, large: {}, again: {}}
	for b.Loop() {
		for _, host := range []*standalone.Host{small, large, again} {
			measure(b, host, figures[host])
		}
	}
	for _, one := range []struct {
		name string
		of   func(*measured) []float64
	}{
		{"paint", func(m *measured) []float64 { return m.Paint }},
		{"switch", func(m *measured) []float64 { return m.Switch }},
		{"key", func(m *measured) []float64 { return m.Key }},
		{"stalled", func(m *measured) []float64 { return m.Stalled }},
	} {
		with10, with1000 := median(one.of(figures[small])), median(one.of(figures[large]))
		b.ReportMetric(with1000, one.name+"-ms")
		b.ReportMetric(with1000/with10, one.name+"-ratio")
		b.ReportMetric(median(one.of(figures[again]))/with10, one.name+"-aa")
	}
	b.ReportMetric(median(figures[large].Stalled)/median(figures[large].Key), "stalled-to-key")
}

func median(of []float64) float64 {
	slices.Sort(of)
	return of[len(of)/2]
}

func measure(t testing.TB, host *standalone.Host, into *measured) {
	t.Helper()
	tab, err := theBrowser(t).NewPage(browser.Look{})
	must(t, err)
	defer tab.Close()
	must(t, tab.AddScript(firstPaint))
	link, err := host.Link(t.Context())
	must(t, err)
	must(t, tab.Goto(link))
	mustGet[float64](t)(browser.Eval[float64](tab, `window.__painted`))
	must(t, tab.Reload()) // the files are there, as they are for a person
	into.Paint = append(into.Paint, mustGet[float64](t)(browser.Eval[float64](tab, `window.__painted`)))
	for i := range 4 {
		took := mustGet[float64](t)(browser.Eval[float64](tab, rowSwitch))
		if i > 0 {
			into.Switch = append(into.Switch, took)
		}
	}
	for range 3 {
		into.Key = append(into.Key, mustGet[float64](t)(browser.Eval[float64](tab, keyToPaint)))
	}
	pids := host.PluginPids()
	if len(pids) != 1 {
		t.Fatalf("plugin processes %v", pids)
	}
	must(t, syscall.Kill(pids[0], syscall.SIGSTOP))
	defer func() { must(t, syscall.Kill(pids[0], syscall.SIGCONT)) }()
	for range 3 {
		into.Stalled = append(into.Stalled, mustGet[float64](t)(browser.Eval[float64](tab, keyToPaint)))
	}
}

// populated runs a host with so many workspaces, each with so many drafts and
// sessions.
func populated(t testing.TB, workspaces, each int) *standalone.Host {
	t.Helper()
	binary, err := built()
	must(t, err)
	dir := t.TempDir()
	host, err := standalone.New(binary, dir)
	must(t, err)
	for w := range workspaces {
		must(t, os.MkdirAll(filepath.Join(dir, fmt.Sprintf("project-%02d", w)), 0o755))
	}
	must(t, host.Start(t.Context()))
	t.Cleanup(func() {
		if err := host.Stop(); err != nil {
			t.Error(err)
		}
	})
	var made []string
	for w := range workspaces {
		var workspace struct{ ID string }
		must(t, host.Call(t.Context(), http.MethodPost, "/api/workspaces", map[string]string{"path": filepath.Join(dir, fmt.Sprintf("project-%02d", w))}, &workspace))
		made = append(made, workspace.ID)
	}
	// Many at once, so that they share the disk's time.
	var group errgroup.Group
	group.SetLimit(32)
	for w, workspace := range made {
		for i := range each {
			group.Go(func() error {
				if _, err := host.Draft(t.Context(), workspace, fmt.Sprintf("Task %d of %d\n\nsome more words", i, w)); err != nil {
					return err
				}
				session := map[string]string{"workspaceId": workspace, "title": fmt.Sprintf("Session %d of %d", i, w)}
				return host.Call(t.Context(), http.MethodPost, "/api/sessions", session, nil)
			})
		}
	}
	must(t, group.Wait())
	return host
}
