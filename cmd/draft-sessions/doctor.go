package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/draft-sessions/dsh-draft-sessions/plugin/drafts"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// Exit codes of doctor, beside 0 (good, or no file yet) and 1 (it could not look).
const (
	exitInvalid     = 2 // the file is malformed
	exitUnsupported = 3 // the file is of a later version
	exitIO          = 4 // the file cannot be read or written
	exitBusy        = 5 // another process holds the lock for too long
	exitGood        = 6 // --repair: the file is good, nothing was done
	exitGone        = 7 // there is no file, but there are backups of one
)

const doctorHelp = `Tell the state of the draft file, of its lock, backups and temporary files, and whether its folder can be watched. It changes nothing unless told to repair.

Exit codes: 0 good, or no drafts yet; 1 could not look; 2 the file is malformed; 3 it is of a later version; 4 it cannot be read or written; 5 another process holds the lock; 6 --repair found a good file and did nothing; 7 the file is gone, but backups are there.`

type doctorCmd struct {
	Home   string `env:"DSH_HOME" default:"~/.dsh" placeholder:"DIR" help:"The host's home that holds the drafts."`
	Path   string `placeholder:"FILE" help:"The draft file itself, instead of a home."`
	Repair bool   `help:"Put the newest good backup in the place of a file that is malformed or gone. The malformed one is kept beside it."`
	JSON   bool   `help:"Print one JSON object."`
}

// Help is shown by kong below the usage.
func (doctorCmd) Help() string { return doctorHelp }

func (c doctorCmd) Run() error { return c.run(context.Background(), os.Stdout) }

func (c doctorCmd) run(ctx context.Context, out io.Writer) error {
	path, err := c.file()
	if err != nil {
		return err
	}
	if c.Repair {
		return c.repair(ctx, out, path)
	}
	d, err := drafts.Diagnose(path)
	if err != nil {
		return err
	}
	if c.JSON {
		err = printJSON(out, d)
	} else {
		err = printDiagnosis(out, d)
	}
	if err != nil {
		return err
	}
	if d.Missing && len(d.Backups) > 0 {
		return &exitError{exitGone, fmt.Errorf("the draft file is gone, but %d backups are there; --repair restores the newest good one", len(d.Backups))}
	}
	if d.Code != "" {
		return coded(shared.Errorf(d.Code, "%s", d.Message))
	}
	return nil
}

func (c doctorCmd) repair(ctx context.Context, out io.Writer, path string) error {
	done, err := drafts.Repair(ctx, path)
	if err != nil && shared.CodeOf(err) != shared.StorageUncertain {
		return coded(err)
	}
	if c.JSON {
		err = joinExit(err, printJSON(out, done))
	} else {
		_, printErr := fmt.Fprintf(out, "restored    %s, of %s, as generation %d\n", done.Restored, localTime(done.At), done.Generation)
		err = joinExit(err, printErr)
		if done.SetAside != "" {
			_, printErr = fmt.Fprintf(out, "kept        %s\n", done.SetAside)
			err = joinExit(err, printErr)
		}
	}
	return err
}

func joinExit(err, next error) error {
	if err != nil {
		return coded(err)
	}
	return next
}

// coded gives an error its exit code.
func coded(err error) error {
	code, known := map[shared.Code]int{
		shared.StorageInvalid: exitInvalid, shared.StorageUnsupported: exitUnsupported, shared.StorageIO: exitIO,
		shared.StorageUncertain: exitIO, shared.StorageBusy: exitBusy, shared.DraftInvalidInput: exitGood,
	}[shared.CodeOf(err)]
	if !known {
		return err
	}
	return &exitError{code, err}
}

// file is the draft file that was asked for.
func (c doctorCmd) file() (string, error) {
	if c.Path != "" {
		return c.Path, nil
	}
	home := c.Home
	if home == "" || home == "~/.dsh" {
		user, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("find the home: %w", err)
		}
		home = filepath.Join(user, ".dsh")
	}
	return drafts.PathIn(home), nil
}

// printDiagnosis prints one fact a line, what it is about first.
func printDiagnosis(out io.Writer, d drafts.Diagnosis) error {
	var err error
	line := func(about, format string, args ...any) {
		if err == nil {
			_, err = fmt.Fprintf(out, "%-11s %s\n", about, fmt.Sprintf(format, args...))
		}
	}
	switch {
	case d.Missing:
		line("file", "%s: none yet", d.Path)
	case d.Code != "":
		line("file", "%s: %s: %s", d.Path, d.Code, d.Message)
	default:
		line("file", "%s: good", d.Path)
	}
	if !d.Missing {
		line("is", "version %d, generation %d, %d bytes, %s, written %s", d.Version, d.Generation, d.Size, d.Mode, localTime(d.Modified))
		line("holds", "%d drafts, %d deleted, %d conflict copies", d.Drafts, d.Trash, d.Conflicts)
	}
	if d.Note != "" {
		line("migration", "%s (with the next change)", d.Note)
	}
	if d.Lock != nil {
		line("lock", "held by %s", d.Lock)
	} else {
		line("lock", "free")
	}
	for _, user := range d.Users {
		line("in use by", "%s", user)
	}
	for _, b := range d.Backups {
		state := "good"
		if b.Code != "" {
			state = fmt.Sprintf("%s: %s", b.Code, b.Message)
		}
		line("backup", "%s, generation %d, %d bytes: %s", localTime(b.At), b.Generation, b.Size, state)
	}
	if len(d.Backups) == 0 {
		line("backup", "none yet")
	}
	for _, beside := range []struct {
		about string
		paths []string
	}{{"taken over", d.OldVersions}, {"set aside", d.SetAside}, {"left over", d.Temporary}} {
		for _, path := range beside.paths {
			line(beside.about, "%s", path)
		}
	}
	if d.Watch != "" {
		line("watching", "not possible: %s; changes of other processes are seen within 2 s", d.Watch)
	} else {
		line("watching", "possible (limits: %d watches, %d watchers)", d.MaxWatches, d.MaxWatchers)
	}
	return err
}

func localTime(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") }
