package standalone_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/draft-sessions/dsh-draft-sessions/host/standalone"
	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/home"
)

// Three drafts, edited, kept over a restart; one is sent and answered, and is an
// ordinary session then.
func TestStory(t *testing.T) {
	dir, folder := t.TempDir(), t.TempDir()
	host, c := start(t, standalone.Options{Home: dir, Folders: []string{folder}})
	w := c.workspace()
	var drafts []object
	for i := range 3 {
		d := c.draft("new", object{"workspaceId": w, "idempotencyKey": fmt.Sprint("key", i)})
		editor := object{"draftId": d["id"], "editorId": "page"}
		opened := c.draft("open-editor", editor)
		c.draft("edit", object{"draftId": d["id"], "editorId": "page", "generation": opened["generation"], "epoch": opened["epoch"], "seq": 1, "text": fmt.Sprint("text ", i), "baseTextRevision": 1})
		c.draft("flush", object{"draftId": d["id"]})
		drafts = append(drafts, d)
	}
	if err := host.Close(); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(filepath.Join(dir, "run")); err != nil || len(left) != 0 {
		t.Errorf("%v, %v", left, err)
	}
	_, c = start(t, standalone.Options{Home: dir, Folders: []string{folder}})
	sidebar := c.draft("sidebar", object{})
	if rows := sidebar["rows"].([]any); len(rows) != 3 {
		t.Fatalf("%d rows", len(rows))
	}
	state := c.must("GET", "/api/state", nil)["workspaces"].([]any)[0].(object)
	if state["sessionCount"] != 0.0 {
		t.Errorf("drafts are listed as sessions: %v", state)
	}
	events := c.listen("/api/events", "")
	sent := drafts[1]
	sub := c.draft("send", object{"draftId": sent["id"], "submissionId": "sub"})
	session := sub["sessionId"].(string)
	if session != sent["sessionId"] {
		t.Errorf("sent into %s, the draft's session is %s", session, sent["sessionId"])
	}
	c.submission("sub", "completed")
	if answers := c.texts(session, "assistant/message"); len(answers) != 1 || !strings.Contains(answers[0], "> text 1") || !strings.Contains(answers[0], "no model was asked") {
		t.Errorf("%q", answers)
	}
	until(t, "the row going", func() bool {
		removed := events.all("removed")
		return len(removed) == 1 && removed[0].data["draftId"] == sent["id"] && removed[0].data["reason"] == "sent"
	})
	if again := c.draft("send", object{"draftId": sent["id"], "submissionId": "sub"}); again["state"] != "completed" {
		t.Errorf("%v", again)
	}
	listed := c.must("GET", "/api/sessions?workspaceId="+w, nil)["sessions"].([]any)
	if len(listed) != 1 || listed[0].(object)["id"] != session || listed[0].(object)["title"] != "text 1" {
		t.Errorf("%v", listed)
	}
	if rows := c.draft("sidebar", object{})["rows"].([]any); len(rows) != 2 {
		t.Errorf("%d rows", len(rows))
	}
}

// One host a home; the second is told whom to ask.
func TestSecondHostOfAHome(t *testing.T) {
	dir := t.TempDir()
	host, _ := start(t, standalone.Options{Home: dir})
	_, err := standalone.Start(t.Context(), standalone.Options{Home: dir, Binary: binary})
	var inUse *home.InUseError
	if !errors.As(err, &inUse) || !strings.Contains(err.Error(), host.Address) {
		t.Errorf("%v", err)
	}
}

// The same submission id from 20 clients at once reaches the model once, whether
// it is a draft's or an ordinary prompt.
func TestOneSubmissionFromManyClients(t *testing.T) {
	m := newModel(t)
	_, c := start(t, standalone.Options{Agents: standalone.AgentOptions{Agent: "openai", BaseURL: m.server.URL, Model: "m"}})
	w := c.workspace()
	d := c.draft("new", object{"workspaceId": w, "text": "once"})
	s := c.must("POST", "/api/sessions", object{"workspaceId": w, "sessionId": "plain"})
	var wait sync.WaitGroup
	for range 20 {
		wait.Go(func() {
			for path, body := range map[string]object{
				"/api/drafts/send": {"draftId": d["id"], "submissionId": "one"},
				"/api/sessions/" + s["id"].(string) + "/prompts": {"submissionId": "two", "text": "twice"},
			} {
				status, answer, err := c.call("POST", path, body)
				if err != nil || status != 202 || answer["seq"] != 3.0 {
					t.Errorf("%s: %d, %v, %v", path, status, answer, err)
				}
			}
		})
	}
	wait.Wait()
	c.submission("one", "completed")
	c.submission("two", "completed")
	if m.count("once") != 1 || m.count("twice") != 1 {
		t.Errorf("the model was asked %d and %d times", m.count("once"), m.count("twice"))
	}
	status, answer, err := c.call("POST", "/api/sessions/plain/prompts", object{"submissionId": "two", "text": "other"})
	if err != nil || status != 409 || answer["code"] != "submission-conflict" {
		t.Errorf("%d, %v, %v", status, answer, err)
	}
}

