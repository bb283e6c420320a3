package plugin

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/draft-sessions/dsh-draft-sessions/plugin/drafts"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
	"github.com/draft-sessions/dsh-draft-sessions/shared/compat"
	pb "github.com/draft-sessions/dsh-draft-sessions/shared/proto/draftsessionsv1"
)

// hostStream is the plugin's end of a host channel whose host the test plays.
type hostStream struct {
	grpc.ServerStream
	ctx     context.Context
	replies chan *pb.HostReply // closed when the host ends
	calls   chan *pb.HostCall
}

func newHostStream(t *testing.T) *hostStream {
	return &hostStream{ctx: t.Context(), replies: make(chan *pb.HostReply, 10), calls: make(chan *pb.HostCall, 10)}
}

func (s *hostStream) Context() context.Context { return s.ctx }

func (s *hostStream) Recv() (*pb.HostReply, error) {
	if r, open := <-s.replies; open {
		return r, nil
	}
	return nil, io.EOF
}

func (s *hostStream) Send(c *pb.HostCall) error {
	s.calls <- c
	return nil
}

func hello() *pb.HostReply {
	return &pb.HostReply{Reply: &pb.HostReply_Hello{Hello: &pb.Hello{Host: "test", Instance: "host-1"}}}
}

// open serves the stream and returns when the host may call. The returned func
// ends the host and waits for the plugin's end of the stream.
func (s *hostStream) open(t *testing.T, c *channel, gone func()) (end func()) {
	t.Helper()
	opened := make(chan struct{})
	var served sync.WaitGroup
	served.Go(func() { _ = c.serve(s, func() { close(opened) }, gone) })
	s.replies <- hello()
	<-opened
	<-s.calls // ready
	return sync.OnceFunc(func() { close(s.replies); served.Wait() })
}

