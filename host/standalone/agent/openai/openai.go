// Package openai is the agent for every model behind an OpenAI-compatible chat
// endpoint: OpenAI, DeepSeek, or a server on this machine. It only talks: it has
// no tools. Make it with [New].
//
// A request is sent once and never repeated by itself: whether a model ran for a
// request whose answer was lost is not known (invariant 10).
package openai

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	api "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/agent"
	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/fault"
)

// ID is the agent's id.
const ID = "openai"

const (
	// silence is how long a model may say nothing before its turn fails.
	silence = 5 * time.Minute
	// listWithin bounds the question which models there are.
	listWithin = 15 * time.Second
	maxModels  = 200
)

// Preset is a way of answering that a person configured.
type Preset struct {
	ID           string `json:"id"`
	Name         string `json:"name"`
	Description  string `json:"description"`
	Instructions string `json:"instructions"`
}

// Config says which endpoint to talk to.
type Config struct {
	// BaseURL is the endpoint up to and without "/chat/completions".
	BaseURL string
	// Key is the credential, "" for a server that wants none. It goes into the
	// request's header and nowhere else.
	Key string
	// Model is the default; "" takes the first that the endpoint lists.
	Model string
	// Models are offered; when empty, those that the endpoint lists.
	Models  []string
	Presets []Preset
	// Changed is called when the list of models has arrived; nil is allowed.
	Changed func()
	// Client is for tests; nil is a client with deadlines for connecting.
	Client *http.Client
}

// OpenAI is the agent.
type OpenAI struct {
	config  Config
	chat    api.ChatService
	models  api.ModelService
	client  *http.Client
	cancel  context.CancelFunc
	listing sync.WaitGroup

	mu     sync.Mutex // guards listed
	listed []string
}

// New makes the agent and asks the endpoint for its models in the background
// when none are configured; end with Close. Code: bad-request.
func New(c Config) (*OpenAI, error) {
	if c.BaseURL == "" {
		return nil, fault.Errorf(fault.BadRequest, "the openai agent needs a base URL")
	}
	for _, p := range c.Presets {
		if len(p.ID) > maxWordBytes || !presetIDs.MatchString(p.ID) {
			return nil, fault.Errorf(fault.BadRequest, "a preset's id is letters, digits, \"-\" and \"_\"")
		}
	}
	client := c.Client
	if client == nil {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.DialContext = (&net.Dialer{Timeout: 15 * time.Second}).DialContext
		transport.ResponseHeaderTimeout = silence
		client = &http.Client{Transport: transport}
	}
	options := []option.RequestOption{
		option.WithBaseURL(strings.TrimSuffix(c.BaseURL, "/") + "/"),
		option.WithHTTPClient(client),
		option.WithMaxRetries(0),
	}
	if c.Key != "" {
		options = append(options, option.WithAPIKey(c.Key))
	}
	ctx, cancel := context.WithCancel(context.Background())
	o := &OpenAI{config: c, chat: api.NewChatService(options...), models: api.NewModelService(options...), client: client, cancel: cancel}
	if len(c.Models) == 0 {
		o.listing.Go(func() { o.list(ctx) })
	}
	return o, nil
}

// maxWordBytes bounds the id of a preset, and a code of the server that is told.
const maxWordBytes = 64

var presetIDs = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// list learns the models; without them the default stays what was configured.
func (o *OpenAI) list(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, listWithin)
	defer cancel()
	page, err := o.models.List(ctx)
	if err != nil {
		return // many servers have no such list; a model can be configured
	}
	var names []string
	for _, m := range page.Data {
		names = append(names, m.ID)
	}
	slices.Sort(names)
	o.mu.Lock()
	o.listed = names[:min(len(names), maxModels)]
	o.mu.Unlock()
	if o.config.Changed != nil {
		o.config.Changed()
	}
}

func (o *OpenAI) names() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	names := slices.Clone(o.config.Models)
	names = append(names, o.listed...)
	if o.config.Model != "" && !slices.Contains(names, o.config.Model) {
		names = append([]string{o.config.Model}, names...)
	}
	return names
}

