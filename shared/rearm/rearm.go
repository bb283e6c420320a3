// Package rearm lets a person's command ask a host to start the plugin again after
// it has given up (five crashes in two minutes), whatever language the host is
// written in: by a file in the plugin's folder.
//
// [Ask] puts the file there and waits until a host has taken it. A host that has
// given up looks at [Pending] once when it gives up, and then every second: a
// request that was there already is not for it; on any other it calls [Take] and
// starts the plugin when that is true. A host that has not given up leaves the file
// alone. Hosts that share a folder race for the file, and one of them wins.
package rearm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// Folder and File name the request: <folder of the draft file>/run/rearm, mode 0600
// in a folder of mode 0700.
const (
	Folder = "run"
	File   = "rearm"
)

// Schema is the form of the file: {"schema":1,"id":"<new for each request>"}.
const Schema = 1

// maxBytes bounds what is read of the file.
const maxBytes = 4 << 10

// askAgain is how often Ask looks whether its request was taken.
const askAgain = 50 * time.Millisecond

type request struct {
	Schema int    `json:"schema"`
	ID     string `json:"id"`
}

// path is where the request of a plugin's folder lies.
func path(folder string) string { return filepath.Join(folder, Folder, File) }

// Ask asks the hosts that use a folder (that of the draft file) and returns when
// one of them has taken the request. When ctx ends before, the request is withdrawn
// and the error is SESSION_UNAVAILABLE: no host waits to be asked. Another request
// that lies there is replaced, and both callers wait for the newer. Codes: DRAFT_STORAGE_IO, SESSION_UNAVAILABLE.
func Ask(ctx context.Context, folder string) error {
	id := uuid.NewString()
	if err := write(folder, id); err != nil {
		return shared.Errorf(shared.StorageIO, "asking the host: %w", err)
	}
	tick := time.NewTicker(askAgain)
	defer tick.Stop()
	for {
		if Pending(folder) == "" {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			if Take(folder, id) || Pending(folder) != "" {
				return shared.Errorf(shared.SessionUnavailable, "no host took the request")
			}
			return nil // taken at the last moment
		}
	}
}

func write(folder, id string) error {
	data, err := json.Marshal(request{Schema: Schema, ID: id})
	if err != nil {
		return err
	}
	dir := filepath.Join(folder, Folder)
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	// Renamed into place, so that nobody reads half of it.
	temporary := filepath.Join(dir, "."+File+"-"+id)
	if err := os.WriteFile(temporary, data, 0o600); err != nil {
		return err
	}
	if err := os.Rename(temporary, path(folder)); err != nil {
		return errors.Join(err, os.Remove(temporary))
	}
	return nil
}

// Pending is the id of the request that lies in a plugin's folder, "" for none or
// one that cannot be read.
func Pending(folder string) string {
	file, err := os.Open(path(folder))
	if err != nil {
		return ""
	}
	defer func() { _ = file.Close() }() // only read
	data, err := io.ReadAll(io.LimitReader(file, maxBytes))
	if err != nil {
		return ""
	}
	var r request
	if json.Unmarshal(data, &r) != nil || r.Schema != Schema {
		return ""
	}
	return r.ID
}

// Take removes the request of that id and tells whether it was this caller that
// did: of several hosts only one may act on it.
func Take(folder, id string) bool {
	if id == "" || Pending(folder) != id {
		return false
	}
	// A rename to a name of one's own has one winner, and what was won can be looked at.
	mine := filepath.Join(folder, Folder, fmt.Sprintf(".%s-taken-%s", File, uuid.NewString()))
	if os.Rename(path(folder), mine) != nil {
		return false
	}
	data, err := os.ReadFile(mine)
	var r request
	taken := err == nil && json.Unmarshal(data, &r) == nil && r.ID == id
	if !taken {
		// A newer request came in between: it goes back, unless a still newer is there.
		if os.Link(mine, path(folder)) != nil {
			_ = os.Remove(mine)
			return false
		}
	}
	_ = os.Remove(mine) // at worst a small file stays
	return taken
}