// Invariant 9: a call in flight ends with its host, at once, and says that the
// outcome is unknown (invariant 10).
func TestCallEndsWithTheHost(t *testing.T) {
	var c channel
	var gone int
	s := newHostStream(t)
	end := s.open(t, &c, func() { gone++ })
	defer end()
	failed := make(chan error, 1)
	go func() {
		_, err := c.CreateSession(t.Context(), "key", &pb.CreateSession{SessionId: "s"})
		failed <- err
	}()
	<-s.calls
	end()
	select {
	case err := <-failed:
		if shared.CodeOf(err) != shared.OperationUnknown {
			t.Errorf("error %v", err)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("the call still waits for a host that is gone")
	}
	if gone != 1 {
		t.Errorf("told %d times that the host is gone", gone)
	}
	if _, err := c.ListWorkspaces(t.Context()); shared.CodeOf(err) != shared.SessionUnavailable {
		t.Errorf("a call without a host: %v", err)
	}
}

// Invariant 9: every call to the host has a deadline, and one that it ended is
// taken back.
func TestCallsToTheHostHaveADeadline(t *testing.T) {
	for name, call := range map[string]func(*channel) error{
		"CreateSession": func(c *channel) error {
			_, err := c.CreateSession(context.Background(), "key", &pb.CreateSession{})
			return err
		},
		"ListWorkspaces": func(c *channel) error { _, err := c.ListWorkspaces(context.Background()); return err },
		"ReadSession":    func(c *channel) error { _, err := c.ReadSession(context.Background(), "s"); return err },
		"FlushSession":   func(c *channel) error { return c.FlushSession(context.Background(), "s") },
	} {
		synctest.Test(t, func(t *testing.T) { // the clock goes on when nothing else does
			var c channel
			s := newHostStream(t)
			end := s.open(t, &c, func() {})
			defer end()
			begun := time.Now()
			if err := call(&c); shared.CodeOf(err) != shared.OperationUnknown || time.Since(begun) != hostCallTimeout {
				t.Errorf("%s: %v after %v", name, err, time.Since(begun))
			}
			if asked, taken := <-s.calls, <-s.calls; !taken.Cancel || taken.Id != asked.Id {
				t.Errorf("%s: then said %v", name, taken)
			}
		})
	}
}

// Invariant 9: a host channel that is refused is not the end of the one that is open.
func TestRefusedChannelEndsNobody(t *testing.T) {
	var c channel
	ends := 0
	first := newHostStream(t)
	end := first.open(t, &c, func() { ends++ })
	for name, greeting := range map[string]*pb.HostReply{"a second one": hello(), "no hello": {Id: 1}} {
		second := newHostStream(t)
		second.replies <- greeting
		close(second.replies)
		if err := c.serve(second, func() { t.Errorf("%s was opened", name) }, func() { ends++ }); err == nil {
			t.Errorf("%s was served", name)
		}
	}
	if ends != 0 {
		t.Error("the process was told to end")
	}
	end()
	if ends != 1 {
		t.Errorf("told %d times that the host is gone", ends)
	}
}

// Invariant 9: a process that no host talks to does not stay.
func TestProcessWithoutAHostEnds(t *testing.T) {
	p := &process{log: hclog.NewNullLogger(), lonely: time.Millisecond, here: make(chan struct{}), ending: make(chan struct{}), done: make(chan struct{})}
	ended := make(chan struct{})
	go func() { p.watchEnd(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		close(p.done)
		t.Error("still there")
	}
	<-ended
}

// Invariant 8: what a host takes for a dead process is never the status of an
// error of ours, also when a broken channel is its cause.
func TestCodeWinsOverTheStatusOfItsCause(t *testing.T) {
	fail := func(err error) error {
		_, got := codedUnary(t.Context(), nil, nil, func(context.Context, any) (any, error) { return nil, err })
		return got
	}
	broken := status.Error(codes.Unavailable, "transport is closing")
	if err := fail(shared.Errorf(shared.OperationUnknown, "the host channel broke: %w", broken)); status.Code(err) != codes.Unknown {
		t.Errorf("a coded error became %v", err)
	}
	if err := fail(broken); !errors.Is(err, broken) {
		t.Errorf("a status became %v", err)
	}
}

// Invariant 11: what is wrong with rich content is not told by quoting it.
func TestContentErrorsQuoteNothing(t *testing.T) {
	for _, data := range []string{`{"secret task":1}`, `{"occurrences":[{"source":"secret task"`, `"secret task"`, `{"occurrences":"secret task"}`} {
		_, err := fromJSON[shared.Content](data, "contentJson")
		if shared.CodeOf(err) != shared.DraftInvalidInput || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", data, err)
		}
	}
}

// startServer is the process without its gRPC server.
func startServer(t *testing.T) *server {
	t.Helper()
	table, err := os.ReadFile("../compatibility.json")
	if err != nil {
		t.Fatal(err)
	}
	p, err := start(Config{Version: "test", Compatibility: table, StorePath: filepath.Join(t.TempDir(), "drafts.json")}, hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.stop(); err != nil {
			t.Error(err)
		}
	})
	return p.server
}

// typed is a draft with a text that was accepted and is not on disk yet.
func (s *server) typed(t *testing.T, text string) *pb.Draft {
	t.Helper()
	d, err := s.Create(t.Context(), &pb.CreateRequest{WorkspaceId: "w", Text: "before"})
	if err != nil {
		t.Fatal(err)
	}
	opened, err := s.OpenEditor(t.Context(), &pb.OpenEditorRequest{DraftId: d.Id, EditorId: "e"})
	if err != nil {
		t.Fatal(err)
	}
	edit := &pb.EditRequest{DraftId: d.Id, EditorId: "e", Epoch: opened.Epoch, Generation: opened.Generation, Seq: 1, Text: text, BaseTextRevision: opened.Draft.TextRevision}
	if _, err := s.Edit(t.Context(), edit); err != nil {
		t.Fatal(err)
	}
	return d
}

