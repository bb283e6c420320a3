package shared

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Code is the stable reason of an error, the same in Go, over gRPC, in a page
// and on the command line.
type Code string

// The codes of design.md.
const (
	// DraftNotFound: no draft of that id (it was sent, deleted, or never was).
	DraftNotFound Code = "DRAFT_NOT_FOUND"
	// DraftStaleRevision: expectedRevision is not the record's; nothing changed.
	DraftStaleRevision Code = "DRAFT_STALE_REVISION"
	// DraftLimitReached: too many drafts in the workspace, or the file would grow too large.
	DraftLimitReached Code = "DRAFT_LIMIT_REACHED"
	// DraftInvalidInput: the request itself is wrong; nothing changed.
	DraftInvalidInput Code = "DRAFT_INVALID_INPUT"
	// StorageInvalid: the file is malformed; it was not touched and is not written while it is.
	StorageInvalid Code = "DRAFT_STORAGE_INVALID"
	// StorageUnsupported: the file is of a later version; it was not touched.
	StorageUnsupported Code = "DRAFT_STORAGE_UNSUPPORTED"
	// StorageBusy: another process holds the lock for too long.
	StorageBusy Code = "DRAFT_STORAGE_BUSY"
	// StorageIO: reading or writing failed before anything changed on disk.
	StorageIO Code = "DRAFT_STORAGE_IO"
	// StorageUncertain: the new file is in place, but syncing its directory failed.
	StorageUncertain Code = "DRAFT_STORAGE_UNCERTAIN"
	// SessionUnavailable: the host could not create or reach the session.
	SessionUnavailable Code = "SESSION_UNAVAILABLE"
	// OperationConflict: another operation on the draft is under way (it is being sent).
	OperationConflict Code = "OPERATION_CONFLICT"
	// OperationUnknown: the editor, operation or outcome is not known to this process.
	OperationUnknown Code = "OPERATION_UNKNOWN"
)

// Error is an error with a [Code]. Its text is for people and never holds
// draft text or credentials (invariant 11).
type Error struct {
	Code    Code
	Message string
	Err     error
}

// Errorf makes an [Error]; a %w operand is kept as its cause.
func Errorf(code Code, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Code: code, Message: err.Error(), Err: errors.Unwrap(err)}
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s", e.Code, e.Message) }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// MessageOf is err's text without the code of the first [Error] in its chain: for
// wherever the code travels beside it. It is "" for nil.
func MessageOf(err error) string {
	var coded *Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &coded):
		return strings.ReplaceAll(err.Error(), string(coded.Code)+": ", "")
	}
	return err.Error()
}

// CodeOf is the code of the first [Error] in err's chain. A deadline or cancel
// is [OperationUnknown], since what it interrupted may have happened; any other
// error is [StorageIO]. It is "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	var coded *Error
	switch {
	case errors.As(err, &coded):
		return coded.Code
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return OperationUnknown
	}
	return StorageIO
}
