package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/draft-sessions/dsh-draft-sessions/cmd/draft-sessions/internal/desk"
	"github.com/draft-sessions/dsh-draft-sessions/cmd/draft-sessions/internal/home"
	"github.com/draft-sessions/dsh-draft-sessions/jsonstore"
	"github.com/draft-sessions/dsh-draft-sessions/plugin/drafts"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// Exit codes of doctor, beside 0 (good, or no file yet) and 1 (it could not look).
const (
	exitInvalid     = 2 // the file is malformed
	exitUnsupported = 3 // the file is of a later version
	exitIO          = 4 // the file cannot be read or written
	exitBusy        = 5 // another process holds the lock for too long
	exitGone        = 7 // there is no file, but there are backups of one
)

// lockPatience is how long a lock may be held before doctor complains.
const lockPatience = 2 * time.Second

// codeGone is told when there is no file, but backups of one.
const codeGone shared.Code = "DRAFT_STORAGE_GONE"

const doctorHelp = `Tell the state of the draft file, of its lock, backups and temporary files, and whether its folder can be watched. It changes nothing unless told to repair.

--repair takes what is whole of a malformed file when that are at least as many drafts as the newest good backup holds, which is older, and else that backup; --from takes the one or the other. The malformed file is always kept beside it. Without --repair both are told.

Exit codes: 0 good, no drafts yet, or nothing to repair; 1 could not look; 2 the file is malformed; 3 it is of a later version; 4 it cannot be read or written; 5 another process holds the lock; 7 the file is gone, but backups are there.`

type doctorCmd struct {
	Home   string `placeholder:"DIR" xor:"place" help:"The host's home that holds the drafts (default: $DRAFT_SESSIONS_HOME, $DSH_HOME, ~/.dsh when it has drafts, or the standalone host's)."`
	Path   string `placeholder:"FILE" xor:"place" help:"The draft file itself, instead of a home."`
	Repair bool   `help:"Put good content in the place of a file that is malformed or gone. The malformed one is kept beside it."`
	From   string `enum:"best,file,backup" default:"best" placeholder:"WHAT" help:"What --repair takes: file (what is whole of it), backup, or best (default)."`
	JSON   bool   `help:"Print one JSON object."`
}

// Help is shown by kong below the usage.
func (doctorCmd) Help() string { return doctorHelp }

func (c doctorCmd) Run(ctx context.Context, out io.Writer) error {
	path, err := c.file()
	if err != nil {
		return err
	}
	if c.Repair {
		return c.repair(ctx, out, path)
	}
	d, err := diagnose(ctx, path)
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
		return &exitError{exitGone, &desk.Problem{
			Err:  shared.Errorf(codeGone, "the draft file is gone, but %s there", many(len(d.Backups), "backup of it is", "backups of it are")),
			Kept: "nothing was changed", Next: "draft-sessions doctor --repair restores the newest good backup",
		}}
	}
	switch {
	case d.Code != "":
		return coded(shared.Errorf(d.Code, "%s", d.Message))
	case d.Lock != nil:
		return coded(shared.Errorf(shared.StorageBusy, "the lock of the draft file is held by %s, for more than %v", d.Lock, lockPatience))
	case d.Unwritable != "":
		return coded(shared.Errorf(shared.StorageIO, "nothing can be written into %s: %s", filepath.Dir(d.Path), d.Unwritable))
	}
	return nil
}

// diagnose looks again while the lock is held: a save holds it for a moment.
func diagnose(ctx context.Context, path string) (drafts.Diagnosis, error) {
	for end := time.Now().Add(lockPatience); ; {
		d, err := drafts.Diagnose(path)
		if err != nil || d.Lock == nil || time.Now().After(end) {
			return d, err
		}
		select {
		case <-ctx.Done():
			return d, ctx.Err()
		case <-time.After(lockPatience / 10):
		}
	}
}

func (c doctorCmd) repair(ctx context.Context, out io.Writer, path string) error {
	from := map[string]jsonstore.Source{"file": jsonstore.FromFile, "backup": jsonstore.FromBackup}[c.From]
	done, err := drafts.Repair(ctx, path, from)
	if errors.Is(err, jsonstore.ErrGood) {
		if c.JSON {
			return printJSON(out, struct {
				Nothing bool `json:"nothing"`
			}{true})
		}
		_, err := fmt.Fprintf(out, "file        %s: good; there is nothing to repair\n", path)
		return err
	}
	if err != nil && shared.CodeOf(err) != shared.StorageUncertain {
		return coded(err)
	}
	if c.JSON {
		return joinExit(err, printJSON(out, done))
	}
	return joinExit(err, printRepaired(out, done))
}

func printRepaired(out io.Writer, done jsonstore.Repaired) error {
	p := printer{out: out}
	if done.Salvaged {
		p.line("restored    %s of the file itself, as it was written %s, as generation %d", many(done.Records, "draft"), since(done.At), done.Generation)
		p.line("lost        %s", many(done.Lost, "record"))
	} else {
		p.line("restored    %s of %s, made %s, as generation %d", many(done.Records, "draft"), done.Restored, since(done.At), done.Generation)
	}
	if done.SetAside != "" {
		p.line("kept        %s", done.SetAside)
	}
	return p.err
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
		shared.StorageUncertain: exitIO, shared.StorageBusy: exitBusy,
	}[shared.CodeOf(err)]
	if !known {
		return err
	}
	var told *desk.Problem
	if !errors.As(err, &told) {
		kept := "the file was not touched"
		if shared.CodeOf(err) == shared.StorageUncertain {
			kept = "the file is repaired, but the disk did not confirm it"
		}
		err = &desk.Problem{Err: err, Kept: kept, Next: nextOfDoctor[shared.CodeOf(err)]}
	}
	return &exitError{code, err}
}

