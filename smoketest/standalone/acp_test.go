package standalone_test

import (
	"testing"

	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/browser"
)

// A real agent of the Agent Client Protocol, the SDK's example: its tool calls are
// shown, and what it asks is asked and answered in the page.
func TestAgentAsks(t *testing.T) {
	host := newHost(t)
	host.Agent = "acp:" + exampleAgent(t)
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
