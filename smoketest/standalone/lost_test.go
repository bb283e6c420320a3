package standalone_test

import (
	"slices"
	"testing"

	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/browser"
)

// Not a key stroke is lost while the host is away: not in the draft that was open,
// not in one that is begun meanwhile, and not when the tab is closed before the host
// is back (design.md, Reload).
func TestConnectionLost(t *testing.T) {
	host := startHost(t)
	page := open(t, host, browser.Look{})
	must(t, page.NewDraft())
	must(t, page.Write("Before"))
	must(t, page.AwaitSaved())
	must(t, host.Kill())
	must(t, page.Write(", during"))
	must(t, page.Await("that it is not saved", `document.querySelector('.save')?.dataset.state === 'not_saved' && document.querySelector('.note.warn')`))
	must(t, page.NewDraft())
	must(t, page.Write("Begun while the host was away"))
	must(t, host.Start(t.Context()))
	must(t, page.AwaitConnected())
	must(t, page.Write("!"))
	must(t, page.AwaitSaved())
	must(t, page.AwaitText("Begun while the host was away!"))
	must(t, page.ClickRow("Before, during"))
	must(t, page.AwaitText("Before, during"))
	must(t, page.AwaitSaved())

	must(t, host.Kill())
	must(t, page.Write(", and at the end"))
	must(t, page.Await("that it is not saved", `document.querySelector('.save')?.dataset.state === 'not_saved'`))
	must(t, page.Goto("about:blank"))
	must(t, host.Start(t.Context()))
	again, err := page.Tab(host)
	must(t, err)
	clean(t, again)
	must(t, again.AwaitRow("Before, during, and at the end"))
	must(t, again.ClickRow("Before, during, and at the end"))
	must(t, again.AwaitText("Before, during, and at the end"))
	must(t, again.AwaitSaved())
	var texts []string
	for _, text := range mustGet[map[string]string](t)(host.Texts(t.Context())) {
		texts = append(texts, text)
	}
	slices.Sort(texts)
	if want := []string{"Before, during, and at the end", "Begun while the host was away!"}; !slices.Equal(texts, want) {
		t.Errorf("on disk: %q, want %q", texts, want)
	}
}

// Nothing acts on a composition: no chord, no Enter, no save.
func TestComposition(t *testing.T) {
	host := startHost(t)
	page := open(t, host, browser.Look{Language: "zh-CN"})
	must(t, page.NewDraft())
	must(t, page.Write("a"))
	must(t, page.AwaitSaved())
	id := mustGet[string](t)(browser.Eval[string](page.Page, `location.hash`))
	must(t, page.Compose("zhong"))
	must(t, page.AwaitText("azhong"))
	// Keys of an input method carry its code 229.
	must(t, page.Press(browser.Key{Key: "Process", Code: "Enter", VirtualKey: 229, Ctrl: true}))
	must(t, page.Press(browser.Key{Key: "Process", Code: "KeyN", VirtualKey: 229, Alt: true, Shift: true}))
	var texts map[string]string
	must(t, host.Call(t.Context(), "POST", "/api/drafts/flush", struct{}{}, nil))
	texts = mustGet[map[string]string](t)(host.Texts(t.Context()))
	for _, text := range texts {
		if text != "a" {
			t.Errorf("on disk during the composition: %q", text)
		}
	}
	must(t, page.CommitComposition("中"))
	must(t, page.AwaitText("a中"))
	must(t, page.AwaitSaved())
	must(t, page.AwaitRow("a中"))
	if now := mustGet[string](t)(browser.Eval[string](page.Page, `location.hash`)); now != id || len(texts) != 1 {
		t.Errorf("the composition's keys did something: %s, was %s, %d drafts", now, id, len(texts))
	}
}

// An edit in one tab shows in the other; where both write, neither text is lost
// (invariant 6).
func TestTwoTabs(t *testing.T) {
	host := startHost(t)
	one := open(t, host, browser.Look{})
	must(t, one.NewDraft())
	must(t, one.Write("Shared"))
	must(t, one.AwaitSaved())
	// In a profile of its own: two people's windows have their own keyboards.
	two := open(t, host, browser.Look{})
	must(t, two.ClickRow("Shared"))
	must(t, two.AwaitText("Shared"))
	must(t, two.Press(toList))
	must(t, one.Write(" text"))
	must(t, two.AwaitText("Shared text"))
	must(t, two.AwaitSaved())

	must(t, two.Block("*://*:*/api/drafts/edit", "*://*:*/api/drafts/open-editor"))
	must(t, two.ClickOn(`document.querySelector('textarea.field')`))
	must(t, two.Write(" of two"))
	must(t, one.Write(" of one"))
	must(t, one.AwaitSaved())
	must(t, two.Await("word that it was changed elsewhere", `document.querySelector('.note')?.textContent.includes('changed elsewhere')`))
	must(t, two.Block())
	must(t, two.Await("the conflict copy's mark", `document.querySelector('.row-draft .icon-copies')`))
	must(t, one.ClickOn(`[...document.querySelectorAll('.note button')].at(-1)`))
	must(t, one.Await("the copy", `document.querySelector('dialog .copy')?.textContent === 'Shared text of two'`))
	must(t, one.ClickOn(`[...document.querySelectorAll('dialog .card button')][1]`))
	must(t, one.AwaitRow("Shared text of two"))
	must(t, one.AwaitRow("Shared text of one"))
}