// Invariant 12: the trash holds the last word, and so does a copy.
func TestDeleteAndDuplicateTakeTheLastWord(t *testing.T) {
	s := startServer(t)
	d := s.typed(t, "last word")
	if copied, err := s.Duplicate(t.Context(), &pb.DraftRef{DraftId: d.Id}); err != nil || copied.Text != "last word" {
		t.Errorf("copied %v, %v", copied, err)
	}
	d = s.typed(t, "last word")
	if _, err := s.Delete(t.Context(), &pb.RevisionRef{DraftId: d.Id}); err != nil {
		t.Fatal(err)
	}
	trash, err := s.ListTrash(t.Context(), &pb.ListTrashRequest{})
	if err != nil || len(trash.Entries) != 1 || trash.Entries[0].Draft.Text != "last word" {
		t.Errorf("trash %v, %v", trash, err)
	}
	if err := s.editors.Flush(t.Context(), ""); err != nil {
		t.Error(err)
	}
	if n := len(s.store.Snapshot().Drafts); n != 2 { // a late edit would have made a third
		t.Errorf("%d drafts", n)
	}
}

// Invariant 8: any version that was not tested means stock, also over the wire.
func TestGateSaysStock(t *testing.T) {
	s := startServer(t)
	const page = "@deepseek-ai/dsh-client-ui-workspace"
	request := func(change func(*pb.GateRequest)) *pb.GateRequest {
		r := &pb.GateRequest{
			Host: "dsh", HostVersion: "0.1.0-rc.8", NodeVersion: "24.0.0", Protocol: shared.ProtocolVersion,
			Packages: map[string]string{page: "0.1.0-rc.8"}, Probed: []string{compat.ScopePage},
			Features: []string{"page.remote", "page.locale", "page.sessions", "page.workspaces", "page.composer", "page.sidebar", "page.connect", "page.references"},
		}
		change(r)
		return r
	}
	for name, r := range map[string]*pb.GateRequest{
		"of nothing known":      {},
		"without its packages":  request(func(r *pb.GateRequest) { r.Packages = nil }),
		"of another version":    request(func(r *pb.GateRequest) { r.HostVersion = "9.9.9" }),
		"of an unreadable Node": request(func(r *pb.GateRequest) { r.NodeVersion = "?" }),
		"of another protocol":   request(func(r *pb.GateRequest) { r.Protocol = shared.ProtocolVersion + 1 }),
		"without a feature":     request(func(r *pb.GateRequest) { r.Features = r.Features[1:] }),
		"of two versions": request(func(r *pb.GateRequest) {
			r.Answers = []*pb.FactAnswer{{Subject: page, Source: compat.SourceOwn, Version: "0.1.0-rc.9"}}
		}),
	} {
		if got, err := s.Gate(t.Context(), r); err != nil || got.Mode != compat.ModeStock || len(got.Reasons) == 0 {
			t.Errorf("a host %s: %v, %v", name, got, err)
		}
	}
	got, err := s.Gate(t.Context(), request(func(r *pb.GateRequest) { r.HostVersion, r.Override = "9.9.9", "9.9.9" }))
	if err != nil || got.Mode != compat.ModeFull || !got.Overridden || len(got.Reasons) != 1 || len(got.Capabilities) == 0 {
		t.Errorf("an override by the user: %v, %v", got, err)
	}
}

// Invariant 14: pages learn at once what another process wrote.
func TestPagesSeeWhatAnotherProcessWrote(t *testing.T) {
	s := startServer(t)
	d, err := s.Create(t.Context(), &pb.CreateRequest{WorkspaceId: "w", Text: "before"})
	if err != nil {
		t.Fatal(err)
	}
	other, err := drafts.Open(t.Context(), drafts.Options{Path: s.config.StorePath})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	w, stop := s.hub.watch()
	defer stop()
	if _, err := other.EditText(t.Context(), drafts.Edit{DraftID: d.Id, BaseTextRevision: d.TextRevision, Text: "after"}); err != nil {
		t.Fatal(err)
	}
	for late := time.After(10 * time.Second); ; {
		select {
		case e := <-w.events:
			if c := e.GetTextChanged(); c != nil {
				if c.DraftId != d.Id || c.Text != "after" || c.EditorId != "" {
					t.Errorf("told %v", c)
				}
				return
			}
		case <-late:
			t.Fatal("never told")
		}
	}
}
