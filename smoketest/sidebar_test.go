package smoketest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/browser"
	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/dshpage"
)

// The rows stand inside their workspace's group, before its ordinary sessions,
// with the first line as the title; the drafts' own blank sessions are not
// listed a second time. In the page's flat view, which has no groups, they stand
// in a section of their own.
func TestRowsStandInTheirGroup(t *testing.T) {
	h := startHome(t)
	p := h.open()
	p.Writes("an ordinary session")
	h.Must(p.Enter())
	h.AwaitSent("an ordinary session")
	first := p.NewDraftWith("first line\nsecond line")
	second := p.NewDraftWith("another")
	h.Eventually("the group holds the drafts, then the one ordinary session", func() error {
		kinds, err := p.GroupOrder("work")
		if err != nil {
			return err
		}
		if !slices.Equal(kinds, []string{"draft", "draft", "session"}) {
			return fmt.Errorf("it holds %q", kinds)
		}
		return nil
	})
	rows, err := p.Rows()
	h.Must(err)
	if !slices.ContainsFunc(rows, func(row dshpage.Row) bool { return row.ID == first.ID && row.Title == "first line" }) {
		t.Errorf("rows %+v", rows)
	}
	if !slices.ContainsFunc(rows, func(row dshpage.Row) bool { return row.ID == second.ID && row.Selected }) {
		t.Errorf("the open draft's row is not marked: %+v", rows)
	}

	h.Must(p.ShowFlat())
	p.Reloads()
	p.Sees("Drafts")
	p.Shows(first.ID, "first line\nsecond line")
	p.Shows(second.ID, "another")
}

// Chinese where the page is Chinese.
func TestChinesePage(t *testing.T) {
	h := startHome(t)
	p := h.opened(dshpage.Open(gate.browser, browser.Look{Language: "zh-CN", Dark: true}, h.URL()))
	p.Sees("新建草稿")
	draft := p.NewDraft()
	p.Sees("空草稿")
	p.Writes("写测试")
	p.Saved(draft.ID)
	p.Sees("已保存")
	if errors := p.Errors(); len(errors) > 0 {
		t.Errorf("the page threw %q", errors)
	}
}

// The last click wins: who opens a draft and goes on to an ordinary session at
// once stays there, though the draft's answer comes later.
func TestLastClickWins(t *testing.T) {
	h := startHome(t)
	p := h.open()
	p.Writes("an ordinary session")
	h.Must(p.Enter())
	ordinary := h.AwaitSent("an ordinary session")
	h.Must(h.API.RenameSession(h.Ctx, ordinary, "ordinary"))
	draft := p.NewDraftWith("a draft")
	h.Must(p.PressNewSession())
	p.onBlankSession()
	for range 5 {
		h.Must(p.OpenRowThenStockRow(draft.ID, "ordinary"))
		h.Must(p.AwaitStaying(ordinary, patience))
	}
	p.Shows(draft.ID, "a draft")
}