// Invariant 3: the model sees nothing of a draft before it is sent.
func TestNoModelBeforeSend(t *testing.T) {
	m := newModel(t)
	_, c := start(t, standalone.Options{Agents: standalone.AgentOptions{BaseURL: m.server.URL, Model: "m"}})
	d := c.draft("new", object{"workspaceId": c.workspace(), "text": "secret plan"})
	c.draft("update", object{"draftId": d["id"], "expectedRevision": d["revision"], "title": "t"})
	c.draft("duplicate", object{"draftId": d["id"]})
	c.draft("send", object{"draftId": d["id"], "submissionId": "s"})
	c.submission("s", "completed")
	m.mu.Lock()
	defer m.mu.Unlock()
	if !slices.Equal(m.prompts, []string{"secret plan"}) {
		t.Errorf("%q", m.prompts)
	}
}

// A stream that is cut goes on where it was; what is being streamed is caught up.
func TestEventsGoOn(t *testing.T) {
	m := newModel(t)
	m.hold = make(chan struct{})
	_, c := start(t, standalone.Options{Agents: standalone.AgentOptions{BaseURL: m.server.URL, Model: "m"}})
	s := c.must("POST", "/api/sessions", object{"workspaceId": c.workspace()})["id"].(string)
	first := c.listen("/api/events?session="+s+"&after=0", "")
	c.must("POST", "/api/sessions/"+s+"/prompts", object{"submissionId": "p", "text": "**hi** <b>x</b>"})
	until(t, "a first piece", func() bool { return len(first.all("live")) > 0 })
	if live := first.all("live")[0].data; live["text"] != "heard: " || live["kind"] != "message" || live["html"] != "<p>heard:</p>\n" {
		t.Errorf("%v", live)
	}
	logged := first.all("log")
	if len(logged) != 3 || logged[2].id != s+":3" {
		t.Fatalf("%v", logged)
	}
	first.close()
	// A browser that connects again names the last event that it has.
	second := c.listen("/api/events", logged[1].id)
	until(t, "the rest", func() bool { return len(second.all("live")) > 0 })
	if logged := second.all("log"); len(logged) != 1 || logged[0].id != s+":3" {
		t.Errorf("%v", logged)
	}
	// A page that was elsewhere follows.
	third := c.listen("/api/events?html=0", "")
	until(t, "a greeting", func() bool { return len(third.all("hello")) == 1 })
	c.must("POST", "/api/events/"+third.all("hello")[0].data["stream"].(string)+"/follow", object{"sessionId": s, "after": 2})
	close(m.hold)
	for name, st := range map[string]*stream{"second": second, "third": third} {
		until(t, "the end in the "+name, func() bool {
			logged := st.all("log")
			return len(logged) > 0 && logged[len(logged)-1].data["event"].(object)["type"] == "turn/ended"
		})
		logged := st.all("log")
		var seqs []string
		for _, e := range logged {
			seqs = append(seqs, strings.TrimPrefix(e.id, s+":"))
		}
		if got := strings.Join(seqs, " "); got != "3 4 5" {
			t.Errorf("%s: events %s", name, got)
		}
	}
	answer := second.all("log")[1].data["event"].(object)["data"].(object)
	if answer["html"] != "<p>heard: <strong>hi</strong> &lt;b&gt;x&lt;/b&gt;</p>\n" {
		t.Errorf("%v", answer)
	}
	if plain := third.all("log")[1].data["event"].(object)["data"].(object); plain["html"] != nil {
		t.Errorf("%v", plain)
	}
	status, _, err := c.call("POST", "/api/events/none/follow", object{"sessionId": s})
	if err != nil || status != 404 {
		t.Errorf("%d, %v", status, err)
	}
}

