package standalone_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/browser"
	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/modelstub"
	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/standalone"
)

// The whole story with each kind of agent: three drafts, switching, the host killed
// and started again, one draft sent and answered, and the next message (invariants 1,
// 2 and 5).
func TestStory(t *testing.T) {
	t.Run("echo", func(t *testing.T) { story(t, newHost(t), "Second task", false) })
	t.Run("openai", func(t *testing.T) {
		model, err := modelstub.Start()
		must(t, err)
		t.Cleanup(func() { must(t, model.Close()) })
		host := newHost(t)
		host.Agent, host.Flags = "openai", []string{"--base-url", model.URL(), "--model", "m"}
		story(t, host, "echo: Second task", false)
		if model.Seen("First task") != 0 || model.Seen("Second task") == 0 {
			t.Errorf("the model has seen %d and %d requests of an unsent and a sent draft", model.Seen("First task"), model.Seen("Second task"))
		}
	})
	t.Run("acp", func(t *testing.T) {
		host := newHost(t)
		host.Agent = "acp:" + program(t, "github.com/coder/acp-go-sdk/example/agent")
		story(t, host, "updated the configuration", true)
	})
}

// story tells it on a host that is not started. The answers hold answer; an agent
// that asks for a permission gets it.
func story(t *testing.T, host *standalone.Host, answer string, asks bool) {
	must(t, host.Start(t.Context()))
	page := open(t, host, browser.Look{})
	texts := []string{"First task\nwith a second line", "Second task", "第三个任务 🚀"}
	for _, text := range texts {
		must(t, page.NewDraft())
		must(t, page.Write(text))
	}
	must(t, page.AwaitSaved())
	must(t, page.AwaitRow("First task"))

	must(t, page.ClickRow("First task"))
	must(t, page.AwaitText(texts[0]))
	must(t, page.Write(", more"))
	must(t, page.ClickRow("Second task"))
	must(t, page.AwaitText(texts[1]))
	must(t, page.ClickRow("First task"))
	must(t, page.AwaitText(texts[0]+", more"))
	must(t, page.AwaitSaved())

	must(t, host.Kill())
	must(t, page.Await("the page says that the host is away", `document.querySelector('.note.warn')`))
	must(t, host.Start(t.Context()))
	must(t, page.AwaitConnected())
	must(t, page.Reload())
	must(t, page.AwaitConnected())
	must(t, page.AwaitText(texts[0]+", more"))
	rows := mustGet[[]string](t)(page.Rows())
	if want := []string{"第三个任务 🚀", "Second task", "First task"}; !slices.Equal(rows, want) {
		t.Fatalf("rows after the restart: %q, want %q", rows, want)
	}

	answered := func(turns int) {
		t.Helper()
		if asks {
			must(t, page.ClickOn(`document.querySelector('.item-permission.open .button')`))
		}
		must(t, page.Await("the answer, and the end of the turn", fmt.Sprintf(`[...document.querySelectorAll('.item-assistant:not(.live) .prose')].filter(one => one.textContent.includes(%q)).length === %d && !document.querySelector('.row-session .dot.busy, .row-session .dot.waiting')`, answer, turns)))
	}
	must(t, page.ClickRow("Second task"))
	must(t, page.AwaitText(texts[1]))
	must(t, page.Press(send))
	must(t, page.Await("the prompt in the transcript", `document.querySelector('.item-user')?.textContent.includes('Second task')`))
	answered(1)
	must(t, page.AwaitNoRow("Second task"))
	must(t, page.Await("the session in the list", `document.querySelector('.row-session[aria-selected="true"] .row-title')?.textContent === 'Second task'`))
	if asks { // its answer took the keyboard
		must(t, page.ClickOn(`document.querySelector('.slot textarea')`))
	}
	must(t, page.Await("the keyboard in the composer", `document.activeElement?.matches('.slot textarea')`))
	must(t, page.Write("Second task again"))
	must(t, page.Press(enter))
	must(t, page.AwaitText(""))
	answered(2)
	onDisk := mustGet[map[string]string](t)(host.Texts(t.Context()))
	if len(onDisk) != 2 {
		t.Fatalf("drafts on disk after the send: %d, want 2", len(onDisk))
	}
}

// Deleting and taking it back, moving and pinning, with keys and the mouse only; the
// keyboard never falls to the body.
func TestListByKeyboard(t *testing.T) {
	host := startHost(t)
	workspace := mustGet[string](t)(host.Workspace(t.Context()))
	for _, text := range []string{"C", "B", "A"} {
		mustGet[string](t)(host.Draft(t.Context(), workspace, text))
	}
	page := open(t, host, browser.Look{})
	must(t, page.ClickRow("B"))
	must(t, page.AwaitText("B"))
	must(t, page.Press(toList))
	focused := func(want string) {
		t.Helper()
		must(t, page.Await("the keyboard on "+want, `document.activeElement?.querySelector('.row-title')?.textContent === '`+want+`'`))
	}
	rows := func(want ...string) {
		t.Helper()
		must(t, page.Await("the rows", `JSON.stringify([...document.querySelectorAll('.row-draft .row-title')].map(one => one.textContent)) === '["`+join(want)+`"]'`))
	}
	focused("B")
	must(t, page.Press(alt(down)))
	rows("A", "C", "B")
	focused("B")
	must(t, page.Press(remove))
	rows("A", "C")
	focused("C")
	must(t, page.Press(undo))
	rows("A", "C", "B")
	focused("B")
	must(t, page.Press(browser.Key{Key: "F10", Code: "F10", VirtualKey: 121, Shift: true}))
	must(t, page.Await("the menu", `document.activeElement?.matches('[role="menuitem"]')`))
	must(t, page.Press(down))
	must(t, page.Press(enter))
	rows("B", "A", "C")
	focused("B")
	must(t, page.Press(browser.Key{Key: "F2", Code: "F2", VirtualKey: 113}))
	must(t, page.Await("the rename field", `document.activeElement?.matches('.row-rename')`))
	must(t, page.Write("Renamed"))
	must(t, page.Press(enter))
	rows("Renamed", "A", "C")
	focused("Renamed")
	must(t, page.Hover(100, 150)) // a mouse that comes brings what dragging needs
	must(t, page.Await("what dragging needs", `performance.getEntriesByType('resource').some(one => one.name.endsWith('/drag.js') && one.responseEnd > 0)`))
	must(t, page.DragRow("C", "A"))
	rows("Renamed", "C", "A")
	must(t, page.DragRow("A", "Renamed")) // pinned ones stay before the others
	rows("Renamed", "A", "C")
	must(t, page.ClickRow("C"))
	must(t, page.AwaitText("C"))
	must(t, page.ClickOn(`document.querySelector('.bar [aria-haspopup="menu"]')`))
	must(t, page.Await("the menu", `document.activeElement?.matches('[role="menuitem"]')`))
	must(t, page.ClickOn(`document.querySelector('.menu-item.danger')`))
	rows("Renamed", "A")
	must(t, page.Await("the keyboard somewhere", `document.activeElement && document.activeElement !== document.body`))
	if name := mustGet[string](t)(page.Focused()); name == "body" {
		t.Error("the keyboard fell to the body")
	}
}

func join(titles []string) string {
	joined := titles[0]
	for _, title := range titles[1:] {
		joined += `","` + title
	}
	return joined
}
