// Package commands are the commands about drafts: [Drafts] is embedded into the
// command line. Each command reads its flags, makes a few calls of packages desk,
// exchange and the drafts' own service, and tells the result.
package commands

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/go-json-experiment/json"

	"github.com/draft-sessions/dsh-draft-sessions/cmd/draft-sessions/internal/desk"
	"github.com/draft-sessions/dsh-draft-sessions/cmd/draft-sessions/internal/home"
)

// Drafts are the commands about drafts.
type Drafts struct {
	New    newCmd    `cmd:"" group:"drafts" help:"Write a new draft: TEXT, - for standard input, or in your editor."`
	List   listCmd   `cmd:"" aliases:"ls" group:"drafts" help:"List the drafts of a workspace, or of all."`
	Show   showCmd   `cmd:"" group:"drafts" help:"Show one draft with its text and conflict copies."`
	Edit   editCmd   `cmd:"" group:"drafts" help:"Edit a draft in $VISUAL or $EDITOR, or replace its text from standard input."`
	Send   sendCmd   `cmd:"" group:"drafts" help:"Send a draft through the live host of the home, once."`
	Mv     mvCmd     `cmd:"" group:"drafts" help:"Move a draft to another workspace or home."`
	Dup    dupCmd    `cmd:"" group:"drafts" help:"Make a copy of a draft."`
	Rm     rmCmd     `cmd:"" group:"drafts" help:"Delete drafts; they can be taken back for 30 days."`
	Undo   undoCmd   `cmd:"" group:"drafts" help:"Take a deleted draft back: the last one, or the one named."`
	Pin    pinCmd    `cmd:"" group:"drafts" help:"Show drafts before all others of their workspace."`
	Unpin  unpinCmd  `cmd:"" group:"drafts" help:"Show pinned drafts among the others again."`
	Export exportCmd `cmd:"" group:"drafts" help:"Write drafts as Markdown or JSON, or the version-1 file of the public plugin."`
	Import importCmd `cmd:"" group:"drafts" help:"Make drafts of files that export wrote, or of any Markdown files. All or nothing."`
}

// Failure is an error of a command, and how it is to be told.
type Failure struct {
	Err  error
	JSON bool
}

func (f *Failure) Error() string { return f.Err.Error() }

// Unwrap gives the cause.
func (f *Failure) Unwrap() error { return f.Err }

// Common are the flags of every command about drafts.
type Common struct {
	Home string `placeholder:"DIR" help:"The home whose drafts are meant. Default: $DRAFT_SESSIONS_HOME, else $DSH_HOME, else ~/.dsh if it has drafts, else the standalone host's own."`
	JSON bool   `name:"json" help:"Print one JSON object (docs/cli.md)."`
}

// InWorkspace are the flags of a command that is about one workspace.
type InWorkspace struct {
	Common
	Workspace string `short:"w" placeholder:"DIR|ID" help:"The workspace: a folder, or an id of the host's. Default: the current folder, or the nearest above it that is a workspace."`
}

// job is one run of a command.
type job struct {
	*desk.Desk
	json     bool
	in       io.Reader
	out, err io.Writer
}

// outBuffer is what a pipe takes at once, in bytes.
const outBuffer = 64 << 10

// collectAbove is the memory in bytes from which on garbage is collected.
const collectAbove = 1 << 30

// run opens the drafts, does the job and tells what went wrong.
func (c Common) run(ctx context.Context, create bool, do func(ctx context.Context, j *job) error) error {
	// A command lives so shortly that collecting garbage costs more than it gives.
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(collectAbove)
	err := func() error {
		h, err := home.Resolve(c.Home)
		if err != nil {
			return err
		}
		d, err := desk.Open(ctx, h, create)
		if err != nil {
			return err
		}
		j := &job{Desk: d, json: c.JSON, in: os.Stdin, out: os.Stdout, err: os.Stderr}
		if d.Warning != "" {
			j.note("%s", d.Warning)
		}
		if err = do(ctx, j); err != nil {
			_ = d.Close() // What went wrong first is what counts.
			return err
		}
		return d.Close()
	}()
	if err != nil {
		return &Failure{err, c.JSON}
	}
	return nil
}

// note tells a person something beside the result.
func (j *job) note(format string, args ...any) {
	if !j.json {
		_, _ = fmt.Fprintf(j.err, "note: "+format+"\n", args...) // Only a remark.
	}
}

// say prints the result for a person.
func (j *job) say(format string, args ...any) error {
	_, err := fmt.Fprintf(j.out, format, args...)
	return err
}

// tell prints the result: the object as JSON, or a line for a person.
func (j *job) tell(object any, format string, args ...any) error {
	if !j.json {
		return j.say(format, args...)
	}
	out := bufio.NewWriterSize(j.out, outBuffer)
	if err := json.MarshalWrite(out, object); err != nil {
		return fmt.Errorf("print the result: %w", err)
	}
	_ = out.WriteByte('\n') // Flush tells.
	if err := out.Flush(); err != nil {
		return fmt.Errorf("print the result: %w", err)
	}
	return nil
}

// one is the result of a command about one draft.
type one struct {
	// Outcome is what was done, a word that docs/cli.md lists.
	Outcome string     `json:"outcome"`
	Draft   desk.Draft `json:"draft"`
}

// many is the result of a command about several.
type many struct {
	Outcome string       `json:"outcome"`
	Drafts  []desk.Draft `json:"drafts"`
}

// isTerminal tells whether a person is at the other end.
func isTerminal(f any) bool {
	file, ok := f.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
