package host

import (
	"context"
	"errors"
	"sync"

	"github.com/hashicorp/go-hclog"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
	pb "github.com/draft-sessions/dsh-draft-sessions/shared/proto/draftsessionsv1"
)

// Sessions is what a host offers the plugin. Its methods are called
// concurrently and end with their context. An error that is a *shared.Error or a
// [Refusal] travels with its code.
type Sessions interface {
	// CreateSession creates exactly the session of that id, blank, or finds it
	// when it exists already, and returns when it is on disk.
	CreateSession(ctx context.Context, call *pb.CreateSession) (*pb.CreateSessionResult, error)
	ListWorkspaces(ctx context.Context) (*pb.ListWorkspacesResult, error)
	// ReadSession reads the whole history; Exists is false for an unknown id.
	ReadSession(ctx context.Context, sessionID string) (*pb.ReadSessionResult, error)
	// FlushSession returns when the session's history is on disk.
	FlushSession(ctx context.Context, sessionID string) error
	ApplySettings(ctx context.Context, call *pb.ApplySettings) error
}

// Prompter is what a host offers beside [Sessions] so that a terminal can send a
// draft. A host without it refuses with "unimplemented".
type Prompter interface {
	// SendPrompt admits a user's prompt and returns when it has; the user message
	// in the history carries PromptId. The same PromptId never runs twice. Any
	// error says that it was not admitted: a host that is not sure returns none,
	// or ends with ctx.
	SendPrompt(ctx context.Context, call *pb.SendPrompt) error
}

// Answerer is what a host offers beside [Sessions] so that a terminal can follow
// the answer to what it sent.
type Answerer interface {
	// ReadAnswer returns at once with what was said to the submission after
	// AfterSeq; NextSeq is where to go on.
	ReadAnswer(ctx context.Context, call *pb.ReadAnswerRequest) (*pb.ReadAnswerResult, error)
}

// Refusal is a host's own reason for not doing what it was asked, such as "session-conflict".
type Refusal struct{ Code, Message string }

func (r *Refusal) Error() string { return r.Code + ": " + r.Message }

// answers serves the plugin's calls on the host channel.
type answers struct {
	sessions Sessions
	memory   *memory
	stream   pb.DraftSessions_HostChannelClient
	log      hclog.Logger
	ready    chan struct{}

	sendMu sync.Mutex // one Send at a time

	mu      sync.Mutex // guards what follows
	running map[uint64]context.CancelFunc
}

func newAnswers(s Sessions, memory *memory, stream pb.DraftSessions_HostChannelClient, log hclog.Logger) *answers {
	return &answers{sessions: s, memory: memory, stream: stream, log: log, ready: make(chan struct{}), running: map[uint64]context.CancelFunc{}}
}

// serve answers until the stream ends and every call it runs has returned.
func (a *answers) serve(life context.Context) {
	ctx, cancel := context.WithCancel(life)
	var calls sync.WaitGroup
	defer func() {
		cancel()
		calls.Wait()
	}()
	isReady := sync.OnceFunc(func() { close(a.ready) })
	for {
		call, err := a.stream.Recv()
		if err != nil {
			a.log.Debug("the host channel ended", "error", err)
			return
		}
		switch {
		case call.Id == 0:
			isReady()
		case call.Cancel:
			a.mu.Lock()
			if stop := a.running[call.Id]; stop != nil {
				stop()
			}
			a.mu.Unlock()
		default:
			callCtx, stop := context.WithCancel(ctx)
			a.mu.Lock()
			a.running[call.Id] = stop
			a.mu.Unlock()
			calls.Go(func() {
				defer stop()
				a.reply(callCtx, call)
				a.mu.Lock()
				delete(a.running, call.Id)
				a.mu.Unlock()
			})
		}
	}
}

func (a *answers) reply(ctx context.Context, call *pb.HostCall) {
	reply := a.memory.once(ctx, call.IdempotencyKey, func(ctx context.Context) *pb.HostReply { return a.perform(ctx, call) })
	answer := &pb.HostReply{Id: call.Id, Error: reply.Error, Reply: reply.Reply}
	a.sendMu.Lock()
	defer a.sendMu.Unlock()
	if err := a.stream.Send(answer); err != nil {
		a.log.Debug("could not answer the plugin", "error", err)
	}
}

func (a *answers) perform(ctx context.Context, call *pb.HostCall) *pb.HostReply {
	reply := &pb.HostReply{}
	var err error
	switch c := call.Call.(type) {
	case *pb.HostCall_CreateSession:
		var r *pb.CreateSessionResult
		r, err = a.sessions.CreateSession(ctx, c.CreateSession)
		reply.Reply = &pb.HostReply_CreateSession{CreateSession: r}
	case *pb.HostCall_ListWorkspaces:
		var r *pb.ListWorkspacesResult
		r, err = a.sessions.ListWorkspaces(ctx)
		reply.Reply = &pb.HostReply_ListWorkspaces{ListWorkspaces: r}
	case *pb.HostCall_ReadSession:
		var r *pb.ReadSessionResult
		r, err = a.sessions.ReadSession(ctx, c.ReadSession.SessionId)
		reply.Reply = &pb.HostReply_ReadSession{ReadSession: r}
	case *pb.HostCall_FlushSession:
		err = a.sessions.FlushSession(ctx, c.FlushSession.SessionId)
		reply.Reply = &pb.HostReply_FlushSession{FlushSession: &pb.Empty{}}
	case *pb.HostCall_ApplySettings:
		err = a.sessions.ApplySettings(ctx, c.ApplySettings)
		reply.Reply = &pb.HostReply_ApplySettings{ApplySettings: &pb.Empty{}}
	case *pb.HostCall_SendPrompt:
		if host, can := a.sessions.(Prompter); can {
			err = host.SendPrompt(ctx, c.SendPrompt)
		} else {
			err = errUnimplemented
		}
		reply.Reply = &pb.HostReply_SendPrompt{SendPrompt: &pb.Empty{}}
	case *pb.HostCall_ReadAnswer:
		var r *pb.ReadAnswerResult
		if host, can := a.sessions.(Answerer); can {
			r, err = host.ReadAnswer(ctx, c.ReadAnswer)
		} else {
			err = errUnimplemented
		}
		reply.Reply = &pb.HostReply_ReadAnswer{ReadAnswer: r}
	default:
		err = errUnimplemented
	}
	if err != nil {
		return &pb.HostReply{Error: hostError(err)}
	}
	return reply
}

var errUnimplemented = &Refusal{Code: "unimplemented", Message: "this host does not know the call"}

func hostError(err error) *pb.HostError {
	var refusal *Refusal
	if errors.As(err, &refusal) {
		return &pb.HostError{Code: refusal.Code, Message: refusal.Message}
	}
	return &pb.HostError{Code: string(shared.CodeOf(err)), Message: shared.MessageOf(err)}
}
