package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"go.uber.org/goleak"

	"github.com/draft-sessions/dsh-draft-sessions/host"
	"github.com/draft-sessions/dsh-draft-sessions/internal/leaks"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
	pb "github.com/draft-sessions/dsh-draft-sessions/shared/proto/draftsessionsv1"
)

var binary string

// suite holds all logs of this package's tests to invariant 11.
var suite leaks.Suite

// testLog is a log at its most talkative, which the suite searches.
func testLog() hclog.Logger {
	return hclog.New(&hclog.LoggerOptions{Output: suite.Log("host"), Level: hclog.Trace, JSONFormat: true})
}

// pluginEnv has the plugin say all that it can.
var pluginEnv = []string{shared.EnvLogLevel + "=trace"}

func TestMain(m *testing.M) {
	if store := os.Getenv("HOST_TEST_HELPER"); store != "" {
		helperHost(store)
		return
	}
	if store := os.Getenv("HOST_TEST_SUPERVISED"); store != "" {
		supervisedHost(store)
		return
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "host-test")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	binary = filepath.Join(dir, "draft-sessions")
	if out, err := exec.Command("go", "build", "-o", binary, "../cmd/draft-sessions").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%s\n", out)
		return 1
	}
	code := m.Run()
	if err := suite.Check(expectedLogs()...); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	// go-plugin leaves one goroutine for the log of each process until its pipe closes.
	if err := goleak.Find(goleak.IgnoreTopFunction("internal/poll.runtime_pollWait")); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// helperHost is a host process of its own, to be killed: it tells its plugin's pid and waits.
func helperHost(store string) {
	p, err := host.Launch(context.Background(), host.Options{Binary: os.Getenv("HOST_TEST_BINARY"), Store: store, Sessions: newFakeSessions(), Name: "test"})
	if err != nil {
		fmt.Println("error", err)
		return
	}
	fmt.Println(p.Pid())
	select {}
}

func launch(t *testing.T, store string, sessions host.Sessions) *host.Plugin {
	t.Helper()
	p, err := host.Launch(t.Context(), host.Options{Binary: binary, Store: store, Sessions: sessions, Name: "test", Version: "1", Log: testLog(), Env: pluginEnv})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// newStore is the path of a new draft file, whose texts at the test's end are what
// no log may hold.
func newStore(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "storages", "drafts.json")
	t.Cleanup(func() {
		data, err := os.ReadFile(path)
		if err != nil {
			return // the test wrote none
		}
		var doc shared.Document
		if json.Unmarshal(data, &doc) != nil {
			return // a test of what is no draft file
		}
		for _, d := range doc.Drafts {
			suite.Secret(d.Text)
		}
	})
	return path
}

// expectedLogs are in the logs when those of the tests that ran were collected.
func expectedLogs() []string {
	if f := flag.Lookup("test.run"); f != nil && f.Value.String() != "" {
		return nil // only some of the tests
	}
	return []string{"reconciled", "drafts are on", "drafts are off", "is started again"}
}

func alive(pid int) bool {
	if err := syscall.Kill(pid, 0); err != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || !strings.Contains(string(stat), ") Z ") // a zombie has ended
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("never: %s", what)
}

