package host

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// withDeadline gives every call a deadline (invariant 9).
func withDeadline(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	if _, has := ctx.Deadline(); !has {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, defaultCall)
		defer cancel()
	}
	return invoke(ctx, method, req, reply, conn, opts...)
}

// withCode turns a status with a code in its trailer into a *shared.Error.
func withCode(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	var trailer metadata.MD
	err := invoke(ctx, method, req, reply, conn, append(opts, grpc.Trailer(&trailer))...)
	if err == nil {
		return nil
	}
	if code := trailer.Get(shared.CodeTrailer); len(code) == 1 {
		return &shared.Error{Code: shared.Code(code[0]), Message: status.Convert(err).Message(), Err: err}
	}
	return err
}
