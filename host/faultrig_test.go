package host_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/draft-sessions/dsh-draft-sessions/host"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
	pb "github.com/draft-sessions/dsh-draft-sessions/shared/proto/draftsessionsv1"
)

// when a fault kills the plugin, seen from one call.
type when string

const (
	never  when = "never"
	before when = "before"
	during when = "during"
	after  when = "after"
)

// fault kills the plugin at the nth call, of the host's to the plugin ("Edit") or
// of the plugin's to the host ("host.CreateSession").
type fault struct {
	call string // "" counts the calls of the host's only
	nth  int
	when when
}

func (f fault) String() string { return fmt.Sprintf("%s %s %d", f.when, f.call, f.nth) }

// faultRig is a supervised plugin with fake sessions whose calls a fault watches.
type faultRig struct {
	t        *testing.T
	fault    fault
	store    string
	sessions *countingSessions
	*host.Supervisor
	supervised chan struct{} // closed once there is a Supervisor: its plugin may call before
	asked      bool          // the plugin was asked before the page's prompt, and answered

	mu    sync.Mutex // guards what follows
	calls []string   // in order
	hit   string     // the call that the fault hit, "" before it did
}

func newFaultRig(t *testing.T, f fault) *faultRig {
	t.Helper()
	suite.Secret(textStays, textPage, textOther)
	r := &faultRig{t: t, fault: f, store: newStore(t), supervised: make(chan struct{})}
	r.sessions = &countingSessions{fakeSessions: newFakeSessions(), rig: r, prompts: map[string]int{}}
	r.Supervisor = host.Supervise(t.Context(), host.Supervision{Options: host.Options{Binary: binary, Store: r.store, Sessions: r.sessions, Name: "test", Log: testLog(), Env: pluginEnv}})
	close(r.supervised)
	t.Cleanup(r.Close)
	return r
}

// kill ends the plugin with SIGKILL, and waits until the host has noticed.
func (r *faultRig) kill(wait bool) {
	<-r.supervised
	p, err := r.Plugin()
	if err != nil {
		return // it is down already
	}
	_ = syscall.Kill(p.Pid(), syscall.SIGKILL) // fails when it has ended
	if wait {
		select {
		case <-p.Gone():
		case <-time.After(patience):
			r.t.Error("the host did not notice the end of the plugin")
		}
	}
}

// around performs a call with the fault, when it is its turn.
func (r *faultRig) around(name string, perform func() error) error {
	r.mu.Lock()
	r.calls = append(r.calls, name)
	nth := 0
	for _, earlier := range r.calls {
		if earlier == name || r.fault.call == "" && !strings.HasPrefix(earlier, hostCall) {
			nth++
		}
	}
	turn := r.hit == "" && r.fault.when != never && nth == r.fault.nth && (name == r.fault.call || r.fault.call == "" && !strings.HasPrefix(name, hostCall))
	if turn {
		r.hit = name
	}
	r.mu.Unlock()
	onHost := strings.HasPrefix(name, hostCall)
	switch {
	case turn && r.fault.when == before:
		r.kill(!onHost) // a host call is the plugin's own: its end is awaited by nobody here
	case turn && r.fault.when == during:
		var killed sync.WaitGroup
		defer killed.Wait()
		killed.Go(func() { r.kill(false) })
	}
	err := perform()
	if turn && r.fault.when == after {
		r.kill(!onHost)
	}
	return err
}

const hostCall = "host."

func (r *faultRig) callsSoFar() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.calls)
}

// hitCall is the call that the fault hit.
func (r *faultRig) hitCall() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.hit
}

