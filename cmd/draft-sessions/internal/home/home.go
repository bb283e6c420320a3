// Package home decides which home a command works on. It is the one place of
// that rule: call [Resolve].
package home

import (
	"fmt"
	"os"
	"path/filepath"

	standalone "github.com/draft-sessions/dsh-draft-sessions/host/standalone/home"
	"github.com/draft-sessions/dsh-draft-sessions/jsonstore"
	"github.com/draft-sessions/dsh-draft-sessions/plugin/drafts"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// Environment entries that name a home, the first one first.
const (
	Env    = standalone.EnvHome
	EnvDSH = "DSH_HOME"
)

// Home is a host's home: the folder that holds its draft file.
type Home struct {
	// Dir is absolute.
	Dir string
	// From says why this one: "--home", an environment entry, "~/.dsh, which has
	// drafts", or "the default".
	From string
}

// Drafts is the home's draft file, which may not exist.
func (h Home) Drafts() string { return drafts.PathIn(h.Dir) }

// HasBackups is whether there are backups of the draft file.
func (h Home) HasBackups() bool {
	entries, err := os.ReadDir(filepath.Join(filepath.Dir(h.Drafts()), jsonstore.BackupFolder))
	return err == nil && len(entries) > 0
}

func (h Home) String() string { return fmt.Sprintf("%s (%s)", h.Dir, h.From) }

// Resolve finds the home: the flag's when given, else that of
// $DRAFT_SESSIONS_HOME, else that of $DSH_HOME, else ~/.dsh if there is a draft file
// in it, or backups of one that is gone, else the standalone host's default. A leading ~/ is the user's
// home folder. It creates nothing. Errors: DRAFT_INVALID_INPUT.
func Resolve(flag string) (Home, error) {
	for _, given := range []Home{{flag, "--home"}, {os.Getenv(Env), Env}, {os.Getenv(EnvDSH), EnvDSH}} {
		if given.Dir != "" {
			return absolute(given)
		}
	}
	dsh, err := absolute(Home{"~/.dsh", "~/.dsh, which has drafts"})
	if err != nil {
		return Home{}, err
	}
	if _, err := os.Stat(dsh.Drafts()); err == nil || dsh.HasBackups() {
		return dsh, nil
	}
	dir, err := standalone.Default()
	if err != nil {
		return Home{}, shared.Errorf(shared.DraftInvalidInput, "%w", err)
	}
	return Home{dir, "the default"}, nil
}

func absolute(h Home) (Home, error) {
	dir := h.Dir
	if dir == "~" || len(dir) > 1 && dir[:2] == "~/" {
		user, err := os.UserHomeDir()
		if err != nil {
			return Home{}, shared.Errorf(shared.DraftInvalidInput, "find the user's home folder: %w", err)
		}
		dir = filepath.Join(user, dir[1:])
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Home{}, shared.Errorf(shared.DraftInvalidInput, "find the home %s: %w", h.Dir, err)
	}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return Home{}, shared.Errorf(shared.DraftInvalidInput, "the home %s (%s) is not a folder", dir, h.From)
	}
	return Home{dir, h.From}, nil
}
