package standalone_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/eventlog"
)

// rounds is how many scripted sessions are killed: 1,000 in soak.
func rounds() int {
	switch {
	case os.Getenv("DRAFT_SESSIONS_SOAK") != "":
		return 1000
	case testing.Short():
		return 4
	}
	return 40
}

// Invariants 1, 2, 9 and 10: host, plugin or agent are killed at random points of
// scripted sessions. No acknowledged text is lost, no prompt runs twice, every
// session's log opens, and no process is left.
func TestKilledAnywhere(t *testing.T) {
	m := newModel(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	k := &killing{t: t, dir: t.TempDir(), folder: t.TempDir(), counts: filepath.Join(t.TempDir(), "prompts"), agent: self, model: m, said: map[string]string{}}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	k.random = rand.New(rand.NewPCG(seed, 1))
	for round := range rounds() {
		k.round(round)
		if t.Failed() {
			t.Fatalf("in round %d", round)
		}
	}
	t.Logf("killed in %d rounds: %d texts were acknowledged, %d prompts accepted", rounds(), k.acknowledged, k.accepted)
	if k.acknowledged == 0 && rounds() >= 40 {
		t.Error("nothing was acknowledged, so nothing was tested")
	}
}

type killing struct {
	t           *testing.T
	random      *rand.Rand
	dir, folder string
	counts      string
	agent       string
	model       *model
	// said are the acknowledged texts by draft.
	said    map[string]string
	prompts []string
	// acknowledged and accepted count the texts and prompts.
	acknowledged, accepted int
	// stderr is what the host that was started last wrote there.
	stderr bytes.Buffer
	// calls are how many the script of this round has begun.
	calls atomic.Int64
}

// scriptCalls is how many calls a script makes when nothing fails.
const scriptCalls = 9

// awaitStep waits until the script is at that call, or has ended.
func (k *killing) awaitStep(call int64, done <-chan struct{}) {
	for k.calls.Load() < call {
		select {
		case <-done:
			return
		case <-time.After(time.Millisecond):
		}
	}
}

// round starts a host, lets a script run, kills something, and looks what is there
// when a host has come back.
func (k *killing) round(n int) {
	useProgram := k.random.IntN(2) == 0
	victim := []string{"host", "plugin", "agent"}[k.random.IntN(3)]
	host := k.start(useProgram)
	c := connect(k.t, k.dir)
	k.awaitDrafts(c)
	w := c.workspace()
	ctx, cancel := context.WithCancel(k.t.Context())
	done := make(chan struct{})
	k.calls.Store(0)
	go func() { defer close(done); k.script(ctx, c, w, n) }()
	k.awaitStep(int64(k.random.IntN(scriptCalls+1)), done)
	time.Sleep(time.Duration(k.random.IntN(5000)) * time.Microsecond) // any point of the call will do
	plugins, agents := childrenOf(c.PID, binary, "plugin"), childrenOf(c.PID, k.agent)
	for _, pid := range map[string][]int{"host": {c.PID}, "plugin": plugins, "agent": agents}[victim] {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			k.t.Fatal(err)
		}
	}
	if victim == "host" {
		cancel()
	}
	<-done
	cancel()
	if victim != "host" {
		if err := host.Process.Signal(syscall.SIGTERM); err != nil {
			k.t.Fatal(err)
		}
	}
	_ = host.Wait() // killed, or ended with an agent's death in its log
	for _, pid := range append(plugins, agents...) {
		until(k.t, fmt.Sprintf("the end of process %d after its host", pid), func() bool { return !alive(pid) })
	}
	k.look(useProgram)
}

func (k *killing) awaitDrafts(c *client) {
	k.t.Helper()
	until(k.t, "the drafts", func() bool {
		status, _, err := c.call("POST", "/api/drafts/list", object{})
		return err == nil && status == 200
	})
}

func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !bytes.Contains(stat, []byte(") Z "))
}

func (k *killing) start(useProgram bool) *exec.Cmd {
	k.t.Helper()
	args := []string{"up", "--home", k.dir, "--listen", "127.0.0.1:0", "--no-open", "--model", "m", "--base-url", k.model.server.URL, "--agent", "openai"}
	if useProgram {
		args[len(args)-1] = "acp:'" + k.agent + "'"
	}
	cmd := exec.Command(binary, append(args, k.folder)...)
	cmd.Env = append(os.Environ(), countingAgent+"="+k.counts)
	k.stderr.Reset()
	cmd.Stderr = &k.stderr
	if err := cmd.Start(); err != nil {
		k.t.Fatal(err)
	}
	return cmd
}

