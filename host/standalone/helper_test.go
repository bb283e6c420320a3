package standalone_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/draft-sessions/dsh-draft-sessions/host/standalone"
	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/home"
)

// binary is the real command, for the plugin process and for whole hosts.
var binary string

func TestMain(m *testing.M) {
	if log := os.Getenv(countingAgent); log != "" {
		serveCounting(log)
		return
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "standalone-test")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	binary = filepath.Join(dir, "draft-sessions")
	if out, err := exec.Command("go", "build", "-o", binary, "../../cmd/draft-sessions").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%s\n", out)
		return 1
	}
	code := m.Run()
	http.DefaultClient.CloseIdleConnections()
	// go-plugin leaves one goroutine for the log of each process until its pipe closes.
	if err := goleak.Find(goleak.IgnoreTopFunction("internal/poll.runtime_pollWait")); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// patience bounds every wait of these tests; it is only ever spent by a failure.
const patience = 60 * time.Second

func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("no sign of %s", what)
		}
	}
}

// start starts a host in this process, with its plugin process.
func start(t *testing.T, o standalone.Options) (*standalone.Host, *client) {
	t.Helper()
	if o.Home == "" {
		o.Home = t.TempDir()
	}
	if len(o.Folders) == 0 {
		o.Folders = []string{t.TempDir()}
	}
	if o.Agents.Getenv == nil {
		o.Agents.Getenv = func(string) string { return "" }
	}
	o.Binary, o.Version, o.Listen = binary, "test", "127.0.0.1:0"
	host, err := standalone.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := host.Close(); err != nil {
			t.Error(err)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := host.AwaitDrafts(ctx); err != nil {
		t.Fatal(err)
	}
	return host, connect(t, o.Home)
}

// client is a program of the same user.
type client struct {
	t *testing.T
	home.Registration
}

func connect(t *testing.T, dir string) *client {
	t.Helper()
	c := &client{t: t}
	until(t, "a host", func() bool {
		var err error
		c.Registration, err = home.Find(t.Context(), dir)
		return err == nil
	})
	return c
}

// object is decoded JSON.
type object = map[string]any

// call makes a request and gives its status and body.
func (c *client) call(method, path string, body any) (int, object, error) {
	var reader io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return 0, nil, err
		}
		reader = bytes.NewReader(data)
	}
	request, err := http.NewRequestWithContext(c.t.Context(), method, c.Address+path, reader)
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("Authorization", "Bearer "+c.Token)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	var answer object
	err = json.NewDecoder(response.Body).Decode(&answer)
	return response.StatusCode, answer, err
}

// must is a call that has to succeed.
func (c *client) must(method, path string, body any) object {
	c.t.Helper()
	status, answer, err := c.call(method, path, body)
	if err != nil || status/100 != 2 {
		c.t.Fatalf("%s %s: %d, %v, %v", method, path, status, answer, err)
	}
	return answer
}

func (c *client) draft(operation string, body object) object {
	c.t.Helper()
	return c.must("POST", "/api/drafts/"+operation, body)
}

func (c *client) workspace() string {
	c.t.Helper()
	return c.must("GET", "/api/state", nil)["workspaces"].([]any)[0].(object)["id"].(string)
}

// submission waits until a prompt has that state.
func (c *client) submission(id, state string) object {
	c.t.Helper()
	var sub object
	until(c.t, "submission "+id+" being "+state, func() bool {
		var err error
		_, sub, err = c.call("GET", "/api/submissions/"+id, nil)
		return err == nil && sub["state"] == state
	})
	return sub
}

// texts are the texts of a session's events of one type.
func (c *client) texts(session, kind string) []string {
	c.t.Helper()
	var out []string
	for _, e := range c.must("GET", "/api/sessions/"+session+"?limit=2000&html=0", nil)["events"].([]any) {
		if event := e.(object); event["type"] == kind {
			out = append(out, event["data"].(object)["text"].(string))
		}
	}
	return out
}

// stream is a connection to the events.
type stream struct {
	body io.Closer
	end  context.CancelFunc
	done chan struct{}

	mu     sync.Mutex
	events []event
}

type event struct {
	name, id string
	data     object
}

// listen connects; lastID is what a browser that connects again sends.
func (c *client) listen(path, lastID string) *stream {
	c.t.Helper()
	ctx, cancel := context.WithCancel(c.t.Context())
	request, err := http.NewRequestWithContext(ctx, "GET", c.Address+path, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+c.Token)
	if lastID != "" {
		request.Header.Set("Last-Event-ID", lastID)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		c.t.Fatal(err)
	}
	s := &stream{body: response.Body, end: cancel, done: make(chan struct{})}
	go func() { defer close(s.done); s.read(response.Body) }()
	c.t.Cleanup(s.close)
	return s
}

func (s *stream) close() {
	s.end()
	_ = s.body.Close()
	<-s.done
}

func (s *stream) read(body io.Reader) {
	var e event
	lines := bufio.NewReader(body)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimSuffix(line, "\n")
		switch name, value, _ := strings.Cut(line, ": "); {
		case name == "event":
			e.name = value
		case name == "id":
			e.id = value
		case name == "data":
			_ = json.Unmarshal([]byte(value), &e.data) // an empty event fails its test
		case line == "" && e.name != "":
			s.mu.Lock()
			s.events = append(s.events, e)
			s.mu.Unlock()
			e = event{}
		}
	}
}

// all are the events of one name so far.
func (s *stream) all(name string) []event {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []event
	for _, e := range s.events {
		if e.name == name {
			out = append(out, e)
		}
	}
	return out
}
