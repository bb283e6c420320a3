package host_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/draft-sessions/dsh-draft-sessions/host"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
	"github.com/draft-sessions/dsh-draft-sessions/shared/compat"
	"github.com/draft-sessions/dsh-draft-sessions/shared/manifest"
	pb "github.com/draft-sessions/dsh-draft-sessions/shared/proto/draftsessionsv1"
)

// patience is how long a test waits for what must happen.
const patience = 60 * time.Second

func supervision(t *testing.T) host.Supervision {
	return host.Supervision{Options: host.Options{Binary: binary, Store: newStore(t), Sessions: newFakeSessions(), Name: "test", Version: "1", Log: testLog(), Env: pluginEnv}}
}

func supervise(t *testing.T, o host.Supervision) *host.Supervisor {
	t.Helper()
	s := host.Supervise(t.Context(), o)
	t.Cleanup(s.Close)
	return s
}

func await(t *testing.T, s *host.Supervisor, modes ...host.Mode) host.Status {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	status, err := s.Await(ctx, modes...)
	if err != nil {
		t.Fatalf("awaited %v: %v, it is %+v", modes, err, s.Status())
	}
	return status
}

// Invariants 1 and 8: a killed process comes back with what was saved; the host
// lives, and says what happened meanwhile.
func TestSupervisorBringsThePluginBack(t *testing.T) {
	s := supervise(t, supervision(t))
	first := await(t, s, host.Full)
	client := must[pb.DraftSessionsClient](t)(s.Client())
	d := must[*pb.Draft](t)(client.NewDraft(t.Context(), &pb.NewDraftRequest{WorkspaceId: "w1", Text: "kept"}))
	if err := syscall.Kill(first.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	paused := await(t, s, host.Paused)
	if len(paused.Reasons) != 1 || paused.Reasons[0].Code != host.PluginCrashed || !strings.Contains(paused.Reasons[0].Found, "killed") {
		t.Errorf("%+v", paused)
	}
	if _, err := s.Client(); shared.CodeOf(err) != shared.OperationUnknown {
		t.Errorf("a client while it is away: %v", err)
	}
	second := await(t, s, host.Full)
	if second.Pid == first.Pid || second.Epoch == first.Epoch || alive(first.Pid) {
		t.Errorf("first %+v, second %+v", first, second)
	}
	client = must[pb.DraftSessionsClient](t)(s.Client())
	if got := must[*pb.Draft](t)(client.Get(t.Context(), &pb.DraftRef{DraftId: d.Id})); got.Text != "kept" || got.SessionId != d.SessionId {
		t.Errorf("%v", got)
	}
	s.Close()
	if alive(second.Pid) {
		t.Error("the process is still there")
	}
}

// Invariant 8: each miss of the gate means stock with its own reason, at once and
// for good, and leaves no process.
func TestSupervisorPassesTheGateInOrder(t *testing.T) {
	for _, c := range []struct {
		name, code string
		spoil      func(t *testing.T, o *host.Supervision)
	}{
		{"no manifest", manifest.Missing, func(t *testing.T, o *host.Supervision) { remove(t, filepath.Dir(o.Binary), manifest.File) }},
		{"no binary", manifest.BinaryMissing, func(t *testing.T, o *host.Supervision) { remove(t, filepath.Dir(o.Binary), filepath.Base(o.Binary)) }},
		{"a changed binary", manifest.ChecksumMismatch, func(t *testing.T, o *host.Supervision) {
			file := must[*os.File](t)(os.OpenFile(o.Binary, os.O_APPEND|os.O_WRONLY, 0))
			must[int](t)(file.WriteString("x"))
			if err := file.Close(); err != nil {
				t.Fatal(err)
			}
		}},
		{"of another platform", manifest.BinaryPlatform, func(t *testing.T, o *host.Supervision) { describe(t, o.Binary, "plan9", shared.ProtocolVersion) }},
		{"of another protocol", compat.ProtocolMismatch, func(t *testing.T, o *host.Supervision) {
			describe(t, o.Binary, runtime.GOOS, shared.ProtocolVersion+1)
		}},
		{"that is none", manifest.BinaryPlatform, func(t *testing.T, o *host.Supervision) {
			rewrite(t, o.Binary, "\x7fELF\x02\x01\x01 nothing", 0o755)
		}},
		{"that may not be run", manifest.BinaryMissing, func(t *testing.T, o *host.Supervision) { rewrite(t, o.Binary, "#!/bin/sh\n", 0o644) }},
		{"that is no plugin", compat.ProtocolMismatch, func(t *testing.T, o *host.Supervision) {
			rewrite(t, o.Binary, "#!/bin/sh\necho hello\nexec sleep 300\n", 0o755)
		}},
		{"of another handshake", compat.ProtocolMismatch, func(t *testing.T, o *host.Supervision) {
			rewrite(t, o.Binary, "#!/bin/sh\necho '1|99|unix|/nowhere|grpc|'\nexec sleep 300\n", 0o755)
		}},
		{"in a host that was not tested", compat.HostVersionMismatch, func(t *testing.T, o *host.Supervision) {
			o.Facts = func(context.Context) (*pb.GateRequest, error) {
				return &pb.GateRequest{Host: "dsh", HostVersion: "9.9.9", NodeVersion: "24.0.0", Packages: map[string]string{gatePackage: "0.1.0-rc.8"}, Probed: []string{"none"}}, nil
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := supervision(t)
			o.Binary = copyBinary(t)
			o.RequireManifest = true
			describe(t, o.Binary, runtime.GOOS, shared.ProtocolVersion)
			c.spoil(t, &o)
			s := supervise(t, o)
			status := await(t, s, host.Stock)
			if len(status.Reasons) != 1 || status.Reasons[0].Code != c.code || status.Reasons[0].Message == "" || status.Rearmable {
				t.Errorf("%+v", status)
			}
			s.Rearm()
			s.Close()
			noneOf(t, o.Binary)
		})
	}
}

// The last words of a process that cannot start are in the reason, and a person
// may wish for another try once the cause is gone.
func TestSupervisorSaysTheLastWords(t *testing.T) {
	o := supervision(t)
	o.Binary = filepath.Join(t.TempDir(), "draft-sessions")
	mended := o.Binary + ".mended"
	script := fmt.Sprintf("#!/bin/sh\n[ -e %s ] && exec %s \"$@\"\necho 'I am not well' >&2\nexit 3\n", mended, binary)
	rewriteOnly(t, o.Binary, script, 0o755)
	s := supervise(t, o)
	status := await(t, s, host.Stock)
	if !status.Rearmable || len(status.Reasons) != 1 || status.Reasons[0].Code != host.PluginStartFailed || !strings.Contains(status.Reasons[0].Found, "I am not well") {
		t.Fatalf("%+v", status)
	}
	rewriteOnly(t, mended, "", 0o600)
	s.Rearm()
	await(t, s, host.Full)
}

// Invariant 9: what hosts that were killed left behind is swept, and nothing else.
func TestOldSocketFoldersAreSwept(t *testing.T) {
	store := newStore(t)
	temp, err := os.MkdirTemp("", "sw") // short, as a socket's folder must be
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(temp) })
	t.Setenv("TMPDIR", temp)
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	mkdir := func(format string, a ...any) string {
		dir := filepath.Join(temp, fmt.Sprintf(format, a...))
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	old := mkdir("draft-sessions-%d-x", gone.Process.Pid)
	kept := []string{mkdir("draft-sessions-%d-x", os.Getpid()), mkdir("draft-sessions-other"), mkdir("other-%d-x", gone.Process.Pid)}
	p := launch(t, store, newFakeSessions())
	if _, err := os.Stat(old); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder of a host that is gone: %v", err)
	}
	for _, dir := range kept {
		if _, err := os.Stat(dir); err != nil {
			t.Errorf("swept what is not a gone host's: %v", err)
		}
	}
	p.Close()
	if left := must[[]os.DirEntry](t)(os.ReadDir(temp)); len(left) != len(kept) {
		t.Errorf("%v are left", left)
	}
}

