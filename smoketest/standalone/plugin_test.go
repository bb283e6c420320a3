package standalone_test

import (
	"testing"

	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/browser"
)

// The plugin is killed while somebody writes: writing goes on, and all of it is saved
// by the next one, in one draft and without a copy.
func TestPluginKilled(t *testing.T) {
	host := startHost(t)
	page := open(t, host, browser.Look{})
	must(t, page.NewDraft())
	must(t, page.Write("one"))
	must(t, page.AwaitSaved())
	must(t, page.Write(" two"))
	must(t, host.KillPlugin())
	must(t, page.Write(" three"))
	must(t, page.Await("the row of the whole text", `document.querySelector('.row-draft .row-title')?.textContent === 'one two three'`))
	must(t, page.AwaitSaved())
	must(t, page.AwaitText("one two three"))
	texts := mustGet[map[string]string](t)(host.Texts(t.Context()))
	if len(texts) != 1 {
		t.Errorf("%d drafts on disk, want 1", len(texts))
	}
	copies := mustGet[bool](t)(browser.Eval[bool](page.Page, `document.querySelector('.row-draft .icon-copies') !== null`))
	if copies {
		t.Error("the draft has a conflict copy")
	}
}

// Language and appearance change under the hand of whoever writes: text, caret and
// keyboard stay.
func TestLanguageAndAppearance(t *testing.T) {
	host := startHost(t)
	page := open(t, host, browser.Look{})
	must(t, page.NewDraft())
	must(t, page.Write("text"))
	must(t, page.AwaitSaved())
	must(t, page.ClickOn(`document.getElementById('language')`))
	must(t, page.Await("Chinese", `document.documentElement.lang === 'zh-CN' && document.querySelector('.send').textContent === '发送' && document.querySelector('textarea.field').getAttribute('aria-label') === '草稿内容'`))
	must(t, page.Await("the keyboard where it was", `document.activeElement?.id === 'language'`))
	must(t, page.AwaitText("text"))
	must(t, page.ClickOn(`document.querySelector('.sidebar-end .icon-theme').closest('button')`))
	must(t, page.ClickOn(`document.querySelector('.sidebar-end .icon-theme').closest('button')`))
	must(t, page.Await("dark", `document.documentElement.dataset.theme === 'dark' && getComputedStyle(document.body).colorScheme === 'dark'`))
	must(t, page.ClickOn(`document.querySelector('textarea.field')`))
	must(t, page.Write(" goes on"))
	must(t, page.AwaitSaved())
	must(t, page.Reload())
	must(t, page.AwaitConnected())
	must(t, page.AwaitText("text goes on"))
	must(t, page.Await("Chinese and dark still", `document.documentElement.lang === 'zh-CN' && document.documentElement.dataset.theme === 'dark'`))
}