// script writes two drafts, and sends one of them. What the host acknowledged is
// remembered; it ends when something fails.
func (k *killing) script(ctx context.Context, c *client, w string, n int) {
	try := func(path string, body object) (object, bool) {
		if ctx.Err() != nil {
			return nil, false
		}
		k.calls.Add(1)
		status, answer, err := c.call("POST", path, body)
		return answer, err == nil && status/100 == 2
	}
	var ids []string
	for i := range 2 {
		// While the plugin is being started, a draft is not made.
		d, ok := try("/api/drafts/new", object{"workspaceId": w})
		if !ok {
			return
		}
		id := d["id"].(string)
		opened, ok := try("/api/drafts/open-editor", object{"draftId": id, "editorId": "e"})
		if !ok {
			return
		}
		text := fmt.Sprintf("prompt %d-%d", n, i)
		if _, ok = try("/api/drafts/edit", object{"draftId": id, "editorId": "e", "generation": opened["generation"], "epoch": opened["epoch"], "seq": 1, "text": text, "baseTextRevision": 1}); !ok {
			return
		}
		if _, ok = try("/api/drafts/flush", object{"draftId": id}); !ok {
			return
		}
		k.said[id] = text
		k.acknowledged++
		ids = append(ids, id)
	}
	k.prompts = append(k.prompts, k.said[ids[0]])
	submission := fmt.Sprintf("s%d", n)
	for range 3 { // a sender who hears nothing repeats the same request
		if _, ok := try("/api/drafts/send", object{"draftId": ids[0], "submissionId": submission}); ok {
			k.accepted++
			return
		}
	}
}

// look starts a host that nobody kills and compares.
func (k *killing) look(useProgram bool) {
	host := k.start(useProgram)
	defer func() {
		if err := host.Process.Signal(syscall.SIGTERM); err != nil {
			k.t.Error(err)
		}
		if err := host.Wait(); err != nil {
			k.t.Errorf("the host ended with %v: %s", err, k.stderr.String())
		}
	}()
	c := connect(k.t, k.dir)
	k.awaitDrafts(c)
	found := map[string]bool{}
	for _, d := range c.draft("list", object{})["drafts"].([]any) {
		found[d.(object)["text"].(string)] = true
	}
	files, err := filepath.Glob(filepath.Join(k.dir, "sessions", "*.jsonl"))
	if err != nil {
		k.t.Fatal(err)
	}
	for _, file := range files {
		session := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		status, answer, err := c.call("GET", "/api/sessions/"+session+"?html=0&limit=2000", nil)
		if status == 404 {
			continue // its creation was never acknowledged
		}
		if err != nil || status != 200 || answer["session"].(object)["damaged"] != "" {
			k.t.Errorf("session %s: %d, %v, %v", session, status, answer["session"], err)
			continue
		}
		for _, e := range answer["events"].([]any) {
			if e := e.(object); e["type"] == "user/message" {
				found[e["data"].(object)["text"].(string)] = true
			}
		}
	}
	for id, text := range k.said {
		if !found[text] {
			k.t.Errorf("the acknowledged text of draft %s, %q, is lost", id, text)
		}
	}
	counted, err := os.ReadFile(k.counts)
	if err != nil && !os.IsNotExist(err) {
		k.t.Fatal(err)
	}
	for _, prompt := range k.prompts {
		if times := k.model.count(prompt) + strings.Count(string(counted), prompt+"\n"); times > 1 {
			k.t.Errorf("%q ran %d times", prompt, times)
		}
	}
	k.tidy(c)
}

// tidy deletes what is over a handful of drafts, so that the limit is not what is tested.
func (k *killing) tidy(c *client) {
	drafts := c.draft("list", object{})["drafts"].([]any)
	for _, d := range drafts[:max(0, len(drafts)-20)] {
		id := d.(object)["id"].(string)
		status, answer, err := c.call("POST", "/api/drafts/delete", object{"draftId": id})
		// Its send may have come to its end since the list was made; the look has found its text.
		sent := status == 404 && answer["code"] == "DRAFT_NOT_FOUND"
		if err != nil || (status/100 != 2 && !sent) {
			k.t.Errorf("delete %s: %d, %v, %v", id, status, answer, err)
		}
		delete(k.said, id)
	}
	for id, text := range k.said { // what was sent was seen; only drafts are looked for again
		for _, prompt := range k.prompts {
			if text == prompt {
				delete(k.said, id)
			}
		}
	}
}

// A log that a killed host left is whole or has a torn end that is kept.
func TestKilledHostsLogsAreWhole(t *testing.T) {
	dir, folder := t.TempDir(), t.TempDir()
	k := &killing{t: t, dir: dir, folder: folder, counts: filepath.Join(t.TempDir(), "prompts"), model: newModel(t)}
	host := k.start(false)
	c := connect(t, dir)
	s := c.must("POST", "/api/sessions", object{"workspaceId": c.workspace(), "sessionId": "s"})["id"].(string)
	c.must("POST", "/api/sessions/"+s+"/prompts", object{"submissionId": "p", "text": "x"})
	if err := syscall.Kill(c.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = host.Wait() // it was killed
	log, events, err := eventlog.Open(filepath.Join(dir, "sessions", "s.jsonl"), time.Now)
	if err != nil || log.Damage() != nil || len(events) < 3 || events[2].Type != "user/message" {
		t.Errorf("%v, %v, %v", events, log.Damage(), err)
	}
}