// do makes one call of a person's until it is answered: the plugin is away now and
// then, and its host waits for the next one, as a page does. An error that the
// plugin gave is returned.
func (r *faultRig) do(call func(ctx context.Context, client pb.DraftSessionsClient) error) error {
	for deadline := time.Now().Add(patience); ; {
		p, err := r.Plugin()
		if err == nil {
			ctx, cancel := context.WithTimeout(r.t.Context(), patience)
			err = call(ctx, pb.NewDraftSessionsClient(&faultConn{r, p.Client}))
			cancel()
			suite.Errors("a call", err)
			var coded *shared.Error
			if err == nil || errors.As(err, &coded) {
				return err
			}
			if code := status.Code(err); code != codes.Unavailable && code != codes.Canceled {
				return err
			}
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("no plugin answers: %w", err)
		}
		r.Rearm() // no need to wait for the pause
		time.Sleep(5 * time.Millisecond)
	}
}

// faultConn puts the fault around each call of a client.
type faultConn struct {
	rig    *faultRig
	client pb.DraftSessionsClient
}

func (c *faultConn) Invoke(ctx context.Context, method string, args, reply any, _ ...grpc.CallOption) error {
	name := method[strings.LastIndex(method, "/")+1:]
	return c.rig.around(name, func() error {
		out := reflect.ValueOf(c.client).MethodByName(name).Call([]reflect.Value{reflect.ValueOf(ctx), reflect.ValueOf(args)})
		if err, _ := out[1].Interface().(error); err != nil {
			return err
		}
		proto.Merge(reply.(proto.Message), out[0].Interface().(proto.Message))
		return nil
	})
}

func (c *faultConn) NewStream(context.Context, *grpc.StreamDesc, string, ...grpc.CallOption) (grpc.ClientStream, error) {
	return nil, status.Error(codes.Unimplemented, "the flow opens no stream")
}

// countingSessions are the host's sessions: each of the plugin's calls is one that a
// fault can hit, and every prompt is counted.
type countingSessions struct {
	*fakeSessions
	rig     *faultRig
	prompts map[string]int // by prompt id; guarded by fakeSessions.mu
}

func (s *countingSessions) CreateSession(ctx context.Context, call *pb.CreateSession) (r *pb.CreateSessionResult, err error) {
	err = s.rig.around(hostCall+"CreateSession", func() error { r, err = s.fakeSessions.CreateSession(ctx, call); return err })
	return r, err
}

func (s *countingSessions) ListWorkspaces(ctx context.Context) (r *pb.ListWorkspacesResult, err error) {
	err = s.rig.around(hostCall+"ListWorkspaces", func() error { r, err = s.fakeSessions.ListWorkspaces(ctx); return err })
	return r, err
}

func (s *countingSessions) ReadSession(ctx context.Context, id string) (r *pb.ReadSessionResult, err error) {
	err = s.rig.around(hostCall+"ReadSession", func() error { r, err = s.fakeSessions.ReadSession(ctx, id); return err })
	return r, err
}

func (s *countingSessions) FlushSession(ctx context.Context, id string) error {
	return s.rig.around(hostCall+"FlushSession", func() error { return s.fakeSessions.FlushSession(ctx, id) })
}

// SendPrompt implements host.Prompter: what it admits is in the history a while later.
func (s *countingSessions) SendPrompt(_ context.Context, call *pb.SendPrompt) error {
	return s.rig.around(hostCall+"SendPrompt", func() error { s.admit(call.SessionId, call.PromptId); return nil })
}

// admit is a prompt that the host takes; its message is written when written is closed.
func (s *countingSessions) admit(session, promptID string) (written <-chan struct{}) {
	s.mu.Lock()
	s.prompts[promptID]++
	s.mu.Unlock()
	done := make(chan struct{})
	time.AfterFunc(300*time.Millisecond, func() { s.prompt(session, promptID); close(done) })
	return done
}

// admitted is how often a prompt was taken.
func (s *countingSessions) admitted(promptID string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.prompts[promptID]
}

// blank are the sessions without a message.
func (s *countingSessions) blank() (ids []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, messages := range s.fakeSessions.sessions {
		if len(messages) == 0 {
			ids = append(ids, id)
		}
	}
	return ids
}
