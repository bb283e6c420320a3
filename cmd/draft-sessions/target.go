package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// target is which profile of which DSH a command is about.
type target struct {
	DSH     string `name:"dsh" placeholder:"DIR" help:"Folder that DSH was installed into, or its command; the dsh of the PATH when not given."`
	DSHHome string `name:"dsh-home" placeholder:"DIR" help:"The home of DSH; DSH_HOME or ~/.dsh when not given."`
	Profile string `default:"web" placeholder:"NAME" help:"The profile of DSH (default: web)."`
}

// homeDir is the DSH home that was named, that of the environment, or DSH's own
// default, as an absolute path.
func homeDir(named string) (string, error) {
	home := named
	if home == "" {
		home = strings.TrimSpace(os.Getenv("DSH_HOME"))
	}
	if home == "" {
		user, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("find the home: %w", err)
		}
		home = filepath.Join(user, ".dsh")
	}
	home, err := filepath.Abs(home)
	if err != nil {
		return "", fmt.Errorf("find the home: %w", err)
	}
	return home, nil
}

// mustExist refuses a home that was named and is not there: a mistyped one would
// otherwise be told as an empty one.
func mustExist(dir, named string) error {
	if info, err := os.Stat(dir); named != "" && (err != nil || !info.IsDir()) {
		return shared.Errorf(shared.DraftInvalidInput, "there is no folder %s", dir)
	}
	return nil
}

// namedHome is homeDir of a home that must be there when it was named.
func namedHome(named string) (string, error) {
	dir, err := homeDir(named)
	if err != nil {
		return "", err
	}
	return dir, mustExist(dir, named)
}
