package host_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/draft-sessions/dsh-draft-sessions/host"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
	pb "github.com/draft-sessions/dsh-draft-sessions/shared/proto/draftsessionsv1"
)

// Invariants 8 and 9: a plugin that lies or hangs after a good handshake is
// refused in time, with a reason, and is gone.
func TestPluginsThatLieOrHang(t *testing.T) {
	odd := filepath.Join(t.TempDir(), "odd")
	if out, err := exec.Command("go", "build", "-o", odd, "./testdata/oddplugin").CombinedOutput(); err != nil {
		t.Fatalf("%s", out)
	}
	for how, want := range map[string]string{
		"another protocol": "protocol",
		"mute":             "who it is",
		"never ready":      "to be ready",
		"no channel":       "closed the host channel",
	} {
		t.Run(how, func(t *testing.T) {
			started := time.Now()
			p, err := host.Launch(t.Context(), host.Options{Binary: odd, Name: "test", Store: newStore(t), Sessions: newFakeSessions(), StartTimeout: 2 * time.Second, Env: []string{"ODD=" + how}})
			if err == nil {
				p.Close()
			}
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v", err)
			}
			if took := time.Since(started); took > 8*time.Second {
				t.Errorf("took %v", took)
			}
			if out, err := exec.Command("pgrep", "-f", odd).Output(); err == nil {
				t.Errorf("still running: %s", out)
			}
		})
	}
}

// Invariant 9: what a failed plugin started ends with it and delays nobody.
func TestChildrenOfAFailedPluginEnd(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "plugin")
	if err := os.WriteFile(binary, []byte("#!/bin/sh\nsleep 60 &\necho $! > \"$0.child\"\necho hello\nwait\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	started := time.Now()
	if _, err := host.Launch(t.Context(), host.Options{Binary: binary, Name: "test", Store: newStore(t), Sessions: newFakeSessions(), StartTimeout: 5 * time.Second}); err == nil {
		t.Fatal("it started")
	}
	if took := time.Since(started); took > 10*time.Second {
		t.Errorf("took %v", took)
	}
	data, err := os.ReadFile(binary + ".child")
	if err != nil {
		t.Fatal(err)
	}
	pid := must[int](t)(strconv.Atoi(strings.TrimSpace(string(data))))
	eventually(t, "the child ends", func() bool { return !alive(pid) })
}

// Invariant 9: what left the plugin's group and holds its output is not ended by
// us, but delays nobody for longer than the limits say.
func TestChildThatLeftTheGroupDelaysNobody(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "plugin")
	script := "#!/bin/sh\nsetsid sh -c 'echo $$ > \"$0.child\"; exec sleep 300' \"$0\" &\nwhile [ ! -s \"$0.child\" ]; do :; done\necho hello\nwait\n"
	if err := os.WriteFile(binary, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	returned := make(chan error, 1)
	go func() {
		_, err := host.Launch(t.Context(), host.Options{Binary: binary, Name: "test", Store: newStore(t), Sessions: newFakeSessions(), StartTimeout: 30 * time.Second})
		returned <- err
	}()
	select {
	case err := <-returned:
		if err == nil {
			t.Error("it started")
		}
	case <-time.After(60 * time.Second):
		t.Error("the launch waits for a process that is not its own")
	}
	data, err := os.ReadFile(binary + ".child")
	if err != nil {
		t.Fatal(err)
	}
	pid := must[int](t)(strconv.Atoi(strings.TrimSpace(string(data))))
	if !alive(pid) {
		t.Error("a process that is not ours was ended")
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the child ends", func() bool { return !alive(pid) })
}

// Every error says its code once, wherever it comes from.
func TestErrorsSayTheirCodeOnce(t *testing.T) {
	sessions := newFakeSessions()
	p := launch(t, newStore(t), sessions)
	_, err := p.Client.Get(t.Context(), &pb.DraftRef{DraftId: "none"})
	if code := shared.CodeOf(err); code != shared.DraftNotFound || strings.Count(err.Error(), string(code)) != 1 {
		t.Errorf("says %q", err)
	}
	sessions.fail = shared.Errorf(shared.SessionUnavailable, "no session today")
	d := must[*pb.Draft](t)(p.Client.NewDraft(t.Context(), &pb.NewDraftRequest{WorkspaceId: "w1"}))
	_, err = p.Client.Bind(t.Context(), &pb.DraftRef{DraftId: d.Id})
	if code := shared.CodeOf(err); code != shared.SessionUnavailable || strings.Count(err.Error(), string(code)) != 1 || !strings.Contains(err.Error(), "no session today") {
		t.Errorf("says %q", err)
	}
}

// Invariant 9: closing takes its time with nobody.
func TestHungPluginIsClosedInTime(t *testing.T) {
	p := launch(t, newStore(t), newFakeSessions())
	if err := syscall.Kill(p.Pid(), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	started := time.Now()
	p.Close()
	if took := time.Since(started); took > 7*time.Second {
		t.Errorf("took %v", took)
	}
	eventually(t, "the process ends", func() bool { return !alive(p.Pid()) })
}

// Invariants 1 and 9: a process that is told to end saves what it has accepted.
func TestTerminatedPluginSavesAndEnds(t *testing.T) {
	store := newStore(t)
	p := launch(t, store, newFakeSessions())
	d := must[*pb.Draft](t)(p.Client.NewDraft(t.Context(), &pb.NewDraftRequest{WorkspaceId: "w1"}))
	opened := must[*pb.OpenEditorResponse](t)(p.Client.OpenEditor(t.Context(), &pb.OpenEditorRequest{DraftId: d.Id, EditorId: "e"}))
	must[*pb.EditResponse](t)(p.Client.Edit(t.Context(), &pb.EditRequest{DraftId: d.Id, EditorId: "e", Epoch: opened.Epoch, Generation: opened.Generation, Seq: 1, Text: "marmalade words"}))
	if err := syscall.Kill(p.Pid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.Gone():
	case <-time.After(10 * time.Second):
		t.Fatal("the host did not notice")
	}
	eventually(t, "the process ends", func() bool { return !alive(p.Pid()) })
	if file, err := os.ReadFile(store); err != nil || !strings.Contains(string(file), "marmalade words") {
		t.Errorf("not saved (%v)", err)
	}
}

// Invariant 8: the gate knows the packages that it was told of.
func TestGateOverTheWire(t *testing.T) {
	p := launch(t, newStore(t), newFakeSessions())
	for name, c := range map[string]struct {
		packages map[string]string
		want     string
	}{
		"as tested": {map[string]string{gatePackage: "0.1.0-rc.8"}, "full"},
		"another":   {map[string]string{gatePackage: "9.9.9"}, "stock"},
		"missing":   {nil, "stock"},
	} {
		r := &pb.GateRequest{Host: "dsh", HostVersion: "0.1.0-rc.8", NodeVersion: "24.0.0", Packages: c.packages, Protocol: shared.ProtocolVersion, Probed: []string{"page"}, Features: pageFeatures}
		if got := must[*pb.GateResponse](t)(p.Client.Gate(t.Context(), r)); got.Mode != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// pageFeatures are those that compatibility.json asks of a page.
var pageFeatures = []string{"page.remote", "page.locale", "page.sessions", "page.workspaces", "page.composer", "page.sidebar", "page.connect"}

const gatePackage = "@deepseek-ai/dsh-client-ui-workspace"
