package control

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
	pb "github.com/draft-sessions/dsh-draft-sessions/shared/proto/draftsessionsv1"
)

const envDial = "DRAFT_SESSIONS_TEST_DIAL"

func TestMain(m *testing.M) {
	if socket := os.Getenv(envDial); socket != "" {
		dialAsSomebodyElse(socket)
	}
	goleak.VerifyTestMain(m)
}

// dialAsSomebodyElse is the foreign user's process: it says what became of its connection.
func dialAsSomebodyElse(socket string) {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		os.Stdout.WriteString("no way in")
		os.Exit(0)
	}
	if _, err := conn.Read(make([]byte, 1)); err != nil { // A server of HTTP/2 speaks first.
		os.Stdout.WriteString("shut out")
		os.Exit(0)
	}
	os.Stdout.WriteString("let in")
	os.Exit(0)
}

// service answers Info and one call of the host's own.
type service struct {
	pb.UnimplementedDraftSessionsServer
}

func (service) Info(context.Context, *pb.InfoRequest) (*pb.InfoResponse, error) {
	return &pb.InfoResponse{Version: "test", Protocol: shared.ProtocolVersion}, nil
}

func (service) AfterPrompt(context.Context, *pb.AfterPromptRequest) (*pb.Empty, error) {
	return &pb.Empty{}, nil
}

func store(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "ctl") // t.TempDir may be too long for a socket.
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return filepath.Join(dir, "drafts.json")
}

