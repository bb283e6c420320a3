// Package agenttest is an [agent.Output] for the tests of agents: it keeps what
// it is given and answers permission requests.
package agenttest

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/agent"
)

// Output keeps what an agent does. Its methods may be called from any goroutine.
type Output struct {
	// Answer gives the option for a request; nil takes the first one.
	Answer func(ctx context.Context, r agent.PermissionRequest) (string, error)
	// Said is called after every Text, when not nil.
	Said func(whole string)

	mu       sync.Mutex
	text     strings.Builder
	thought  strings.Builder
	plans    [][]agent.PlanEntry
	tools    []agent.ToolCall
	notices  []string
	requests []agent.PermissionRequest
	state    jsontext.Value
}

// Text implements [agent.Output].
func (o *Output) Text(delta string) {
	o.mu.Lock()
	o.text.WriteString(delta)
	whole := o.text.String()
	o.mu.Unlock()
	if o.Said != nil {
		o.Said(whole)
	}
}

// Thought implements [agent.Output].
func (o *Output) Thought(delta string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.thought.WriteString(delta)
}

// Plan implements [agent.Output].
func (o *Output) Plan(entries []agent.PlanEntry) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.plans = append(o.plans, entries)
	return nil
}

// Tool implements [agent.Output].
func (o *Output) Tool(call agent.ToolCall) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.tools = append(o.tools, call)
	return nil
}

// Notice implements [agent.Output].
func (o *Output) Notice(code, _ string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.notices = append(o.notices, code)
	return nil
}

// Ask implements [agent.Output].
func (o *Output) Ask(ctx context.Context, r agent.PermissionRequest) (string, error) {
	o.mu.Lock()
	o.requests = append(o.requests, r)
	o.mu.Unlock()
	if o.Answer != nil {
		return o.Answer(ctx, r)
	}
	return r.Options[0].ID, nil
}

// Remember implements [agent.Output].
func (o *Output) Remember(state jsontext.Value) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.state = slices.Clone(state)
	return nil
}

// Texts are the message and the thought so far.
func (o *Output) Texts() (message, thought string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String(), o.thought.String()
}

// Tools are the tool calls so far, every change of one.
func (o *Output) Tools() []agent.ToolCall {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.tools)
}

// Plans are the plans so far.
func (o *Output) Plans() [][]agent.PlanEntry {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.plans)
}

// Notices are the codes of the notices so far.
func (o *Output) Notices() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.notices)
}

// Requests are the permission requests so far.
func (o *Output) Requests() []agent.PermissionRequest {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.requests)
}

// State is what was last remembered.
func (o *Output) State() jsontext.Value {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.state
}