func TestCancelATurn(t *testing.T) {
	m := newModel(t)
	m.hold = make(chan struct{})
	_, c := start(t, standalone.Options{Agents: standalone.AgentOptions{BaseURL: m.server.URL, Model: "m"}})
	s := c.must("POST", "/api/sessions", object{"workspaceId": c.workspace()})["id"].(string)
	c.must("POST", "/api/sessions/"+s+"/prompts", object{"submissionId": "p", "text": "x"})
	until(t, "something said", func() bool { return c.must("GET", "/api/sessions/"+s, nil)["live"] != nil })
	status, answer, err := c.call("POST", "/api/sessions/"+s+"/prompts", object{"submissionId": "q", "text": "y"})
	if err != nil || status != 409 || answer["code"] != "agent-busy" {
		t.Errorf("%d, %v, %v", status, answer, err)
	}
	c.must("POST", "/api/sessions/"+s+"/cancel", object{})
	c.submission("p", "cancelled")
	if said := c.texts(s, "assistant/message"); !slices.Equal(said, []string{"heard: "}) {
		t.Errorf("%q", said)
	}
}

// A permission of a real program is asked on the stream and answered over the API.
func TestPermissionOverTheAPI(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(countingAgent, filepath.Join(t.TempDir(), "prompts"))
	_, c := start(t, standalone.Options{Agents: standalone.AgentOptions{Agent: "acp:'" + self + "'"}})
	s := c.must("POST", "/api/sessions", object{"workspaceId": c.workspace()})
	id := s["id"].(string)
	if s["permission"] != "ask" || !strings.HasPrefix(s["agent"].(string), "acp-") {
		t.Errorf("%v", s)
	}
	events := c.listen("/api/events?session="+id, "")
	c.must("POST", "/api/sessions/"+id+"/prompts", object{"submissionId": "p", "text": "ask"})
	var request object
	until(t, "a request", func() bool {
		for _, e := range events.all("permission") {
			if open := e.data["requests"].([]any); len(open) == 1 {
				request = open[0].(object)
				return true
			}
		}
		return false
	})
	if request["title"] != "Write a file" || len(request["options"].([]any)) != 2 {
		t.Errorf("%v", request)
	}
	path := "/api/sessions/" + id + "/permissions/" + request["requestId"].(string)
	for _, bad := range []object{{}, {"optionId": "other"}, {"optionId": "y", "cancelled": true}} {
		if status, _, err := c.call("POST", path, bad); err != nil || status != 400 {
			t.Errorf("%v: %d, %v", bad, status, err)
		}
	}
	c.must("POST", path, object{"optionId": "n"})
	if status, _, err := c.call("POST", path, object{"optionId": "y"}); err != nil || status != 404 {
		t.Errorf("%d, %v", status, err)
	}
	c.submission("p", "completed")
	if said := c.texts(id, "assistant/message"); !slices.Equal(said, []string{"heard: chose n"}) {
		t.Errorf("%q", said)
	}
}

// Invariant 8: the host lives without its plugin, says that drafts are paused, and
// goes on with what was saved when it is back.
func TestPluginIsKilled(t *testing.T) {
	_, c := start(t, standalone.Options{})
	w := c.workspace()
	d := c.draft("new", object{"workspaceId": w, "text": "kept"})
	events := c.listen("/api/events", "")
	until(t, "a greeting", func() bool { return len(events.all("plugin")) == 1 })
	before := events.all("plugin")[0].data["epoch"]
	pid := pluginOf(t, c.PID)
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	until(t, "the pause", func() bool { return len(events.all("plugin")) > 1 })
	if paused := events.all("plugin")[1].data; paused["epoch"] != "" || paused["mode"] != "full" || paused["message"] == "" {
		t.Errorf("%v", paused)
	}
	until(t, "the plugin", func() bool { return len(events.all("plugin")) > 2 })
	if back := events.all("plugin")[2].data; back["epoch"] == before || back["epoch"] == "" || back["message"] != "" {
		t.Errorf("%v", back)
	}
	if got := c.draft("get", object{"draftId": d["id"]}); got["text"] != "kept" || got["sessionId"] != d["sessionId"] {
		t.Errorf("%v", got)
	}
}