// TestStory is the main job without any page: two drafts, edits, a restart, a send.
func TestStory(t *testing.T) {
	store, sessions := newStore(t), newFakeSessions()
	p := launch(t, store, sessions)
	draft := must[*pb.Draft](t)

	gate := must[*pb.GateResponse](t)(p.Client.Gate(t.Context(), &pb.GateRequest{Host: "test", Protocol: shared.ProtocolVersion}))
	if gate.Mode != "full" {
		t.Fatalf("gate: %v", gate)
	}
	a := draft(p.Client.NewDraft(t.Context(), &pb.NewDraftRequest{RecentWorkspaceId: "w1"}))
	b := draft(p.Client.NewDraft(t.Context(), &pb.NewDraftRequest{CurrentSessionId: a.SessionId}))
	if a.SessionId == "" || a.SessionId == b.SessionId || a.State != "ready" {
		t.Fatalf("a %v, b %v", a, b)
	}
	watch := must[pb.DraftSessions_WatchClient](t)(p.Client.Watch(t.Context(), &pb.WatchRequest{}))
	if first := must[*pb.Event](t)(watch.Recv()); len(first.GetSidebar().GetRows()) != 2 {
		t.Fatalf("the first event is %v", first)
	}
	for i, d := range []*pb.Draft{a, b} {
		text := []string{"task A 👩‍💻", "任务 B\r\nsecond line"}[i]
		opened := must[*pb.OpenEditorResponse](t)(p.Client.OpenEditor(t.Context(), &pb.OpenEditorRequest{DraftId: d.Id, EditorId: "page"}))
		edit := &pb.EditRequest{DraftId: d.Id, EditorId: "page", Epoch: opened.Epoch, Generation: opened.Generation, Seq: 2, Text: text, BaseTextRevision: opened.Draft.TextRevision}
		if r := must[*pb.EditResponse](t)(p.Client.Edit(t.Context(), edit)); r.AcceptedSeq != 2 {
			t.Fatalf("accepted %v", r)
		}
		for saved := (*pb.Saved)(nil); saved == nil; {
			if saved = must[*pb.Event](t)(watch.Recv()).GetSaved(); saved != nil && (saved.DraftId != d.Id || saved.Seq != 2 || saved.TextHash != shared.TextHash(text)) {
				t.Fatalf("saved %v", saved)
			}
		}
	}
	p.Close()

	p = launch(t, store, sessions)
	list := must[*pb.ListResponse](t)(p.Client.List(t.Context(), &pb.ListRequest{}))
	texts := map[string]string{}
	for _, d := range list.Drafts {
		texts[d.Id] = d.Text
	}
	if texts[a.Id] != "task A 👩‍💻" || texts[b.Id] != "任务 B\r\nsecond line" {
		t.Fatalf("after the restart: %q", texts)
	}

	admission := must[*pb.Admission](t)(p.Client.BeforePrompt(t.Context(), &pb.BeforePromptRequest{SessionId: a.SessionId, PromptId: "p1", Text: "task A 👩‍💻"}))
	if admission.Decision != pb.Admission_PROCEED || admission.DraftId != a.Id {
		t.Fatalf("admission %v", admission)
	}
	must[*pb.Empty](t)(p.Client.AfterPrompt(t.Context(), &pb.AfterPromptRequest{SessionId: a.SessionId, PromptId: "p1", Accepted: true}))
	sessions.prompt(a.SessionId, "p1")
	observation := &pb.ObserveSessionRequest{SessionId: a.SessionId, Observation: &pb.ObserveSessionRequest_UserMessage{UserMessage: &pb.UserMessage{Seq: 1, PromptId: "p1"}}}
	must[*pb.Empty](t)(p.Client.ObserveSession(t.Context(), observation))
	eventually(t, "a is sent", func() bool {
		_, err := p.Client.Get(t.Context(), &pb.DraftRef{DraftId: a.Id})
		return shared.CodeOf(err) == shared.DraftNotFound
	})
	if left := draft(p.Client.Get(t.Context(), &pb.DraftRef{DraftId: b.Id})); left.Text != texts[b.Id] {
		t.Fatalf("b became %v", left)
	}
	file, err := os.ReadFile(store)
	if err != nil || strings.Contains(string(file), "task A") {
		t.Fatalf("the sent text is still in the file (%v)", err)
	}
}