// nextOfDoctor is what to do about what doctor found.
var nextOfDoctor = map[shared.Code]string{
	shared.StorageInvalid:     "draft-sessions doctor --repair puts good content in its place, and keeps the malformed file",
	shared.StorageUnsupported: "use the version that wrote it",
	shared.StorageIO:          "see who may read and write the folder, and whether the disk is full or read-only",
	shared.StorageUncertain:   "look at it again",
	shared.StorageBusy:        "end that process if it hangs; its host starts another one",
}

// file is the draft file that was asked for. A mistyped place is an error: it
// would otherwise be told as one without drafts.
func (c doctorCmd) file() (string, error) {
	if c.Path == "" {
		at, err := home.Resolve(c.Home)
		if err != nil {
			return "", err
		}
		if err := mustExist(at.Dir, c.Home); err != nil {
			return "", err
		}
		return at.Drafts(), nil
	}
	if c.Home != "" {
		return "", shared.Errorf(shared.DraftInvalidInput, "either --home or --path, not both")
	}
	if info, err := os.Stat(filepath.Dir(c.Path)); err != nil || !info.IsDir() {
		return "", shared.Errorf(shared.DraftInvalidInput, "there is no folder %s", filepath.Dir(c.Path))
	}
	if info, err := os.Stat(c.Path); err == nil && info.IsDir() {
		return "", shared.Errorf(shared.DraftInvalidInput, "%s is a folder; name the file, or its home with --home", c.Path)
	}
	return c.Path, nil
}

// printer keeps the first error of many lines.
type printer struct {
	out io.Writer
	err error
}

func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.out, format+"\n", args...)
	}
}

// fact prints a line with what it is about first.
func (p *printer) fact(about, format string, args ...any) {
	p.line("%-11s %s", about, fmt.Sprintf(format, args...))
}

// printDiagnosis prints one fact a line, what it is about first.
func printDiagnosis(out io.Writer, d drafts.Diagnosis) error {
	p := &printer{out: out}
	switch {
	case d.Missing:
		p.fact("file", "%s: none yet", d.Path)
	case d.Code != "":
		p.fact("file", "%s: %s: %s", d.Path, d.Code, d.Message)
	default:
		p.fact("file", "%s: good", d.Path)
	}
	if !d.Missing {
		p.fact("is", "version %d, generation %d, %d bytes, %s, written %s", d.Version, d.Generation, d.Size, d.Mode, localTime(d.Modified))
		if d.Unknown {
			p.fact("holds", "unknown: the file cannot be read")
		} else {
			p.fact("holds", "%s, %d deleted, %s", many(d.Drafts, "draft"), d.Trash, many(d.Conflicts, "conflict copy", "conflict copies"))
		}
	}
	if s := d.Salvage; s != nil {
		p.fact("of it whole", "%s, and %s not; written %s", many(s.Records, "draft"), many(s.Lost, "record"), since(s.At))
	} else if d.Code == shared.StorageInvalid {
		p.fact("of it whole", "nothing")
	}
	if d.Note != "" {
		p.fact("migration", "%s (with the next change)", d.Note)
	}
	printUse(p, d)
	printBackups(p, d)
	for _, beside := range []struct {
		about string
		paths []string
	}{{"taken over", d.OldVersions}, {"set aside", d.SetAside}, {"left over", d.Temporary}} {
		for _, path := range beside.paths {
			p.fact(beside.about, "%s", path)
		}
	}
	if d.Watch != "" {
		p.fact("watching", "not possible: %s; changes of other processes are seen within 2 s", d.Watch)
	} else {
		p.fact("watching", "possible (limits: %d watches, %d watchers)", d.MaxWatches, d.MaxWatchers)
	}
	return p.err
}

func printUse(p *printer, d drafts.Diagnosis) {
	if d.Lock != nil {
		p.fact("lock", "held by %s", d.Lock)
	} else {
		p.fact("lock", "free")
	}
	if d.Unwritable != "" {
		p.fact("folder", "cannot be written: %s", d.Unwritable)
	}
	for _, user := range d.Users {
		p.fact("in use by", "%s", user)
	}
}

func printBackups(p *printer, d drafts.Diagnosis) {
	for _, b := range d.Backups {
		state := many(b.Records, "draft")
		if b.Code != "" {
			state = fmt.Sprintf("%s: %s", b.Code, b.Message)
		}
		p.fact("backup", "made %s, generation %d, %d bytes: %s", since(b.At), b.Generation, b.Size, state)
	}
	if len(d.Backups) == 0 {
		p.fact("backup", "none yet")
	}
}

func localTime(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") }

// since is a time with its age, to the second up to a minute, else to the minute.
func since(t time.Time) string {
	age := time.Since(t)
	step := time.Minute
	if age < time.Minute {
		step = time.Second
	}
	return fmt.Sprintf("%s (%s ago)", localTime(t), max(0, age).Truncate(step))
}

// many is a number with its word; the plural is made with an s unless it is given.
func many(n int, word string, plural ...string) string {
	switch {
	case n == 1:
		return "1 " + word
	case len(plural) > 0:
		return fmt.Sprintf("%d %s", n, plural[0])
	}
	return fmt.Sprintf("%d %ss", n, word)
}
