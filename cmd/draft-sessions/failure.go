package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/draft-sessions/dsh-draft-sessions/cmd/draft-sessions/internal/commands"
	"github.com/draft-sessions/dsh-draft-sessions/cmd/draft-sessions/internal/desk"
	"github.com/draft-sessions/dsh-draft-sessions/host/dsh/install"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// Codes of what is told beside those of package shared and of the gate.
const (
	codeUsage    shared.Code = "USAGE"    // the command line was not understood
	codeInternal shared.Code = "INTERNAL" // nobody thought of it
)

// failed tells the error of a command and gives its exit code.
func failed(out io.Writer, err error, asJSON bool) int {
	var failure *commands.Failure
	if errors.As(err, &failure) {
		desk.Report(out, failure.Err, failure.JSON)
		return desk.ExitCode(failure)
	}
	told := desk.Told{Code: codeInternal, Message: err.Error(), Exit: 1}
	var exit *exitError
	if errors.As(err, &exit) {
		told.Exit = exit.code
	}
	var coded *shared.Error
	if errors.As(err, &coded) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		told.Code, told.Message = shared.CodeOf(err), shared.MessageOf(err)
		told.Next = nextOf[told.Code]
	}
	var problem *desk.Problem
	if errors.As(err, &problem) {
		told.Kept, told.Next = problem.Kept, problem.Next
	}
	told.Print(out, asJSON)
	return told.Exit
}

// nextOf is what to do about an error of a command about the installation.
var nextOf = map[shared.Code]string{
	install.DSHNotFound:       "install DSH, or name the folder that it was installed into with --dsh",
	install.PnpmMissing:       "npm install -g pnpm@10, then give the command again",
	install.BundleNotFound:    "name the folder that holds the release's packages with --from",
	install.BundleInvalid:     "get the packages of the release again; SHA256SUMS lies beside them",
	install.DSHFailed:         "see above what DSH says, then give the command again",
	shared.StorageBusy:        "try again when the other process is done",
	shared.StorageIO:          "see whether the disk is full or read-only, then give the command again",
	shared.SessionUnavailable: "start the host of this home",
}

// misused tells what is wrong with a command line, and how it is used.
func misused(out io.Writer, err error, app *kong.Application, args []string) int {
	node, path := app.Node, app.Name
	var parse *kong.ParseError
	if errors.As(err, &parse) && parse.Context.Selected() != nil {
		node = parse.Context.Selected()
		path += " " + node.Name
	}
	told := desk.Told{Code: codeUsage, Message: err.Error(), Kept: "nothing was done", Next: path + " --help tells more", Exit: desk.ExitUsage}
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	if slices.Contains(args, "--json") {
		told.Print(out, true)
		return told.Exit
	}
	_, _ = fmt.Fprintf(out, "%s: %s\nusage: %s %s\n%s\n", app.Name, told.Message, app.Name, strings.TrimSpace(node.Summary()), told.Next) // There is nobody left to tell.
	return told.Exit
}

// asJSON tells whether the command was asked for JSON.
func asJSON(parsed *kong.Context) bool {
	for _, flag := range parsed.Flags() {
		if flag.Name == "json" {
			on, _ := parsed.FlagValue(flag).(bool)
			return on
		}
	}
	return false
}
