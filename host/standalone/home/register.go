package home

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// Registration is how a program of the same user reaches a running host. The
// token is a secret: it is in the file (0600) and in no log.
type Registration struct {
	PID int `json:"pid"`
	// StartedAt is in milliseconds since the Unix epoch.
	StartedAt int64  `json:"startedAt"`
	Address   string `json:"address"`
	Token     string `json:"token"`
	// Instance is new for every start of the host.
	Instance string `json:"instance"`
}

// Register writes the registration of this process.
func (h *Home) Register(r Registration) error {
	data, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("registering the host: %w", err)
	}
	path := filepath.Join(h.Dir, "run", fmt.Sprintf("%d.json", r.PID))
	// Written aside and renamed, so that nobody reads half of it.
	aside := path + ".new"
	if err := os.WriteFile(aside, data, 0o600); err != nil {
		return fmt.Errorf("registering the host: %w", err)
	}
	if err := os.Rename(aside, path); err != nil {
		return fmt.Errorf("registering the host: %w", err)
	}
	h.run = path
	return nil
}

// ErrNoHost: no host of that home runs.
var ErrNoHost = errors.New("no host of this home runs; start one with: draft-sessions up")

// Find gives the host that runs on a home. It asks the host itself, so that
// neither a left-over file nor a process that was given the same id is taken
// for one. ctx bounds the question, 2 s at most. Errors: [ErrNoHost].
func Find(ctx context.Context, dir string) (Registration, error) {
	r := anyAlive(dir)
	if r == nil {
		return Registration{}, ErrNoHost
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.Address+"/api/health", nil)
	if err != nil {
		return Registration{}, fmt.Errorf("%w (%w)", ErrNoHost, err)
	}
	request.Close = true // nothing is asked a second time
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return Registration{}, fmt.Errorf("%w (%w)", ErrNoHost, err)
	}
	defer response.Body.Close()
	var health struct {
		Instance string `json:"instance"`
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, 4096))
	if err != nil || json.Unmarshal(body, &health) != nil || health.Instance != r.Instance {
		return Registration{}, ErrNoHost
	}
	return *r, nil
}

// registrations are the files of hosts, also of those that are gone.
func registrations(dir string) ([]string, error) {
	folder := filepath.Join(dir, "run")
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("listing the hosts of the home: %w", err)
	}
	var files []string
	for _, entry := range entries {
		files = append(files, filepath.Join(folder, entry.Name()))
	}
	return files, nil
}

// anyAlive is the registration of a process that exists, nil when there is none.
func anyAlive(dir string) *Registration {
	files, err := registrations(dir)
	if err != nil {
		return nil
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			continue // just removed
		}
		r := &Registration{}
		if json.Unmarshal(data, r) == nil && r.PID > 0 && syscall.Kill(r.PID, 0) == nil {
			return r
		}
	}
	return nil
}