func TestRecordsOverTheWire(t *testing.T) {
	p := launch(t, newStore(t), newFakeSessions())
	draft := must[*pb.Draft](t)
	d := draft(p.Client.Create(t.Context(), &pb.CreateRequest{WorkspaceId: "w1", Text: "one"}))
	title, pinned := "Named", true
	d2 := draft(p.Client.Update(t.Context(), &pb.UpdateRequest{DraftId: d.Id, ExpectedRevision: d.Revision, Title: &title, Pinned: &pinned}))
	if d2.Title != "Named" || !d2.Pinned || d2.Revision <= d.Revision || d2.TextRevision != d.TextRevision {
		t.Fatalf("updated %v", d2)
	}
	copied := draft(p.Client.Duplicate(t.Context(), &pb.DraftRef{DraftId: d.Id}))
	must[*pb.Sidebar](t)(p.Client.Reorder(t.Context(), &pb.ReorderRequest{WorkspaceId: "w1", DraftIds: []string{copied.Id, d.Id}}))
	must[*pb.DeleteResponse](t)(p.Client.Delete(t.Context(), &pb.RevisionRef{DraftId: copied.Id}))
	if trash := must[*pb.ListTrashResponse](t)(p.Client.ListTrash(t.Context(), &pb.ListTrashRequest{})); len(trash.Entries) != 1 || trash.Entries[0].Draft.Text != "one" {
		t.Fatalf("trash %v", trash)
	}
	if back := draft(p.Client.Restore(t.Context(), &pb.DraftRef{DraftId: copied.Id})); back.Text != "one" {
		t.Fatalf("restored %v", back)
	}

	for _, c := range []struct {
		name string
		want shared.Code
		call func() error
	}{
		{"unknown draft", shared.DraftNotFound, func() error { _, err := p.Client.Get(t.Context(), &pb.DraftRef{DraftId: "x"}); return err }},
		{"stale revision", shared.DraftStaleRevision, func() error {
			_, err := p.Client.Update(t.Context(), &pb.UpdateRequest{DraftId: d.Id, ExpectedRevision: d.Revision, Title: &title})
			return err
		}},
		{"bad content", shared.DraftInvalidInput, func() error {
			content := `{"secret task":1}`
			_, err := p.Client.Update(t.Context(), &pb.UpdateRequest{DraftId: d.Id, ExpectedRevision: d2.Revision, ContentJson: &content})
			if err != nil && strings.Contains(err.Error(), "secret") { // invariant 11
				t.Errorf("the error quotes the input: %v", err)
			}
			return err
		}},
		{"unknown editor", shared.OperationUnknown, func() error {
			_, err := p.Client.Edit(t.Context(), &pb.EditRequest{DraftId: d.Id, EditorId: "none", Seq: 1})
			return err
		}},
	} {
		var coded *shared.Error
		if err := c.call(); !errors.As(err, &coded) || coded.Code != c.want {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
}

func TestRefusalOfTheHostIsOnTheDraft(t *testing.T) {
	sessions := newFakeSessions()
	p := launch(t, newStore(t), sessions)
	sessions.setRefusal(&host.Refusal{Code: "agent-preset-not-found", Message: "no such preset"})
	d := must[*pb.Draft](t)(p.Client.NewDraft(t.Context(), &pb.NewDraftRequest{WorkspaceId: "w1", Text: "kept"}))
	if d.State != "error" || !strings.Contains(d.LastError, "no such preset") || d.Text != "kept" {
		t.Fatalf("%v", d)
	}
	sessions.setRefusal(nil)
	if b := must[*pb.BindResponse](t)(p.Client.Bind(t.Context(), &pb.DraftRef{DraftId: d.Id})); b.Draft.State != "ready" || b.Draft.LastError != "" {
		t.Fatalf("%v", b)
	}
}

// Invariant 1: killed right after "saved", nothing that was acknowledged is lost.
func TestKilledPlugin(t *testing.T) {
	store, sessions := newStore(t), newFakeSessions()
	p := launch(t, store, sessions)
	d := must[*pb.Draft](t)(p.Client.NewDraft(t.Context(), &pb.NewDraftRequest{WorkspaceId: "w1"}))
	opened := must[*pb.OpenEditorResponse](t)(p.Client.OpenEditor(t.Context(), &pb.OpenEditorRequest{DraftId: d.Id, EditorId: "e"}))
	must[*pb.EditResponse](t)(p.Client.Edit(t.Context(), &pb.EditRequest{DraftId: d.Id, EditorId: "e", Epoch: opened.Epoch, Generation: opened.Generation, Seq: 2, Text: "acknowledged"}))
	must[*pb.FlushResponse](t)(p.Client.Flush(t.Context(), &pb.FlushRequest{}))
	if err := syscall.Kill(p.Pid(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.Gone():
	case <-time.After(10 * time.Second):
		t.Fatal("the host did not notice")
	}
	p.Close()
	p = launch(t, store, sessions)
	if got := must[*pb.Draft](t)(p.Client.Get(t.Context(), &pb.DraftRef{DraftId: d.Id})); got.Text != "acknowledged" {
		t.Fatalf("%v", got)
	}
	_, err := p.Client.Edit(t.Context(), &pb.EditRequest{DraftId: d.Id, EditorId: "e", Epoch: opened.Epoch, Generation: opened.Generation, Seq: 3, Text: "x"})
	if shared.CodeOf(err) != shared.OperationUnknown {
		t.Fatalf("an editor of the dead process: %v", err)
	}
}

// Invariant 9: closing saves what was accepted and leaves no process.
func TestCloseSavesAndEnds(t *testing.T) {
	store := newStore(t)
	p := launch(t, store, newFakeSessions())
	d := must[*pb.Draft](t)(p.Client.NewDraft(t.Context(), &pb.NewDraftRequest{WorkspaceId: "w1"}))
	opened := must[*pb.OpenEditorResponse](t)(p.Client.OpenEditor(t.Context(), &pb.OpenEditorRequest{DraftId: d.Id, EditorId: "e"}))
	must[*pb.EditResponse](t)(p.Client.Edit(t.Context(), &pb.EditRequest{DraftId: d.Id, EditorId: "e", Epoch: opened.Epoch, Generation: opened.Generation, Seq: 2, Text: "marmalade words"}))
	p.Close()
	if alive(p.Pid()) {
		t.Error("the process is still there")
	}
	file, err := os.ReadFile(store)
	if err != nil || !strings.Contains(string(file), "marmalade words") {
		t.Errorf("not saved (%v)", err)
	}
}

// Invariant 9: a stopped process answers nothing; calls end, and so does it.
func TestHungPlugin(t *testing.T) {
	p := launch(t, newStore(t), newFakeSessions())
	if err := syscall.Kill(p.Pid(), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a call ends without an answer", func() bool { // the signal takes a moment
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		_, err := p.Client.Info(ctx, &pb.InfoRequest{})
		return err != nil
	})
	p.Close()
	if alive(p.Pid()) {
		t.Error("the process is still there")
	}
}

// Invariant 9: the host dies by SIGKILL; the plugin notices by itself.
func TestNoOrphan(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "HOST_TEST_HELPER="+newStore(t), "HOST_TEST_BINARY="+binary)
	out := must[interface {
		Read([]byte) (int, error)
		Close() error
	}](t)(cmd.StdoutPipe())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 100)
	n, err := out.Read(buf)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(buf[:n])))
	if err != nil || !alive(pid) {
		t.Fatalf("the helper said %q", buf[:n])
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	eventually(t, "the plugin ends", func() bool { return !alive(pid) })
}

// Invariant 8: what cannot start tells why and leaves nothing.
func TestBinariesThatAreNoPlugin(t *testing.T) {
	script := func(body string) string {
		path := filepath.Join(t.TempDir(), "plugin")
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, c := range []struct{ name, binary, want string }{
		{"missing", filepath.Join(t.TempDir(), "none"), "no such file"},
		{"ends at once", script("echo 'I cannot' >&2\nexit 3\n"), "I cannot"},
		{"garbage", script("echo hello\nexec sleep 60\n"), "starting the plugin"},
		{"garbage, with a child that holds the output", script("sleep 60 &\necho hello\nwait\n"), "starting the plugin"},
		{"silent, with a child that holds the output", script("sleep 60 &\nwait\n"), "timeout"},
		{"silent", script("exec sleep 60\n"), "timeout"},
	} {
		t.Run(c.name, func(t *testing.T) {
			started := time.Now()
			_, err := host.Launch(t.Context(), host.Options{Binary: c.binary, Name: "test", Store: newStore(t), Sessions: newFakeSessions(), StartTimeout: time.Second})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v", err)
			}
			if took := time.Since(started); took > 10*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}
