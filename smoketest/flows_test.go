package smoketest

import (
	"testing"

	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/flows"
)

// The flows that every host passes, on the real harness.
func TestFlows(t *testing.T) {
	for _, flow := range flows.All {
		t.Run(flow.Name, func(t *testing.T) { flow.Run(t, startHome(t).flowHome) })
	}
}