func serve(t *testing.T, o Options) *Server {
	t.Helper()
	o.Service = service{}
	if o.uid == 0 {
		o.uid = uint32(os.Getuid())
	}
	s, err := listen(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func TestFindsThePlugin(t *testing.T) {
	path := store(t)
	if _, err := Find(t.Context(), path); !errors.Is(err, ErrNone) {
		t.Fatalf("before: %v", err)
	}
	s := serve(t, Options{Store: path})
	for what, want := range map[string]fs.FileMode{s.entry.Socket: 0o600, s.entry.path(): 0o600, filepath.Dir(s.entry.Socket): 0o700} {
		if info, err := os.Stat(what); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", what, info.Mode(), err)
		}
	}
	link := filepath.Join(filepath.Dir(store(t)), "link.json")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, way := range []string{path, link} {
		c, err := Find(t.Context(), way)
		if err != nil {
			t.Fatalf("%s: %v", way, err)
		}
		if c.About.Version != "test" || c.Entry.PID != os.Getpid() {
			t.Errorf("%+v", c)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	s.Close()
	if left, _ := filepath.Glob(filepath.Join(runFolder(path), "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if _, err := Find(t.Context(), path); !errors.Is(err, ErrNone) {
		t.Errorf("after: %v", err)
	}
}

func TestLongPathsGetAFolderOfTheirOwn(t *testing.T) {
	path := filepath.Join(filepath.Dir(store(t)), strings.Repeat("long/", 30), "drafts.json")
	s := serve(t, Options{Store: path})
	// Hosts sweep by the process id in the folder's name (host/sockets.go).
	if name := filepath.Base(filepath.Dir(s.entry.Socket)); len(s.entry.Socket) > maxSocketPath || !strings.HasPrefix(name, fmt.Sprintf("draft-sessions-%d-", os.Getpid())) {
		t.Fatal(s.entry.Socket)
	}
	c, err := Find(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	s.Close()
	if _, err := os.Stat(filepath.Dir(s.entry.Socket)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder stays: %v", err)
	}
}

// What only a host may say is refused to everybody else.
func TestHostCallsAreRefused(t *testing.T) {
	path := store(t)
	serve(t, Options{Store: path})
	c, err := Find(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}()
	if _, err := c.AfterPrompt(t.Context(), &pb.AfterPromptRequest{}); status.Code(errors.Unwrap(err)) != codes.PermissionDenied {
		t.Errorf("AfterPrompt: %v", err)
	}
	stream, err := c.HostChannel(t.Context())
	if err == nil {
		_, err = stream.Recv()
	}
	if status.Code(err) != codes.PermissionDenied {
		t.Errorf("HostChannel: %v", err)
	}
}

// A new call of the contract is given to commands by a decision, not by default.
func TestEveryCallIsDecided(t *testing.T) {
	names := map[string]bool{}
	for _, m := range pb.DraftSessions_ServiceDesc.Methods {
		names[m.MethodName] = true
	}
	for _, s := range pb.DraftSessions_ServiceDesc.Streams {
		names[s.StreamName] = true
	}
	for name := range names {
		if allowed[name] == hostOnly[name] {
			t.Errorf("%s: allowed %v, for the host alone %v", name, allowed[name], hostOnly[name])
		}
	}
	for name := range allowed {
		if !names[name] {
			t.Errorf("%s is no call", name)
		}
	}
}

func TestForeignUsersAreRefused(t *testing.T) {
	path := store(t)
	s := serve(t, Options{Store: path, uid: uint32(os.Getuid()) + 1})
	if c, err := Find(t.Context(), path); shared.CodeOf(err) != shared.SessionUnavailable {
		t.Errorf("the server let somebody else in: %v, %v", c, err)
	}
	if conn, err := dial(t.Context(), s.entry, uint32(os.Getuid())+1); err == nil || !strings.Contains(err.Error(), "user") {
		t.Errorf("a socket of somebody else was used: %v, %v", conn, err)
	}
	wrong := s.entry
	wrong.PID++
	if conn, err := dial(t.Context(), wrong, uint32(os.Getuid())); err == nil || !strings.Contains(err.Error(), "process") {
		t.Errorf("a socket of another process was used: %v, %v", conn, err)
	}
	s.Close()

	// With a real other user, where this one may become it. The folder is opened
	// up, so that only the check of the connection stands in the way.
	s = serve(t, Options{Store: path})
	if os.Getuid() == 0 {
		for file, mode := range map[string]fs.FileMode{filepath.Dir(path): 0o755, runFolder(path): 0o755, s.entry.Socket: 0o666} {
			if err := os.Chmod(file, mode); err != nil {
				t.Fatal(err)
			}
		}
		if got := asUser(t, s.entry.Socket, 65534); got != "shut out" {
			t.Errorf("another user is %s", got)
		}
		if got := asUser(t, s.entry.Socket, 0); got != "let in" {
			t.Errorf("the same user is %s", got)
		}
	}
}

func asUser(t *testing.T, socket string, uid uint32) string {
	t.Helper()
	self, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(filepath.Dir(store(t)), "dial") // Where anybody may run it.
	if err := os.Chmod(filepath.Dir(program), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, self, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program)
	cmd.Env = []string{envDial + "=" + socket}
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

func TestStaleEntriesAreSwept(t *testing.T) {
	path := resolved(store(t))
	if err := privateFolder(runFolder(path)); err != nil {
		t.Fatal(err)
	}
	gone := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	write := func(e Entry) Entry {
		t.Helper()
		e.Store = path
		if err := e.write(); err != nil {
			t.Fatal(err)
		}
		return e
	}
	socket := filepath.Join(runFolder(path), "stale.sock")
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	listener.SetUnlinkOnClose(false) // As a killed process leaves it.
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	// Killed, and nobody has waited for it.
	killed := exec.CommandContext(t.Context(), "sleep", "3600")
	if err := killed.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = killed.Wait() }) // it was killed
	zombie := write(Entry{PID: killed.Process.Pid, Started: startOf(killed.Process.Pid), Machine: machine(), Socket: "/nowhere/z.sock"})
	if err := killed.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); startOf(killed.Process.Pid) != ended; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("a killed process lives")
		}
	}
	dead := write(Entry{PID: gone.Process.Pid, Started: "long ago", Machine: machine(), Socket: socket})
	reused := write(Entry{PID: os.Getppid(), Started: "long ago", Machine: machine(), Socket: "/nowhere/p.sock"})
	abroad := write(Entry{PID: gone.Process.Pid + 1, Started: "long ago", Machine: "another machine", Socket: "/nowhere/a.sock"})
	strange := filepath.Join(runFolder(path), "notes.json")
	if err := os.WriteFile(strange, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Find(t.Context(), path); !errors.Is(err, ErrNone) {
		t.Fatal(err)
	}
	for what, there := range map[string]bool{dead.path(): false, zombie.path(): false, socket: false, reused.path(): false, abroad.path(): true, strange: true} {
		if _, err := os.Lstat(what); (err == nil) != there {
			t.Errorf("%s: there %v, want %v", filepath.Base(what), err == nil, there)
		}
	}
}
