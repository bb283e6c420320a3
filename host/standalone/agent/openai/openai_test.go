package openai

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/agent"
	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/agent/agenttest"
	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const key = "sk-very-secret"

// model is an endpoint that answers as a test says.
type model struct {
	t      *testing.T
	server *httptest.Server
	answer func(w http.ResponseWriter, r *http.Request)

	mu     sync.Mutex
	bodies []string
	keys   []string
}

func newModel(t *testing.T, answer func(w http.ResponseWriter, r *http.Request)) *model {
	m := &model{t: t, answer: answer}
	m.server = httptest.NewServer(http.HandlerFunc(m.serve))
	t.Cleanup(m.server.Close)
	return m
}

func (m *model) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		m.t.Error(err)
	}
	if strings.HasSuffix(r.URL.Path, "/models") {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"b","object":"model","created":1,"owned_by":"x"},{"id":"a","object":"model","created":1,"owned_by":"x"}]}`)
		return
	}
	m.mu.Lock()
	m.bodies = append(m.bodies, string(body))
	m.keys = append(m.keys, r.Header.Get("Authorization"))
	m.mu.Unlock()
	m.answer(w, r)
}

func (m *model) calls() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.bodies
}

func chunk(w http.ResponseWriter, delta string, finish string) {
	reason := "null"
	if finish != "" {
		reason = `"` + finish + `"`
	}
	_, _ = fmt.Fprintf(w, "data: {\"id\":\"1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":%s,\"finish_reason\":%s}]}\n\n", delta, reason)
	w.(http.Flusher).Flush()
}

func says(w http.ResponseWriter, finish string) {
	w.Header().Set("Content-Type", "text/event-stream")
	chunk(w, `{"role":"assistant","reasoning_content":"let me see"}`, "")
	chunk(w, `{"content":"Hello "}`, "")
	chunk(w, `{"content":"there","reasoning_content":null}`, "")
	chunk(w, `{}`, finish)
	_, _ = io.WriteString(w, "data: [DONE]\n\n")
}

func (m *model) agent(c Config) *OpenAI {
	m.t.Helper()
	c.BaseURL, c.Key = m.server.URL+"/v1", key
	o, err := New(c)
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() { _ = o.Close() })
	return o
}

func TestStreams(t *testing.T) {
	m := newModel(t, func(w http.ResponseWriter, _ *http.Request) { says(w, "stop") })
	o := m.agent(Config{Model: "m", Models: []string{"m"}, Presets: []Preset{{ID: "short", Instructions: "Be short."}}})
	out := &agenttest.Output{}
	stop, err := o.Run(context.Background(), agent.Turn{
		Prompt: "new", Preset: "openai/short", History: []agent.Message{{Role: "user", Text: "old"}, {Role: "assistant", Text: "older answer"}},
	}, out)
	if err != nil || stop != agent.Completed {
		t.Fatalf("%s, %v", stop, err)
	}
	if text, thought := out.Texts(); text != "Hello there" || thought != "let me see" {
		t.Errorf("%q, %q", text, thought)
	}
	var body struct {
		Model    string
		Stream   bool
		Messages []struct{ Role, Content string }
	}
	if err := json.Unmarshal([]byte(m.calls()[0]), &body); err != nil {
		t.Fatal(err)
	}
	want := "[{system Be short.} {user old} {assistant older answer} {user new}]"
	if got := fmt.Sprint(body.Messages); got != want || body.Model != "m" || !body.Stream {
		t.Errorf("%s of %s", got, body.Model)
	}
	if m.keys[0] != "Bearer "+key {
		t.Errorf("%q", m.keys[0])
	}
}

func TestHowAnAnswerEnds(t *testing.T) {
	for finish, want := range map[string]agent.Stop{"stop": agent.Completed, "length": agent.Truncated, "content_filter": agent.Refused} {
		m := newModel(t, func(w http.ResponseWriter, _ *http.Request) { says(w, finish) })
		if stop, err := m.agent(Config{Models: []string{"m"}}).Run(context.Background(), agent.Turn{Prompt: "x"}, &agenttest.Output{}); err != nil || stop != want {
			t.Errorf("%s: %s, %v", finish, stop, err)
		}
	}
}

// Invariants 10 and 11: a failure is told without the prompt, the key or the
// server's words, and a request that failed is never sent again by itself.
func TestFailures(t *testing.T) {
	const secret = "the-secret-prompt"
	for name, test := range map[string]struct {
		answer func(w http.ResponseWriter, r *http.Request)
		want   string
	}{
		"unauthorized": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(401)
			_, _ = io.WriteString(w, `{"error":{"message":"bad key `+key+`","code":"invalid_api_key"}}`)
		}, "401 Unauthorized (invalid_api_key); check the key"},
		"overloaded": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(503)
			_, _ = io.WriteString(w, `{"error":{"message":"while reading `+secret+`","code":"`+secret+` code"}}`)
		}, "503 Service Unavailable"},
		"not JSON":  {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500); _, _ = io.WriteString(w, secret) }, "500 Internal Server Error"},
		"cut short": {func(w http.ResponseWriter, _ *http.Request) { says(w, "") }, "ended before its answer did"},
		"broken": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: {"+secret+"\n\n")
		}, "could not be read"},
	} {
		m := newModel(t, test.answer)
		_, err := m.agent(Config{Models: []string{"m"}}).Run(context.Background(), agent.Turn{Prompt: secret}, &agenttest.Output{})
		if fault.CodeOf(err) != fault.AgentUnavailable || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && (strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), key)) {
			t.Errorf("%s: quotes: %v", name, err)
		}
		if len(m.calls()) != 1 {
			t.Errorf("%s: asked %d times", name, len(m.calls()))
		}
	}
}

func TestUnreachable(t *testing.T) {
	m := newModel(t, nil)
	o := m.agent(Config{Models: []string{"m"}})
	m.server.Close()
	if _, err := o.Run(context.Background(), agent.Turn{Prompt: "x"}, &agenttest.Output{}); fault.CodeOf(err) != fault.AgentUnavailable || !strings.Contains(err.Error(), "cannot be reached") {
		t.Errorf("%v", err)
	}
}

// A cancel ends the request at the server too, and keeps what was said.
func TestCancel(t *testing.T) {
	gone := make(chan struct{})
	m := newModel(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		chunk(w, `{"content":"so far"}`, "")
		<-r.Context().Done()
		close(gone)
	})
	ctx, cancel := context.WithCancel(context.Background())
	out := &agenttest.Output{Said: func(string) { cancel() }}
	stop, err := m.agent(Config{Models: []string{"m"}}).Run(ctx, agent.Turn{Prompt: "x"}, out)
	if err != nil || stop != agent.Cancelled {
		t.Errorf("%s, %v", stop, err)
	}
	<-gone
	if text, _ := out.Texts(); text != "so far" {
		t.Errorf("%q", text)
	}
}

func TestModels(t *testing.T) {
	m := newModel(t, func(w http.ResponseWriter, _ *http.Request) { says(w, "stop") })
	changed := make(chan struct{})
	o := m.agent(Config{Changed: func() { close(changed) }})
	<-changed
	d := o.Describe()
	if d.DefaultModel != "a" || len(d.Models) != 2 || !d.Available || d.Presets[0].ID != "openai/default" {
		t.Errorf("%+v", d)
	}
	d = m.agent(Config{Model: "mine", Models: []string{"x", "y"}}).Describe()
	if d.DefaultModel != "mine" || len(d.Models) != 3 || d.Models[0].ID != "mine" {
		t.Errorf("%+v", d)
	}
	if _, err := New(Config{}); fault.CodeOf(err) != fault.BadRequest {
		t.Errorf("%v", err)
	}
	if _, err := New(Config{BaseURL: "http://x", Presets: []Preset{{ID: "a/b"}}}); fault.CodeOf(err) != fault.BadRequest {
		t.Errorf("%v", err)
	}
}

// Other variables of the environment that the client library would take are not
// sent to an endpoint that was not meant.
func TestEnvironmentIsNotSent(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-other")
	t.Setenv("OPENAI_ORG_ID", "org")
	var headers http.Header
	m := newModel(t, func(w http.ResponseWriter, r *http.Request) { headers = r.Header.Clone(); says(w, "stop") })
	o, err := New(Config{BaseURL: m.server.URL, Models: []string{"m"}})
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	if _, err := o.Run(context.Background(), agent.Turn{Prompt: "x"}, &agenttest.Output{}); err != nil {
		t.Fatal(err)
	}
	if got := headers.Get("Authorization") + headers.Get("OpenAI-Organization"); got != "" {
		t.Errorf("%q was sent", got)
	}
}
