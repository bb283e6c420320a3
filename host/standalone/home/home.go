// Package home is the standalone host's folder: where things lie in it, the lock
// that lets one host use it at a time ([Open]), and the file by which programs of
// the same user find a running host ([Find]).
//
//	<home>/host.lock                                     held while a host runs
//	<home>/run/<pid>.json                                how to reach it (0600, folder 0700)
//	<home>/storages/dsh-draft-sessions/drafts.json       the drafts; the plugin's
//	<home>/workspaces.json                               the folders, in order
//	<home>/sessions/<id>.jsonl                           a session's event log
//	<home>/config.json                                   the person's choices; read only
package home

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/gofrs/flock"
)

// EnvHome names the home when no flag does.
const EnvHome = "DRAFT_SESSIONS_HOME"

// Default is the home of a person who chose none: $DRAFT_SESSIONS_HOME, else
// "draft-sessions" in the folder that the system keeps for a user's data.
func Default() (string, error) {
	if dir := os.Getenv(EnvHome); dir != "" {
		return filepath.Abs(dir)
	}
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "draft-sessions"), nil
	}
	user, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("finding the user's folder (set %s): %w", EnvHome, err)
	}
	if runtime.GOOS == "darwin" {
		return filepath.Join(user, "Library", "Application Support", "draft-sessions"), nil
	}
	return filepath.Join(user, ".local", "share", "draft-sessions"), nil
}

// DraftFile is where the drafts of a home lie.
func DraftFile(dir string) string {
	return filepath.Join(dir, "storages", "dsh-draft-sessions", "drafts.json")
}

// Home is a home that this process holds.
type Home struct {
	// Dir is the folder, absolute.
	Dir  string
	lock *flock.Flock
	run  string // our registration, "" while there is none
}

// InUseError says who holds a home.
type InUseError struct {
	Dir string
	// Holder is nil when the holder has not registered (yet).
	Holder *Registration
}

func (e *InUseError) Error() string {
	if e.Holder == nil {
		return fmt.Sprintf("another host that is just starting or ending holds %s", e.Dir)
	}
	return fmt.Sprintf("the host with process id %d holds %s; its page is at %s", e.Holder.PID, e.Dir, e.Holder.Address)
}

// handover is how long a host that ends may keep the lock after its registration
// is gone: one that was killed while it started a program leaves it with that for a moment.
const handover = 2 * time.Second

// Open makes the folder (0700) when needed and takes its lock, until
// [Home.Close] or the end of the process. Its error is an *[InUseError] when
// another host holds it: at once when that is registered, else after two seconds.
func Open(dir string) (*Home, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("the home: %w", err)
	}
	for _, folder := range []string{dir, filepath.Join(dir, "sessions"), filepath.Join(dir, "run")} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return nil, fmt.Errorf("making the home: %w", err)
		}
	}
	if err := os.Chmod(filepath.Join(dir, "run"), 0o700); err != nil { // #nosec G302 -- a folder
		return nil, fmt.Errorf("making the home: %w", err)
	}
	lock := flock.New(filepath.Join(dir, "host.lock"), flock.SetPermissions(0o600))
	if err := take(lock, dir); err != nil {
		return nil, err
	}
	h := &Home{Dir: dir, lock: lock}
	if err := h.sweep(); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return h, nil
}

func take(lock *flock.Flock, dir string) error {
	for deadline := time.Now().Add(handover); ; time.Sleep(20 * time.Millisecond) {
		held, err := lock.TryLock()
		if err != nil {
			return fmt.Errorf("locking the home: %w", err)
		}
		if held {
			return nil
		}
		if holder := anyAlive(dir); holder != nil || time.Now().After(deadline) {
			return &InUseError{Dir: dir, Holder: holder}
		}
	}
}

// sweep removes what hosts left that were killed: we hold the lock, so none runs.
func (h *Home) sweep() error {
	files, err := registrations(h.Dir)
	if err != nil {
		return err
	}
	for _, file := range files {
		if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("removing the mark of a host that is gone: %w", err)
		}
	}
	return nil
}

// DraftFile, WorkspacesFile, SessionsFolder and ConfigFile are where things lie.
func (h *Home) DraftFile() string { return DraftFile(h.Dir) }

// WorkspacesFile is the list of folders.
func (h *Home) WorkspacesFile() string { return filepath.Join(h.Dir, "workspaces.json") }

// SessionsFolder holds the event logs.
func (h *Home) SessionsFolder() string { return filepath.Join(h.Dir, "sessions") }

// ConfigFile is written by a person only.
func (h *Home) ConfigFile() string { return filepath.Join(h.Dir, "config.json") }

// Close takes the registration away and lets another host have the home.
func (h *Home) Close() error {
	var err error
	if h.run != "" {
		if err = os.Remove(h.run); errors.Is(err, os.ErrNotExist) {
			err = nil
		}
		h.run = ""
	}
	return errors.Join(err, h.lock.Close())
}
