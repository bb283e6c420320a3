// Package echo is the offline agent: it says plainly that no model is behind it
// and repeats the prompt, a few words at a time. It is for looking at the page and for
// tests.
package echo

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/agent"
)

// ID is the agent's id.
const ID = "echo"

// An answer comes in at most pieces pieces with a pause between them, so that
// streaming can be seen and a long prompt is not repeated for minutes.
const (
	pieceEvery = 15 * time.Millisecond
	pieces     = 100
)

// Echo is the agent; make it with [New].
type Echo struct{ every time.Duration }

// New makes the agent.
func New() *Echo { return &Echo{every: pieceEvery} }

// Describe implements [agent.Agent].
func (*Echo) Describe() agent.Description {
	return agent.Description{
		ID:           ID,
		Title:        "Echo",
		Note:         "Offline: no model is asked, your prompt is repeated.",
		Models:       []agent.Choice{},
		Presets:      []agent.Choice{{ID: ID + "/default", Name: "Echo", Description: "Repeats the prompt."}},
		Permissions:  []agent.Choice{},
		DefaultModel: "",
		Available:    true,
	}
}

// Run implements [agent.Agent].
func (e *Echo) Run(ctx context.Context, turn agent.Turn, out agent.Output) (agent.Stop, error) {
	answer := "This is the offline echo agent; no model was asked. You wrote:\n\n" + quoted(turn.Prompt)
	ticker := time.NewTicker(e.every)
	defer ticker.Stop()
	words := strings.SplitAfter(answer, " ")
	for piece := range slices.Chunk(words, len(words)/pieces+1) {
		out.Text(strings.Join(piece, ""))
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return agent.Cancelled, nil
		}
	}
	return agent.Completed, nil
}

// quoted is text as a block quote of Markdown.
func quoted(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		out.WriteString("> " + line)
	}
	return out.String()
}

// Forget implements [agent.Agent]; nothing is kept.
func (*Echo) Forget(string) {}

// Close implements [agent.Agent]; nothing was started.
func (*Echo) Close() error { return nil }
