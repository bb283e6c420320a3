package rig

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/dshapi"
)

// DraftFile is the path of the home's draft file.
func (h *Home) DraftFile() string {
	return filepath.Join(h.Dir, "storages", "dsh-draft-sessions", "drafts.json")
}

// Document reads the draft file as it lies on disk.
func (h *Home) Document() (shared.Document, error) {
	raw, err := os.ReadFile(h.DraftFile())
	if err != nil {
		return shared.Document{}, err
	}
	var document shared.Document
	if err := json.Unmarshal(raw, &document); err != nil {
		return shared.Document{}, fmt.Errorf("read %s: %w", h.DraftFile(), err)
	}
	return document, nil
}

// NewFolder makes an empty folder that a workspace can be.
func (h *Home) NewFolder(name string) (string, error) {
	path := filepath.Join(h.Root, name)
	return path, os.Mkdir(path, 0o755)
}

// NewWorkspace makes a folder and adds it to the running harness.
func (h *Home) NewWorkspace(ctx context.Context, name string) (dshapi.Workspace, error) {
	path, err := h.NewFolder(name)
	if err != nil {
		return dshapi.Workspace{}, fmt.Errorf("make a workspace: %w", err)
	}
	return h.API.CreateWorkspace(ctx, path)
}

// ForgetSession removes a session while the harness is down: its files, and its
// id from every workspace.
func (h *Home) ForgetSession(sessionID string) error {
	matches, err := filepath.Glob(filepath.Join(h.Dir, "sessions", "*", sessionID))
	if err != nil {
		return err
	}
	for _, match := range matches {
		if err := os.RemoveAll(match); err != nil {
			return fmt.Errorf("forget a session: %w", err)
		}
	}
	path := filepath.Join(h.Dir, "storages", "workspace.json")
	raw, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("forget a session: %w", err)
	}
	var document map[string]any
	if err := json.Unmarshal(raw, &document); err != nil {
		return fmt.Errorf("forget a session: %w", err)
	}
	without(document, sessionID)
	edited, err := json.MarshalIndent(document, "", "  ")
	if err != nil {
		return fmt.Errorf("forget a session: %w", err)
	}
	return os.WriteFile(path, edited, 0o644)
}

// without removes a string from every list inside a decoded JSON object.
func without(value map[string]any, unwanted string) {
	for key, member := range value {
		switch m := member.(type) {
		case map[string]any:
			without(m, unwanted)
		case []any:
			kept := []any{}
			for _, element := range m {
				if element != unwanted {
					kept = append(kept, element)
				}
			}
			value[key] = kept
		}
	}
}

// Logs are the ends of all log files of the home, for a failed test.
func (h *Home) Logs(lines int) string {
	var all strings.Builder
	// A folder that vanishes while walking has no log to show.
	_ = filepath.WalkDir(h.Dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if entry.IsDir() {
			if name := entry.Name(); name == "node_modules" || name == "sessions" {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".log") {
			return nil
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return nil
		}
		tail := strings.Split(strings.TrimSpace(string(raw)), "\n")
		tail = tail[max(0, len(tail)-lines):]
		fmt.Fprintf(&all, "---- %s\n%s\n", path, strings.Join(tail, "\n"))
		return nil
	})
	return all.String()
}
