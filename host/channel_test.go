package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	pb "github.com/draft-sessions/dsh-draft-sessions/shared/proto/draftsessionsv1"
)

// pluginStream is the host's end of a host channel whose plugin the test plays.
type pluginStream struct {
	grpc.ClientStream
	calls   chan *pb.HostCall // closed when the plugin ends
	replies chan *pb.HostReply
}

func (s *pluginStream) Recv() (*pb.HostCall, error) {
	if c, open := <-s.calls; open {
		return c, nil
	}
	return nil, io.EOF
}

func (s *pluginStream) Send(r *pb.HostReply) error {
	s.replies <- r
	return nil
}

// counted are sessions that count what is created; slow ones end with their context.
type counted struct {
	Sessions
	mu      sync.Mutex
	created int
	fail    error
	slow    bool
	free    chan struct{} // ends a slow one, too
}

func (c *counted) CreateSession(ctx context.Context, call *pb.CreateSession) (*pb.CreateSessionResult, error) {
	c.mu.Lock()
	c.created++
	fail, slow := c.fail, c.slow
	c.mu.Unlock()
	if slow {
		select {
		case <-c.free:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return &pb.CreateSessionResult{SessionId: call.SessionId}, fail
}

// serveAnswers gives a func that has the plugin ask for a session, and its stream.
func serveAnswers(t *testing.T, sessions Sessions) (ask func(id uint64, key string) *pb.HostReply, stream *pluginStream, a *answers) {
	stream = &pluginStream{calls: make(chan *pb.HostCall), replies: make(chan *pb.HostReply, 1)}
	memory := newMemory()
	t.Cleanup(memory.close)
	a = newAnswers(sessions, memory, stream, hclog.NewNullLogger())
	var served sync.WaitGroup
	served.Go(func() { a.serve(t.Context()) })
	t.Cleanup(func() { close(stream.calls); served.Wait() })
	return func(id uint64, key string) *pb.HostReply {
		stream.calls <- &pb.HostCall{Id: id, IdempotencyKey: key, Call: &pb.HostCall_CreateSession{CreateSession: &pb.CreateSession{SessionId: key}}}
		return <-stream.replies
	}, stream, a
}

// Invariant 10: the same key has its effect once, however often it is asked for;
// what failed had none and may be asked for again.
func TestSameKeyHasItsEffectOnce(t *testing.T) {
	sessions := &counted{fail: errors.New("no")}
	ask, _, a := serveAnswers(t, sessions)
	if r := ask(1, "k"); r.Error == nil {
		t.Errorf("a failure is told as %v", r)
	}
	sessions.mu.Lock()
	sessions.fail = nil
	sessions.mu.Unlock()
	for id := range uint64(3) {
		if r := ask(id+2, "k"); r.Id != id+2 || r.GetCreateSession().GetSessionId() != "k" {
			t.Errorf("answered %v", r)
		}
	}
	if sessions.created != 2 {
		t.Errorf("created %d times, one of them in vain", sessions.created)
	}
	for i := range rememberedKeys + 10 {
		ask(uint64(i+10), fmt.Sprint("other", i))
	}
	if m := a.memory; len(m.results) > rememberedKeys || len(m.order) > rememberedKeys {
		t.Errorf("%d keys are remembered", len(m.results))
	}
}

// Invariant 10: an effect outlives the process that asked for it, and the next one
// that asks gets its result; the end of the host ends it.
func TestEffectOutlivesItsProcess(t *testing.T) {
	sessions := &counted{slow: true, free: make(chan struct{})}
	memory := newMemory()
	effect := func(ctx context.Context) *pb.HostReply {
		r, err := sessions.CreateSession(ctx, &pb.CreateSession{SessionId: "s"})
		if err != nil {
			return &pb.HostReply{Error: hostError(err)}
		}
		return &pb.HostReply{Reply: &pb.HostReply_CreateSession{CreateSession: r}}
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if r := memory.once(gone, "k", effect); r.Error == nil {
		t.Errorf("the process that is gone was answered %v", r)
	}
	close(sessions.free)
	if r := memory.once(t.Context(), "k", effect); r.GetCreateSession().GetSessionId() != "s" || sessions.created != 1 {
		t.Errorf("the next one got %v, created %d times", r, sessions.created)
	}
	sessions.free = nil
	if r := memory.once(gone, "hangs", effect); r.Error == nil {
		t.Errorf("answered %v", r)
	}
	memory.close()
	if r := memory.results["hangs"]; r != nil {
		t.Error("an effect that the end of the host cut off counts as had")
	}
}

// Invariant 9: a call that the plugin gave up ends in the host too.
func TestCancelledCallEnds(t *testing.T) {
	_, stream, _ := serveAnswers(t, &counted{slow: true})
	stream.calls <- &pb.HostCall{Id: 7, Call: &pb.HostCall_CreateSession{CreateSession: &pb.CreateSession{}}}
	stream.calls <- &pb.HostCall{Id: 7, Cancel: true}
	select {
	case r := <-stream.replies:
		if r.Id != 7 || r.Error == nil {
			t.Errorf("answered %v", r)
		}
	case <-time.After(10 * time.Second):
		t.Error("it still runs")
	}
}

// Invariant 9: every call has a deadline, its own where it brings one.
func TestEveryCallHasADeadline(t *testing.T) {
	left := func(ctx context.Context) (left time.Duration) {
		invoke := func(ctx context.Context, _ string, _, _ any, _ *grpc.ClientConn, _ ...grpc.CallOption) error {
			if at, has := ctx.Deadline(); has {
				left = time.Until(at)
			}
			return nil
		}
		if err := withDeadline(ctx, "", nil, nil, nil, invoke); err != nil {
			t.Error(err)
		}
		return left
	}
	if d := left(context.Background()); d <= 0 || d > defaultCall {
		t.Errorf("a call without a deadline has %v left", d)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	if d := left(ctx); d <= defaultCall {
		t.Errorf("a call of an hour has %v left", d)
	}
}

// silent opens the host channel and answers nothing from then on.
type silent struct {
	pb.DraftSessionsClient
	stream *pluginStream
}

func (silent) Info(ctx context.Context, _ *pb.InfoRequest, _ ...grpc.CallOption) (*pb.InfoResponse, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (s silent) HostChannel(context.Context, ...grpc.CallOption) (pb.DraftSessions_HostChannelClient, error) {
	return s.stream, nil
}

// Invariant 9: a process that answers nothing any more is ended, so that its host
// learns of it.
func TestSilentPluginIsKilled(t *testing.T) {
	cmd := exec.Command("sleep", "60")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	synctest.Test(t, func(t *testing.T) { // the clock goes on when nothing else does
		stream := &pluginStream{calls: make(chan *pb.HostCall, 1), replies: make(chan *pb.HostReply, 1)}
		stream.calls <- &pb.HostCall{} // ready
		p := &Plugin{Client: silent{stream: stream}, memory: newMemory(), log: hclog.NewNullLogger(), process: cmd.Process, gone: make(chan struct{}), client: &goplugin.Client{}}
		p.dead = sync.OnceFunc(func() { close(p.gone) })
		if err := p.openChannel(t.Context(), t.Context(), Options{Sessions: &counted{}}); err != nil {
			t.Error(err)
		}
		time.Sleep(healthMisses * (healthEvery + healthWithin))
		close(stream.calls) // which ends the watch, too
		p.tasks.Wait()
	})
	select {
	case <-ended:
	case <-time.After(5 * time.Second):
		t.Error("it was left alive")
		_ = cmd.Process.Kill()
		<-ended
	}
}
