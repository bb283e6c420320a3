package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/draft-sessions/dsh-draft-sessions/cmd/draft-sessions/internal/home"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
	"github.com/draft-sessions/dsh-draft-sessions/shared/rearm"
)

// Exit code of rearm, beside 0 and 1 (it could not ask).
const exitNobody = 2

type rearmCmd struct {
	Home string        `placeholder:"DIR" help:"The host's home (default: $DRAFT_SESSIONS_HOME, $DSH_HOME, ~/.dsh when it has drafts, or the standalone host's)."`
	Wait time.Duration `default:"10s" help:"How long to wait for a host (default: 10s)."`
	JSON bool          `help:"Print one JSON object."`
}

// rearmed is what rearm --json prints.
type rearmed struct {
	Outcome string   `json:"outcome"`
	Home    homeJSON `json:"home"`
}

// homeJSON tells which home was used and why.
type homeJSON struct {
	Path string `json:"path"`
	From string `json:"from"`
}

// Help is shown by kong below the usage.
func (rearmCmd) Help() string {
	return "A host gives the plugin up when it has ended five times within two minutes; its page is then stock. This asks the running host of a home to start the plugin again.\n\nExit codes: 0 a host took the request; 2 none did: none runs, or none has given up; 1 it could not ask."
}

func (c rearmCmd) Run(ctx context.Context, out io.Writer) error {
	at, err := home.Resolve(c.Home)
	if err != nil {
		return err
	}
	if err := mustExist(at.Dir, c.Home); err != nil {
		return err
	}
	folder := filepath.Dir(at.Drafts())
	if _, err := os.Stat(folder); err != nil {
		return &exitError{exitNobody, shared.Errorf(shared.SessionUnavailable, "no host of %s has ever run draft sessions", at)}
	}
	waiting, cancel := context.WithTimeout(ctx, c.Wait)
	defer cancel()
	err = rearm.Ask(waiting, folder)
	if shared.CodeOf(err) == shared.SessionUnavailable {
		return &exitError{exitNobody, shared.Errorf(shared.SessionUnavailable, "no host of %s waits to be asked: none runs, or its drafts are on; its log is %s", at, filepath.Join(folder, "host.log"))}
	}
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(out, rearmed{"rearmed", homeJSON{at.Dir, at.From}})
	}
	_, err = fmt.Fprintf(out, "The host of %s starts the plugin again.\n", at)
	return err
}
