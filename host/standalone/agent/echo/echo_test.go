package echo

import (
	"context"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/agent"
	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/agent/agenttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSaysWhatItIs(t *testing.T) {
	e := &Echo{every: time.Microsecond}
	pieces := 0
	out := &agenttest.Output{Said: func(string) { pieces++ }}
	stop, err := e.Run(context.Background(), agent.Turn{Prompt: "one\ntwo"}, out)
	if text, _ := out.Texts(); err != nil || stop != agent.Completed || !strings.HasPrefix(text, "This is the offline echo agent; no model was asked.") || !strings.HasSuffix(text, "> one\n> two") || pieces < 2 {
		t.Errorf("%s, %v, %q in %d pieces", stop, err, text, pieces)
	}
	if d := e.Describe(); !strings.Contains(d.Note, "Offline") || d.Presets[0].ID != "echo/default" || !d.Available {
		t.Errorf("%+v", d)
	}
}

// A long prompt is not repeated for minutes.
func TestLongPrompt(t *testing.T) {
	pieces := 0
	out := &agenttest.Output{Said: func(string) { pieces++ }}
	if _, err := (&Echo{every: time.Microsecond}).Run(context.Background(), agent.Turn{Prompt: strings.Repeat("word ", 50_000)}, out); err != nil {
		t.Fatal(err)
	}
	if text, _ := out.Texts(); len(text) < 250_000 || pieces > 110 {
		t.Errorf("%d bytes in %d pieces", len(text), pieces)
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	out := &agenttest.Output{Said: func(string) { cancel() }}
	if stop, err := (&Echo{every: time.Hour}).Run(ctx, agent.Turn{Prompt: "a b c"}, out); err != nil || stop != agent.Cancelled {
		t.Errorf("%s, %v", stop, err)
	}
}