// Sessions belong to a folder: a workspace that is removed and added again has them.
func TestWorkspaceComesBack(t *testing.T) {
	folder, other := t.TempDir(), t.TempDir()
	_, c := start(t, standalone.Options{Folders: []string{folder}})
	w := c.workspace()
	c.must("POST", "/api/sessions", object{"workspaceId": w, "sessionId": "s"})
	d := c.draft("new", object{"workspaceId": w, "text": "mine"})
	events := c.listen("/api/events", "")
	until(t, "a greeting", func() bool { return len(events.all("plugin")) == 1 })
	c.must("POST", "/api/workspaces", object{"path": other, "name": "Other"})
	c.must("DELETE", "/api/workspaces/"+w, nil)
	if s := c.must("GET", "/api/sessions/s", nil)["session"].(object); s["workspaceId"] != "" {
		t.Errorf("%v", s)
	}
	again := c.must("POST", "/api/workspaces", object{"path": folder})
	if again["id"] == w {
		t.Errorf("%v", again)
	}
	until(t, "its one session that is no draft's", func() bool {
		all := c.must("GET", "/api/state", nil)["workspaces"].([]any)
		return all[len(all)-1].(object)["sessionCount"] == 1.0
	})
	bound := c.draft("bind", object{"draftId": d["id"]})["draft"].(object)
	if bound["workspaceId"] != again["id"] || bound["text"] != "mine" {
		t.Errorf("%v", bound)
	}
	c.must("PUT", "/api/workspaces/order", object{"ids": []any{again["id"]}})
	c.must("PATCH", "/api/workspaces/"+again["id"].(string), object{"name": "Mine"})
	until(t, "the new list", func() bool {
		told := events.all("workspaces")
		if len(told) == 0 {
			return false
		}
		var names []string
		for _, one := range told[len(told)-1].data["workspaces"].([]any) {
			names = append(names, one.(object)["name"].(string))
		}
		return slices.Equal(names, []string{"Mine", "Other"})
	})
}

func TestAgentsAreChosen(t *testing.T) {
	env := func(pairs ...string) func(string) string {
		return func(key string) string {
			for i := 0; i < len(pairs); i += 2 {
				if pairs[i] == key {
					return pairs[i+1]
				}
			}
			return ""
		}
	}
	for name, test := range map[string]struct {
		o      standalone.AgentOptions
		config string
		want   string
	}{
		"nothing":           {want: "echo"},
		"a key":             {o: standalone.AgentOptions{Getenv: env("DEEPSEEK_API_KEY", "k")}, want: "openai"},
		"echo all the same": {o: standalone.AgentOptions{Agent: "echo", Getenv: env("OPENAI_API_KEY", "k")}, want: "echo"},
		"a local server":    {config: `{"openai":{"baseUrl":"http://127.0.0.1:1","model":"m"}}`, want: "openai"},
		"a program":         {config: `{"agent":"acp:cat","acp":[["tac"]]}`, want: "acp-cat"},
	} {
		dir := t.TempDir()
		if test.config != "" {
			if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(test.config), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		_, c := start(t, standalone.Options{Home: dir, Agents: test.o})
		if got := c.must("GET", "/api/agents", nil); got["defaultAgent"] != test.want || got["agents"].([]any)[0].(object)["id"] != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	for name, bad := range map[string]struct {
		o      standalone.AgentOptions
		config string
		want   string
	}{
		"no key":     {o: standalone.AgentOptions{Agent: "openai"}, want: "needs a key"},
		"no agent":   {o: standalone.AgentOptions{Agent: "clever"}, want: "no agent"},
		"no command": {o: standalone.AgentOptions{Agent: "acp:"}, want: "needs a command"},
		"a bad file": {config: `{"key":"sk-secret"}`, want: "not as it should be"},
	} {
		dir := t.TempDir()
		if bad.config != "" {
			if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(bad.config), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if bad.o.Getenv == nil {
			bad.o.Getenv = env()
		}
		_, err := standalone.Start(context.Background(), standalone.Options{Home: dir, Binary: binary, Agents: bad.o})
		if err == nil || !strings.Contains(err.Error(), bad.want) || strings.Contains(err.Error(), "sk-secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