// Invariants 1 and 9: a host that is told to end ends its plugin, which saves.
func TestHostToldToEnd(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(sig.String(), func(t *testing.T) {
			store := newStore(t)
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "HOST_TEST_SUPERVISED="+store, "HOST_TEST_BINARY="+binary)
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
			if err != nil {
				t.Fatalf("the helper said %q", buf[:n])
			}
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("the host ended with %v", err)
			}
			if alive(pid) {
				t.Error("the plugin outlives its host")
			}
			if file, err := os.ReadFile(store); err != nil || !strings.Contains(string(file), "marmalade words") {
				t.Errorf("not saved (%v)", err)
			}
		})
	}
}

// supervisedHost is a host process of its own: it accepts an edit, tells its
// plugin's pid and waits for a signal.
func supervisedHost(store string) {
	ctx, stop := host.UntilSignal(context.Background())
	defer stop()
	s := host.Supervise(ctx, host.Supervision{Options: host.Options{Binary: os.Getenv("HOST_TEST_BINARY"), Store: store, Sessions: newFakeSessions(), Name: "test"}})
	status, err := s.Await(ctx, host.Full)
	if err == nil {
		err = acceptEdit(ctx, s, "marmalade words")
	}
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	fmt.Println(status.Pid)
	<-s.Done()
}

// acceptEdit makes a draft and has an edit of it accepted, not yet saved.
func acceptEdit(ctx context.Context, s *host.Supervisor, text string) error {
	client, err := s.Client()
	if err != nil {
		return err
	}
	d, err := client.NewDraft(ctx, &pb.NewDraftRequest{WorkspaceId: "w1"})
	if err != nil {
		return err
	}
	opened, err := client.OpenEditor(ctx, &pb.OpenEditorRequest{DraftId: d.Id, EditorId: "e"})
	if err != nil {
		return err
	}
	_, err = client.Edit(ctx, &pb.EditRequest{DraftId: d.Id, EditorId: "e", Epoch: opened.Epoch, Generation: opened.Generation, Seq: 1, Text: text})
	return err
}

// copyBinary is the plugin in a folder of its own.
func copyBinary(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "draft-sessions")
	data, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func describe(t *testing.T, binary, goos string, protocol int) {
	t.Helper()
	if _, err := manifest.Write(binary, "0.1.0", []int{protocol}, goos, runtime.GOARCH); err != nil {
		t.Fatal(err)
	}
}

// rewrite puts something else into the binary's place, with a manifest that fits.
func rewrite(t *testing.T, binary, content string, mode os.FileMode) {
	t.Helper()
	rewriteOnly(t, binary, content, mode)
	describe(t, binary, runtime.GOOS, shared.ProtocolVersion)
}

func rewriteOnly(t *testing.T, path, content string, mode os.FileMode) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.Remove(filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

// noneOf checks that no process runs a binary.
func noneOf(t *testing.T, binary string) {
	t.Helper()
	if out, err := exec.Command("pgrep", "-f", binary).Output(); err == nil {
		t.Errorf("still running: %s", out)
	}
}
