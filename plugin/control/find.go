package control

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
	pb "github.com/draft-sessions/dsh-draft-sessions/shared/proto/draftsessionsv1"
)

const (
	// answerWithin is how long a plugin may take to say who it is.
	answerWithin = 10 * time.Second
	// callWithin bounds a call whose context has no deadline (invariant 9).
	callWithin = 30 * time.Second
)

// ErrNone: no live plugin serves the draft file.
var ErrNone = errors.New("no plugin of this home is running")

// Client talks to a live plugin.
type Client struct {
	pb.DraftSessionsClient
	// Entry is the plugin's own; About what it answered.
	Entry Entry
	About *pb.InfoResponse

	conn *grpc.ClientConn
}

// Close ends the connection.
func (c *Client) Close() error { return c.conn.Close() }

// Find connects to a live plugin of a draft file. Errors of its calls are
// *[shared.Error] where the plugin gave a code; one without a deadline gets 30 s.
// [ErrNone] when there is none. A plugin that is there and does not answer
// within 10 s is an error with SESSION_UNAVAILABLE, unless another one answers.
func Find(ctx context.Context, store string) (*Client, error) {
	live, err := entries(resolved(store))
	if err != nil {
		return nil, err
	}
	failed := ErrNone
	for _, e := range live {
		c, err := connect(ctx, e)
		if err == nil {
			return c, nil
		}
		failed = shared.Errorf(shared.SessionUnavailable, "a plugin of this home is there (process %d), but does not answer: %w", e.PID, err)
	}
	return nil, failed
}

func connect(ctx context.Context, e Entry) (*Client, error) {
	conn, err := grpc.NewClient("passthrough:///draft-sessions",
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return dial(ctx, e, uint32(os.Getuid())) }), // #nosec G115 -- user ids have 32 bits
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(shared.MaxMessageBytes), grpc.MaxCallSendMsgSize(shared.MaxMessageBytes)),
		grpc.WithChainUnaryInterceptor(withDeadline, withCode),
	)
	if err != nil {
		return nil, err
	}
	c := &Client{DraftSessionsClient: pb.NewDraftSessionsClient(conn), Entry: e, conn: conn}
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	if c.About, err = c.Info(ctx, &pb.InfoRequest{}); err == nil && c.About.Protocol != shared.ProtocolVersion {
		err = fmt.Errorf("it speaks protocol %d, this command %d", c.About.Protocol, shared.ProtocolVersion)
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return c, nil
}

// dial connects to the process that the entry names, of this user, and to no other.
func dial(ctx context.Context, e Entry, uid uint32) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", e.Socket)
	if err != nil {
		return nil, err
	}
	theirs, pid, err := peer(conn.(*net.UnixConn))
	switch {
	case err != nil:
	case theirs != uid:
		err = fmt.Errorf("the control socket is of user %d", theirs)
	case pid != e.PID:
		err = fmt.Errorf("the control socket is of process %d", pid)
	default:
		return conn, nil
	}
	return nil, errors.Join(err, conn.Close())
}

func withDeadline(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	if _, has := ctx.Deadline(); !has {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, callWithin)
		defer cancel()
	}
	return invoke(ctx, method, req, reply, conn, opts...)
}

// withCode turns a status into a *shared.Error. One without a code of ours means
// that the plugin went away, or that it does not know the call.
func withCode(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	var trailer metadata.MD
	err := invoke(ctx, method, req, reply, conn, append(opts, grpc.Trailer(&trailer))...)
	if err == nil {
		return nil
	}
	code := shared.OperationUnknown
	if given := trailer.Get(shared.CodeTrailer); len(given) == 1 {
		code = shared.Code(given[0])
	}
	message := strings.TrimPrefix(status.Convert(err).Message(), string(code)+": ")
	return &shared.Error{Code: code, Message: message, Err: err}
}
