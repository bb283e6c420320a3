package standalone_test

import (
	"testing"

	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/browser"
)

// A real agent of the Agent Client Protocol, the SDK's example: its tool calls are
// shown, and what it asks is asked and answered in the page.
func TestAgentAsks(t *testing.T) {
	host := newHost(t)
	host.Agent = "acp:" + program(t, "github.com/coder/acp-go-sdk/example/agent")
	must(t, host.Start(t.Context()))
	page := open(t, host, browser.Look{})
	must(t, page.NewDraft())
	must(t, page.Write("Change the configuration"))
	must(t, page.AwaitSaved())
	must(t, page.Press(send))
	must(t, page.Await("the question", `document.querySelector('.item-permission.open .button')`))
	must(t, page.Await("a tool call", `document.querySelector('.item-tool')`))
	must(t, page.Await("the row's mark", `document.querySelector('.row-session .dot.waiting')`))
	must(t, page.ClickOn(`document.querySelector('.item-permission.open .button')`))
	must(t, page.Await("the answer, and the end of the turn", `document.querySelector('.item-permission:not(.open)') && !document.querySelector('.row-session .dot.busy, .row-session .dot.waiting') && !document.querySelector('.live:not([hidden])')`))
	must(t, page.Await("the keyboard somewhere", `document.activeElement !== document.body`))
}

// A plan is shown as the agent works it off, a turn is stopped by the button, and the
// death of the agent is told; the next prompt starts it again.
func TestAgentPlansStopsAndDies(t *testing.T) {
	host := newHost(t)
	host.Agent = "acp:" + program(t, "./smoketest/testdata/planner")
	must(t, host.Start(t.Context()))
	page := open(t, host, browser.Look{})
	must(t, page.NewDraft())
	must(t, page.Write("plan"))
	must(t, page.AwaitSaved())
	must(t, page.Press(send))
	must(t, page.Await("the plan as it is in the end, once", `document.querySelectorAll('.item-plan').length === 1
		&& [...document.querySelectorAll('.item-plan li')].map(one => one.dataset.status + ':' + one.textContent).join() === 'completed:Done: Look at it,in_progress:In progress: Mend it'
		&& document.querySelector('.item-plan .fold-state').textContent === '1/2'`))
	ask := func(text string) {
		t.Helper()
		must(t, page.Await("the end of the turn", `!document.querySelector('.row-session .dot.busy')`))
		must(t, page.ClickOn(`document.querySelector('.slot textarea')`))
		must(t, page.Write(text))
		must(t, page.Press(enter))
	}
	ask("wait")
	must(t, page.Await("the answer under way", `document.querySelector('.live')?.textContent.includes('waiting')`))
	must(t, page.ClickOn(`document.querySelector('.send[data-stop]')`))
	must(t, page.Await("that it was stopped", `document.querySelector('.item-end[data-outcome="cancelled"]')`))
	ask("die")
	must(t, page.Await("that it failed, with what it had said", `document.querySelector('.item-end[data-outcome="failed"]') && [...document.querySelectorAll('.item-assistant')].some(one => one.textContent.includes('half an answer'))`))
	ask("plan")
	must(t, page.Await("another plan", `document.querySelectorAll('.item-plan').length === 2`))
}