// Describe implements [agent.Agent].
func (o *OpenAI) Describe() agent.Description {
	names := o.names()
	d := agent.Description{
		ID: ID, Title: "Model", Note: "An OpenAI-compatible endpoint. It answers; it has no tools.",
		Models: []agent.Choice{}, Permissions: []agent.Choice{},
		Presets:   []agent.Choice{{ID: ID + "/default", Name: "Plain", Description: "Your prompts and the answers, nothing else."}},
		Available: true,
	}
	for _, name := range names {
		d.Models = append(d.Models, agent.Choice{ID: name, Name: name})
	}
	for _, p := range o.config.Presets {
		d.Presets = append(d.Presets, agent.Choice{ID: ID + "/" + p.ID, Name: cmp.Or(p.Name, p.ID), Description: p.Description})
	}
	d.DefaultModel = o.config.Model
	if d.DefaultModel == "" && len(names) > 0 {
		d.DefaultModel = names[0]
	}
	return d
}

// Run implements [agent.Agent].
func (o *OpenAI) Run(ctx context.Context, turn agent.Turn, out agent.Output) (agent.Stop, error) {
	model := cmp.Or(turn.Model, o.Describe().DefaultModel)
	if model == "" {
		return "", fault.Errorf(fault.AgentUnavailable, "no model is chosen, and the endpoint lists none")
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	quiet := time.AfterFunc(silence, func() { cancel(errSilent) })
	defer quiet.Stop()

	stream := o.chat.Completions.NewStreaming(ctx, api.ChatCompletionNewParams{Model: model, Messages: o.messages(turn)})
	defer stream.Close()
	finish := ""
	for stream.Next() {
		quiet.Reset(silence)
		for _, choice := range stream.Current().Choices {
			if thought := reasoning(choice.Delta); thought != "" {
				out.Thought(thought)
			}
			if text := choice.Delta.Content + choice.Delta.Refusal; text != "" {
				out.Text(text)
			}
			finish = cmp.Or(choice.FinishReason, finish)
		}
	}
	err := stream.Err()
	switch {
	case context.Cause(ctx) == errSilent:
		return "", errSilent
	case ctx.Err() != nil:
		return agent.Cancelled, nil
	case err != nil:
		return "", explain(err)
	}
	switch finish {
	case "":
		return "", fault.Errorf(fault.AgentUnavailable, "the model's connection ended before its answer did")
	case "length":
		return agent.Truncated, nil
	case "content_filter":
		return agent.Refused, nil
	}
	return agent.Completed, nil
}

var errSilent = fault.Errorf(fault.AgentUnavailable, "the model said nothing for %d minutes", int(silence.Minutes()))

func (o *OpenAI) messages(turn agent.Turn) []api.ChatCompletionMessageParamUnion {
	var messages []api.ChatCompletionMessageParamUnion
	for _, p := range o.config.Presets {
		if ID+"/"+p.ID == turn.Preset && p.Instructions != "" {
			messages = append(messages, api.SystemMessage(p.Instructions))
		}
	}
	for _, m := range turn.History {
		if m.Role == "assistant" {
			messages = append(messages, api.AssistantMessage(m.Text))
			continue
		}
		messages = append(messages, api.UserMessage(m.Text))
	}
	return append(messages, api.UserMessage(turn.Prompt))
}

// reasoning is what DeepSeek and others stream beside the answer.
func reasoning(delta api.ChatCompletionChunkChoiceDelta) string {
	var text string
	if field, ok := delta.JSON.ExtraFields["reasoning_content"]; ok {
		if json.Unmarshal([]byte(field.Raw()), &text) != nil {
			return "" // null, or something of another kind
		}
	}
	return text
}

var words = regexp.MustCompile(`^[a-z0-9_.-]+$`)

// explain tells what went wrong without quoting the server: its message may
// quote the prompt or the key (invariant 11).
func explain(err error) error {
	var refused *api.Error
	if errors.As(err, &refused) {
		reason := ""
		if len(refused.Code) <= maxWordBytes && words.MatchString(refused.Code) {
			reason = " (" + refused.Code + ")"
		}
		text := fmt.Sprintf("the model's server answered %d %s%s", refused.StatusCode, http.StatusText(refused.StatusCode), reason)
		if refused.StatusCode == http.StatusUnauthorized || refused.StatusCode == http.StatusForbidden {
			text += "; check the key"
		}
		return fault.Errorf(fault.AgentUnavailable, "%s", text)
	}
	var network *net.OpError
	if errors.As(err, &network) {
		return fault.Errorf(fault.AgentUnavailable, "the model's server cannot be reached (%s: %s)", network.Op, network.Err)
	}
	return fault.Errorf(fault.AgentUnavailable, "the model's answer could not be read")
}

// Forget implements [agent.Agent]; nothing is kept.
func (o *OpenAI) Forget(string) {}

// Close implements [agent.Agent].
func (o *OpenAI) Close() error {
	o.cancel()
	o.listing.Wait()
	o.client.CloseIdleConnections()
	return nil
}
