package plugin

import (
	"context"
	"sync"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/draft-sessions/dsh-draft-sessions/plugin/sessions"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
	pb "github.com/draft-sessions/dsh-draft-sessions/shared/proto/draftsessionsv1"
)

// channel carries the plugin's calls to the host over the one stream that the
// host opened. It implements sessions.Host. The end of the stream is the end of
// the host: see Serve.
type channel struct {
	mu       sync.Mutex // guards all below
	stream   pb.DraftSessions_HostChannelServer
	instance string
	lastID   uint64
	waiting  map[uint64]chan *pb.HostReply
	gone     chan struct{} // closed when the current stream ends

	sendMu sync.Mutex // one Send at a time
}

// serve runs the stream until the host closes it. opened is called once the
// host has been told that it may call, gone when a stream that was taken has
// ended: one that is refused says nothing of the host.
func (c *channel) serve(stream pb.DraftSessions_HostChannelServer, opened, gone func()) error {
	first, err := stream.Recv()
	if err != nil {
		return err
	}
	hello := first.GetHello()
	if hello == nil {
		return status.Error(codes.InvalidArgument, "the first message of a host channel is hello")
	}
	c.mu.Lock()
	if c.stream != nil {
		c.mu.Unlock()
		return status.Error(codes.AlreadyExists, "a host channel is open already")
	}
	c.stream, c.instance = stream, hello.Instance
	c.waiting, c.gone = map[uint64]chan *pb.HostReply{}, make(chan struct{})
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		c.stream, c.waiting = nil, nil
		close(c.gone)
		c.mu.Unlock()
		gone()
	}()
	if err := c.send(stream, &pb.HostCall{}); err != nil {
		return err
	}
	opened()
	for {
		reply, err := stream.Recv()
		if err != nil {
			return err
		}
		c.mu.Lock()
		waiter := c.waiting[reply.Id]
		delete(c.waiting, reply.Id)
		c.mu.Unlock()
		if waiter != nil {
			waiter <- reply // capacity 1, one reply for each id
		}
	}
}

func (c *channel) send(stream pb.DraftSessions_HostChannelServer, call *pb.HostCall) error {
	c.sendMu.Lock()
	defer c.sendMu.Unlock()
	return stream.Send(call)
}

// call sends one call and awaits its reply. Codes: SESSION_UNAVAILABLE when no
// host is there or it refused (with a sessions.HostError), OPERATION_UNKNOWN when
// the outcome is not known.
func (c *channel) call(ctx context.Context, call *pb.HostCall) (*pb.HostReply, error) {
	c.mu.Lock()
	stream, gone := c.stream, c.gone
	if stream == nil {
		c.mu.Unlock()
		return nil, shared.Errorf(shared.SessionUnavailable, "no host is connected")
	}
	c.lastID++
	call.Id = c.lastID
	waiter := make(chan *pb.HostReply, 1)
	c.waiting[call.Id] = waiter
	c.mu.Unlock()
	forget := func() {
		c.mu.Lock()
		delete(c.waiting, call.Id)
		c.mu.Unlock()
	}
	if err := c.send(stream, call); err != nil {
		forget()
		return nil, shared.Errorf(shared.OperationUnknown, "the host channel broke; the outcome is unknown: %w", err)
	}
	select {
	case reply := <-waiter:
		if refusal := reply.Error; refusal != nil {
			return nil, shared.Errorf(shared.SessionUnavailable, "the host refused: %w", &sessions.HostError{HostCode: refusal.Code, Message: refusal.Message})
		}
		return reply, nil
	case <-gone:
		return nil, shared.Errorf(shared.OperationUnknown, "the host went away; the outcome is unknown")
	case <-ctx.Done():
		forget()
		_ = c.send(stream, &pb.HostCall{Id: call.Id, Cancel: true}) // a broken stream needs no cancel
		return nil, shared.Errorf(shared.OperationUnknown, "the host did not answer in time; the outcome is unknown: %w", ctx.Err())
	}
}

func (c *channel) CreateSession(ctx context.Context, idempotencyKey string, call *pb.CreateSession) (*pb.CreateSessionResult, error) {
	ctx, cancel := context.WithTimeout(ctx, hostCallTimeout)
	defer cancel()
	reply, err := c.call(ctx, &pb.HostCall{IdempotencyKey: idempotencyKey, Call: &pb.HostCall_CreateSession{CreateSession: call}})
	return reply.GetCreateSession(), err
}

func (c *channel) ListWorkspaces(ctx context.Context) (*pb.ListWorkspacesResult, error) {
	ctx, cancel := context.WithTimeout(ctx, hostCallTimeout)
	defer cancel()
	reply, err := c.call(ctx, &pb.HostCall{Call: &pb.HostCall_ListWorkspaces{ListWorkspaces: &pb.ListWorkspaces{}}})
	return reply.GetListWorkspaces(), err
}

func (c *channel) ReadSession(ctx context.Context, sessionID string) (*pb.ReadSessionResult, error) {
	ctx, cancel := context.WithTimeout(ctx, hostCallTimeout)
	defer cancel()
	reply, err := c.call(ctx, &pb.HostCall{Call: &pb.HostCall_ReadSession{ReadSession: &pb.ReadSession{SessionId: sessionID}}})
	return reply.GetReadSession(), err
}

func (c *channel) FlushSession(ctx context.Context, sessionID string) error {
	ctx, cancel := context.WithTimeout(ctx, hostCallTimeout)
	defer cancel()
	_, err := c.call(ctx, &pb.HostCall{Call: &pb.HostCall_FlushSession{FlushSession: &pb.FlushSession{SessionId: sessionID}}})
	return err
}

func (c *channel) SendPrompt(ctx context.Context, idempotencyKey string, call *pb.SendPrompt) error {
	ctx, cancel := context.WithTimeout(ctx, hostCallTimeout)
	defer cancel()
	_, err := c.call(ctx, &pb.HostCall{IdempotencyKey: idempotencyKey, Call: &pb.HostCall_SendPrompt{SendPrompt: call}})
	return err
}

func (c *channel) ReadAnswer(ctx context.Context, call *pb.ReadAnswerRequest) (*pb.ReadAnswerResult, error) {
	ctx, cancel := context.WithTimeout(ctx, hostCallTimeout)
	defer cancel()
	reply, err := c.call(ctx, &pb.HostCall{Call: &pb.HostCall_ReadAnswer{ReadAnswer: call}})
	return reply.GetReadAnswer(), err
}

func (c *channel) Instance() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.instance
}
