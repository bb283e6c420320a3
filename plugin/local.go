package plugin

import (
	"context"
	"errors"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/hashicorp/go-hclog"

	"github.com/draft-sessions/dsh-draft-sessions/plugin/drafts"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
	"github.com/draft-sessions/dsh-draft-sessions/shared/compat"
	pb "github.com/draft-sessions/dsh-draft-sessions/shared/proto/draftsessionsv1"
)

// Local is the plugin's service inside this process, on the draft file alone: for
// a command where no plugin is live. Whatever needs a host is refused with
// SESSION_UNAVAILABLE. Its calls return *[shared.Error] as they are, and streams
// are not served.
type Local struct {
	pb.DraftSessionsClient
	server *server
}

// OpenLocal opens the draft file without watching it; end with [Local.Close].
// Of config, Version, StorePath and LimitPerWorkspace are used. Codes: those of
// [drafts.Open].
func OpenLocal(ctx context.Context, config Config) (*Local, error) {
	store, err := drafts.Open(ctx, drafts.Options{Path: config.StorePath, LimitPerWorkspace: config.LimitPerWorkspace, Poll: -1})
	if err != nil {
		return nil, err
	}
	s := newServer(config, &compat.Table{}, store, hclog.NewNullLogger())
	s.local = true
	return &Local{DraftSessionsClient: pb.NewDraftSessionsClient(inProcess{s}), server: s}, nil
}

// Close ends it. Every answered change is on disk already.
func (l *Local) Close() error {
	err := l.server.editors.Stop(context.Background())
	l.server.sessions.Stop()
	return errors.Join(err, l.server.store.Close())
}

// inProcess calls the service's own handlers.
type inProcess struct{ server *server }

func (c inProcess) Invoke(ctx context.Context, method string, args, reply any, _ ...grpc.CallOption) error {
	for _, m := range pb.DraftSessions_ServiceDesc.Methods {
		if method != "/"+pb.DraftSessions_ServiceDesc.ServiceName+"/"+m.MethodName {
			continue
		}
		answer, err := m.Handler(c.server, ctx, func(request any) error {
			hand(args.(proto.Message), request.(proto.Message)) // Handlers change no request.
			return nil
		}, nil)
		if err == nil {
			hand(answer.(proto.Message), reply.(proto.Message))
		}
		return coded(err)
	}
	return status.Errorf(codes.Unimplemented, "%s", method)
}

// hand gives the members of an answer, which nobody else has, to reply.
func hand(answer, reply proto.Message) {
	to := reply.ProtoReflect()
	answer.ProtoReflect().Range(func(member protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		to.Set(member, value)
		return true
	})
}

func (inProcess) NewStream(context.Context, *grpc.StreamDesc, string, ...grpc.CallOption) (grpc.ClientStream, error) {
	return nil, shared.Errorf(shared.SessionUnavailable, "there is nothing to follow without a live plugin")
}

// coded gives every error a code.
func coded(err error) error {
	var known *shared.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	return shared.Errorf(shared.CodeOf(err), "%w", err)
}
