package sessions_test

import (
	"context"
	"slices"
	"sync"

	"github.com/draft-sessions/dsh-draft-sessions/plugin/sessions"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
	pb "github.com/draft-sessions/dsh-draft-sessions/shared/proto/draftsessionsv1"
)

// fakeHost stands in for an agent host: workspaces, sessions and their messages
// in memory. It exists because crashes between any two calls of a host can only
// be arranged with one of our own; the same flows run against the real DSH in
// smoketest.
type fakeHost struct {
	mu         sync.Mutex
	workspaces []*pb.Workspace
	archived   []string
	messages   map[string][]*pb.UserMessage
	created    []*pb.CreateSession
	flushed    []string
	prompts    []*pb.SendPrompt
	instance   string
	// mute: prompts are admitted and their messages never come.
	mute bool
	// before runs at the start of every call with the method's name; an error ends the call.
	before func(method string) error
	// afterCreate runs when a session was created, before the answer: a crash point.
	afterCreate func() error
}

func newFakeHost() *fakeHost {
	return &fakeHost{
		workspaces: []*pb.Workspace{{WorkspaceId: "w1", Path: "/p/one"}, {WorkspaceId: "w2", Path: "/p/two"}},
		messages:   map[string][]*pb.UserMessage{},
		instance:   "host-1",
	}
}

// arrange changes the host while others may be using it.
func (h *fakeHost) arrange(change func(*fakeHost)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	change(h)
}

func refused(code, message string) error {
	return shared.Errorf(shared.SessionUnavailable, "the host refused: %w", &sessions.HostError{HostCode: code, Message: message})
}

func (h *fakeHost) enter(method string) error {
	h.mu.Lock()
	before := h.before
	h.mu.Unlock()
	if before == nil {
		return nil
	}
	return before(method)
}

func (h *fakeHost) CreateSession(_ context.Context, _ string, call *pb.CreateSession) (*pb.CreateSessionResult, error) {
	if err := h.enter("CreateSession"); err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, w := range h.workspaces {
		if w.WorkspaceId == call.WorkspaceId {
			if !slices.Contains(w.SessionIds, call.SessionId) {
				w.SessionIds = append(w.SessionIds, call.SessionId)
			}
			h.created = append(h.created, call)
			if h.afterCreate != nil {
				return nil, h.afterCreate()
			}
			return &pb.CreateSessionResult{SessionId: call.SessionId}, nil
		}
	}
	return nil, refused("workspace-not-found", "no such workspace")
}

func (h *fakeHost) ListWorkspaces(context.Context) (*pb.ListWorkspacesResult, error) {
	if err := h.enter("ListWorkspaces"); err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	out := &pb.ListWorkspacesResult{ArchivedSessionIds: slices.Clone(h.archived)}
	for _, w := range h.workspaces {
		out.Workspaces = append(out.Workspaces, &pb.Workspace{WorkspaceId: w.WorkspaceId, Path: w.Path, SessionIds: slices.Clone(w.SessionIds)})
	}
	return out, nil
}

func (h *fakeHost) ReadSession(_ context.Context, sessionID string) (*pb.ReadSessionResult, error) {
	if err := h.enter("ReadSession"); err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return &pb.ReadSessionResult{Exists: true, UserMessages: slices.Clone(h.messages[sessionID])}, nil
}

func (h *fakeHost) FlushSession(_ context.Context, sessionID string) error {
	if err := h.enter("FlushSession"); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.flushed = append(h.flushed, sessionID)
	return nil
}

// SendPrompt admits a prompt, once for each id, and writes its message at once.
func (h *fakeHost) SendPrompt(ctx context.Context, _ string, call *pb.SendPrompt) error {
	if err := h.enter("SendPrompt"); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return shared.Errorf(shared.OperationUnknown, "nobody waits for the host any more")
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if slices.ContainsFunc(h.prompts, func(p *pb.SendPrompt) bool { return p.PromptId == call.PromptId }) {
		return nil
	}
	h.prompts = append(h.prompts, call)
	if !h.mute {
		h.messages[call.SessionId] = append(h.messages[call.SessionId], &pb.UserMessage{Seq: 10, PromptId: call.PromptId})
	}
	return nil
}

func (h *fakeHost) sent() []*pb.SendPrompt {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.prompts)
}

func (h *fakeHost) Instance() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.instance
}

// restart is the host's end and its next start: what was in flight is not any more.
func (h *fakeHost) restart() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.instance += "'"
}

func (h *fakeHost) say(sessionID, promptID string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.messages[sessionID] = append(h.messages[sessionID], &pb.UserMessage{Seq: int64(10 + len(h.messages[sessionID])), PromptId: promptID})
}

func (h *fakeHost) archive(sessionID string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.archived = append(h.archived, sessionID)
}

// lose takes a session out of its workspace's list.
func (h *fakeHost) lose(sessionID string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, w := range h.workspaces {
		w.SessionIds = slices.DeleteFunc(w.SessionIds, func(id string) bool { return id == sessionID })
	}
}

func (h *fakeHost) creations() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var ids []string
	for _, c := range h.created {
		ids = append(ids, c.SessionId)
	}
	return ids
}
