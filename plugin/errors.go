package plugin

import (
	"context"
	"errors"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// codedUnary turns an error into a gRPC status with its code in the trailer.
func codedUnary(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	resp, err := handler(ctx, req)
	if err == nil {
		return resp, nil
	}
	var coded *shared.Error
	if _, isStatus := status.FromError(err); isStatus && !errors.As(err, &coded) {
		return nil, err // A coded error may wrap a status, such as that of a broken host channel.
	}
	code := shared.CodeOf(err)
	_ = grpc.SetTrailer(ctx, metadata.Pairs(shared.CodeTrailer, string(code))) // fails only outside a call
	return nil, status.Error(grpcCode(code), shared.MessageOf(err))
}

func grpcCode(code shared.Code) codes.Code {
	switch code {
	case shared.DraftNotFound:
		return codes.NotFound
	case shared.DraftStaleRevision, shared.OperationConflict, shared.StorageBusy:
		return codes.Aborted
	case shared.DraftLimitReached:
		return codes.ResourceExhausted
	case shared.DraftInvalidInput:
		return codes.InvalidArgument
	case shared.StorageInvalid, shared.StorageUnsupported, shared.SessionUnavailable:
		return codes.FailedPrecondition // never Unavailable: a host takes that for a dead process
	}
	return codes.Unknown
}
