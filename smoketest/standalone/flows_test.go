package standalone_test

import (
	"testing"

	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/flows"
	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/modelstub"
	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/standalone"
)

// The flows that every host passes, on the standalone host with the openai agent.
func TestFlows(t *testing.T) {
	for _, flow := range flows.All {
		t.Run(flow.Name, func(t *testing.T) {
			t.Parallel()
			model, err := modelstub.Start()
			must(t, err)
			t.Cleanup(func() { must(t, model.Close()) })
			d := &driver{Host: newHost(t), b: theBrowser(t), model: model}
			d.answer()
			must(t, d.Start(t.Context()))
			flow.Run(t, &flows.Home{Host: d, T: t, Ctx: t.Context(), Patience: standalone.Patience,
				Secret: gate.leaks.Secret, Opened: func(opened flows.Tab) { clean(t, opened.(*tab).Page) }})
		})
	}
}
