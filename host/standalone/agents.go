package standalone

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/google/shlex"

	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/agent"
	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/agent/acp"
	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/agent/echo"
	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/agent/openai"
)

// AgentOptions say what may answer prompts, beyond the file config.json.
type AgentOptions struct {
	// Agent is the default: "echo", "openai" or "acp:<command line>". "" takes that
	// of config.json, else openai when it has a key or an address, else echo.
	Agent string
	// BaseURL, Model and KeyFile are the openai agent's.
	BaseURL, Model, KeyFile string
	// Getenv reads the environment; nil is os.Getenv.
	Getenv func(string) string
}

// config is config.json. Only a person writes it.
type config struct {
	Agent  string       `json:"agent"`
	OpenAI openAIConfig `json:"openai"`
	// ACP are command lines, each a list of words.
	ACP [][]string `json:"acp"`
}

type openAIConfig struct {
	BaseURL string          `json:"baseUrl"`
	Key     string          `json:"key"`
	KeyFile string          `json:"keyFile"`
	Model   string          `json:"model"`
	Models  []string        `json:"models"`
	Presets []openai.Preset `json:"presets"`
}

func readConfig(path string) (config, error) {
	var c config
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, fmt.Errorf("reading the configuration: %w", err)
	}
	if err := json.Unmarshal(data, &c, json.RejectUnknownMembers(true)); err != nil {
		return c, fmt.Errorf("the configuration %s is not as it should be; see docs/standalone.md", path) // the cause may quote the key
	}
	return c, nil
}

// Where the well-known endpoints are, when only a key is given.
const (
	openAIURL     = "https://api.openai.com/v1"
	deepSeekURL   = "https://api.deepseek.com"
	deepSeekModel = "deepseek-chat"
)

// Agents are the configured agents.
type Agents struct {
	all      []agent.Agent
	standard string
}

func newAgents(o AgentOptions, c config, changed func(any)) (*Agents, error) {
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	a := &Agents{all: []agent.Agent{echo.New()}}
	tell := func() { changed(a.All()) }
	endpoint, err := endpointOf(o, c.OpenAI)
	if err != nil {
		return nil, err
	}
	wanted := cmp.Or(o.Agent, c.Agent)
	commands := c.ACP
	if line, ok := strings.CutPrefix(wanted, "acp:"); ok {
		words, err := shlex.Split(line)
		if err != nil {
			return nil, fmt.Errorf("the agent's command line: %w", err)
		}
		commands = append([][]string{words}, commands...)
	}
	var programs []agent.Agent
	for _, command := range commands {
		program, err := acp.New(acp.Config{Command: command, Changed: tell})
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(programs, func(p agent.Agent) bool { return p.Describe().ID == program.Describe().ID }) {
			programs = append(programs, program)
		}
	}
	// All agents are there before one may tell of a change.
	a.all = append(a.all, programs...)
	if endpoint.BaseURL != "" {
		ready := make(chan struct{})
		endpoint.Changed = func() { <-ready; tell() }
		model, err := openai.New(endpoint)
		if err != nil {
			return nil, err
		}
		a.all = append(a.all, model)
		close(ready)
	}
	a.standard, err = a.choose(wanted, programs)
	if err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

func (a *Agents) choose(wanted string, programs []agent.Agent) (string, error) {
	switch _, known := a.Get(wanted); {
	case strings.HasPrefix(wanted, "acp:"):
		return programs[0].Describe().ID, nil
	case wanted == openai.ID && !known:
		return "", errors.New("the openai agent needs a key (OPENAI_API_KEY or DEEPSEEK_API_KEY) or an address (--base-url)")
	case wanted != "" && !known:
		return "", fmt.Errorf("there is no agent %q; there are echo, openai and acp:<command>", wanted)
	case wanted != "":
		return wanted, nil
	}
	if _, ok := a.Get(openai.ID); ok {
		return openai.ID, nil
	}
	return echo.ID, nil
}

// endpointOf is the openai agent's endpoint; without a BaseURL there is none. A
// flag wins over the file, the file over the environment.
func endpointOf(o AgentOptions, c openAIConfig) (openai.Config, error) {
	e := openai.Config{BaseURL: cmp.Or(o.BaseURL, c.BaseURL), Key: c.Key, Model: cmp.Or(o.Model, c.Model), Models: c.Models, Presets: c.Presets}
	if file := cmp.Or(o.KeyFile, c.KeyFile); file != "" {
		data, err := os.ReadFile(file)
		if err != nil {
			return e, fmt.Errorf("reading the key: %w", err)
		}
		e.Key = strings.TrimSpace(string(data))
	}
	openAIKey, deepSeekKey := o.Getenv("OPENAI_API_KEY"), o.Getenv("DEEPSEEK_API_KEY")
	if e.BaseURL == "" {
		e.BaseURL = o.Getenv("OPENAI_BASE_URL")
	}
	switch {
	case e.BaseURL != "":
		if e.Key == "" && strings.HasPrefix(e.BaseURL, deepSeekURL) {
			e.Key = deepSeekKey
		}
		e.Key = cmp.Or(e.Key, openAIKey)
	case openAIKey != "" || e.Key != "":
		e.BaseURL, e.Key = openAIURL, cmp.Or(e.Key, openAIKey)
	case deepSeekKey != "":
		e.BaseURL, e.Key, e.Model = deepSeekURL, deepSeekKey, cmp.Or(e.Model, deepSeekModel)
	}
	return e, nil
}

// Get implements sessions.Agents.
func (a *Agents) Get(id string) (agent.Agent, bool) {
	for _, one := range a.all {
		if one.Describe().ID == id {
			return one, true
		}
	}
	return nil, false
}

// Default implements sessions.Agents.
func (a *Agents) Default() string { return a.standard }

// All describes the agents, the default first.
func (a *Agents) All() []agent.Description {
	var out []agent.Description
	for _, one := range a.all {
		if d := one.Describe(); d.ID == a.standard {
			out = append([]agent.Description{d}, out...)
		} else {
			out = append(out, d)
		}
	}
	return out
}

// Close ends what the agents started.
func (a *Agents) Close() error {
	var err error
	for _, one := range a.all {
		err = errors.Join(err, one.Close())
	}
	return err
}
