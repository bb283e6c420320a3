// Package fault holds the standalone host's own error codes (API.md). A code of
// a draft comes from package shared; both reach a page in the same shape.
package fault

import (
	"errors"
	"fmt"
)

// Code is the stable reason of an error of the host.
type Code string

// The codes of API.md.
const (
	BadRequest         Code = "bad-request"
	Unauthorized       Code = "unauthorized"
	Forbidden          Code = "forbidden"
	NotFound           Code = "not-found"
	SessionConflict    Code = "session-conflict"
	SubmissionConflict Code = "submission-conflict"
	AgentBusy          Code = "agent-busy"
	AgentUnavailable   Code = "agent-unavailable"
	LogCorrupt         Code = "log-corrupt"
	Storage            Code = "storage"
	PluginUnavailable  Code = "plugin-unavailable"
	TooLarge           Code = "too-large"
)

// Error is an error with a [Code]. Message is one sentence for a person and
// never holds a prompt, a draft's text or a credential (invariant 11).
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

func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// CodeOf is the code of the first [Error] in err's chain, "" when there is none.
func CodeOf(err error) Code {
	var coded *Error
	if errors.As(err, &coded) {
		return coded.Code
	}
	return ""
}
