package host_test

import (
	"context"
	"slices"
	"sync"

	"github.com/draft-sessions/dsh-draft-sessions/host"
	pb "github.com/draft-sessions/dsh-draft-sessions/shared/proto/draftsessionsv1"
)

// fakeSessions stands in for an agent host's sessions, in memory: this package's
// tests are about the process and the channel. The plugin binary is the real one.
type fakeSessions struct {
	mu       sync.Mutex
	sessions map[string][]*pb.UserMessage
	refuse   *host.Refusal
	fail     error         // of CreateSession, set before the plugin starts to ask
	stall    chan struct{} // when not nil, CreateSession waits for it or its context
	created  int
}

func newFakeSessions() *fakeSessions { return &fakeSessions{sessions: map[string][]*pb.UserMessage{}} }

func (f *fakeSessions) CreateSession(ctx context.Context, call *pb.CreateSession) (*pb.CreateSessionResult, error) {
	f.mu.Lock()
	stall, refuse := f.stall, f.refuse
	f.mu.Unlock()
	if stall != nil {
		select {
		case <-stall:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if refuse != nil {
		return nil, refuse
	}
	if f.fail != nil {
		return nil, f.fail
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.created++
	if _, ok := f.sessions[call.SessionId]; !ok {
		f.sessions[call.SessionId] = nil
	}
	return &pb.CreateSessionResult{SessionId: call.SessionId}, nil
}

func (f *fakeSessions) ListWorkspaces(context.Context) (*pb.ListWorkspacesResult, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	w := &pb.Workspace{WorkspaceId: "w1", Path: "/project"}
	for id := range f.sessions {
		w.SessionIds = append(w.SessionIds, id)
	}
	return &pb.ListWorkspacesResult{Workspaces: []*pb.Workspace{w}}, nil
}

func (f *fakeSessions) ReadSession(_ context.Context, id string) (*pb.ReadSessionResult, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	messages, ok := f.sessions[id]
	return &pb.ReadSessionResult{Exists: ok, UserMessages: slices.Clone(messages)}, nil
}

func (f *fakeSessions) FlushSession(context.Context, string) error { return nil }

func (f *fakeSessions) ApplySettings(context.Context, *pb.ApplySettings) error { return nil }

// prompt is a message that the host has admitted and written.
func (f *fakeSessions) prompt(session, id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sessions[session] = append(f.sessions[session], &pb.UserMessage{Seq: int64(len(f.sessions[session]) + 1), PromptId: id})
}

func (f *fakeSessions) setRefusal(r *host.Refusal) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refuse = r
}
