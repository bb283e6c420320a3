package desk

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// Problem is an error with what a person wants to know besides.
type Problem struct {
	Err error
	// Kept says what is safe and where; Next what to do.
	Kept, Next string
}

func (p *Problem) Error() string { return p.Err.Error() }

// Unwrap gives the cause.
func (p *Problem) Unwrap() error { return p.Err }

// ExitUsage is the exit code of a command line that is not understood.
const ExitUsage = 80

// exits are the exit codes by reason. They are part of the command's interface
// (docs/cli.md) and never change.
var exits = map[shared.Code]int{
	shared.DraftNotFound:      10,
	shared.DraftStaleRevision: 11,
	shared.DraftLimitReached:  12,
	shared.DraftInvalidInput:  13,
	shared.StorageInvalid:     14,
	shared.StorageUnsupported: 15,
	shared.StorageBusy:        16,
	shared.StorageIO:          17,
	shared.StorageUncertain:   18,
	shared.SessionUnavailable: 19,
	shared.OperationConflict:  20,
	shared.OperationUnknown:   21,
}

// ExitCode is the exit code for an error, 0 for nil.
func ExitCode(err error) int {
	if err == nil {
		return 0
	}
	return cmp.Or(exits[shared.CodeOf(err)], 1)
}

// advice is what to say of a code when nothing better is known.
var advice = map[shared.Code]struct{ kept, next string }{
	shared.DraftNotFound:      {"nothing was changed", "draft-sessions list --all shows every draft"},
	shared.DraftStaleRevision: {"nothing was changed", "look at it again and repeat the command"},
	shared.DraftLimitReached:  {"nothing was changed", "send or delete a draft of that workspace first"},
	shared.DraftInvalidInput:  {"nothing was changed", ""},
	shared.StorageInvalid:     {"the file was not touched", "draft-sessions doctor tells what is wrong with it"},
	shared.StorageUnsupported: {"the file was not touched", "use the version that wrote it"},
	shared.StorageBusy:        {"nothing was changed", "another process is writing; try again"},
	shared.StorageIO:          {"the file is as it was", "see whether the disk is full or read-only, then repeat the command"},
	shared.StorageUncertain:   {"the change is in the file, but the disk did not confirm it", "repeat the command; it changes nothing twice"},
	shared.SessionUnavailable: {"the drafts are as they were", "start the host of this home"},
	shared.OperationConflict:  {"nothing was changed", "try again when the other operation is over"},
	shared.OperationUnknown:   {"the drafts are on disk", "draft-sessions send --status ID looks what became of a send"},
}

// Told is an error as it is told: what happened, what is safe and what to do.
type Told struct {
	Code    shared.Code `json:"code"`
	Message string      `json:"message"`
	Kept    string      `json:"kept"`
	Next    string      `json:"next"`
	Exit    int         `json:"exit"`
}

// Print tells it: to a person in a few lines, or as JSON in one, as the object
// {"error":{"code","message","kept","next","exit"}}.
func (t Told) Print(out io.Writer, asJSON bool) {
	if asJSON {
		problem := struct {
			Error Told `json:"error"`
		}{t}
		if json.MarshalWrite(out, problem) == nil {
			_, _ = fmt.Fprintln(out) // There is nobody left to tell.
		}
		return
	}
	_, _ = fmt.Fprintf(out, "draft-sessions: %s\n", t.Message)
	if t.Kept != "" {
		_, _ = fmt.Fprintf(out, "  kept: %s\n", t.Kept)
	}
	if t.Next != "" {
		_, _ = fmt.Fprintf(out, "  next: %s\n", t.Next)
	}
	_, _ = fmt.Fprintf(out, "  (%s)\n", t.Code)
}

// Report tells an error of a command about drafts.
func Report(out io.Writer, err error, asJSON bool) {
	code := shared.CodeOf(err)
	told := Told{Code: code, Message: shared.MessageOf(err), Kept: advice[code].kept, Next: advice[code].next, Exit: ExitCode(err)}
	var p *Problem
	if errors.As(err, &p) {
		told.Kept, told.Next = cmp.Or(p.Kept, told.Kept), cmp.Or(p.Next, told.Next)
	}
	told.Print(out, asJSON)
}
