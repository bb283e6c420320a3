// Package workspaces keeps the folders that a person works in, in their order,
// in one JSON file. Start with [Open]. What a call answers is on disk when it
// returns (package jsonstore); removing a workspace touches neither the folder
// nor a session or draft in it.
package workspaces

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
	"github.com/hashicorp/go-hclog"

	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/fault"
	"github.com/draft-sessions/dsh-draft-sessions/jsonstore"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

const (
	version = 1
	// MaxWorkspaces bounds the list.
	MaxWorkspaces = 1000
	// MaxNameBytes bounds a name, in bytes.
	MaxNameBytes = 256
)

// Workspace is one folder.
type Workspace struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Path is absolute, without links.
	Path    string `json:"path"`
	AddedAt int64  `json:"addedAt"`
}

type document struct {
	Version    int64       `json:"version"`
	Generation int64       `json:"generation"`
	Workspaces []Workspace `json:"workspaces"`
}

// List is the list of workspaces. Its methods may be called from any goroutine.
type List struct {
	store *jsonstore.Store[*document]
}

// Open opens the list in that file; end with [List.Close].
func Open(ctx context.Context, path string, log hclog.Logger) (*List, error) {
	store, err := jsonstore.Open(ctx, format(), jsonstore.Options{Path: path, Backups: true, Log: log})
	if err != nil {
		return nil, fmt.Errorf("opening the workspaces: %w", err)
	}
	return &List{store: store}, nil
}

func format() jsonstore.Format[*document] {
	f := jsonstore.Format[*document]{
		Version:        version,
		Empty:          func() *document { return &document{Version: version, Workspaces: []Workspace{}} },
		Generation:     func(d *document) int64 { return d.Generation },
		WithGeneration: func(d *document, g int64) *document { c := *d; c.Generation = g; return &c },
	}
	f.Decode, f.Encode = jsonstore.Whole(decode, func(d *document) ([]byte, error) {
		return json.Marshal(d, jsontext.WithIndent(" "))
	})
	return f
}

func decode(data []byte) (*document, error) {
	d := &document{}
	if err := json.Unmarshal(data, d, json.RejectUnknownMembers(true)); err != nil {
		return nil, shared.Errorf(shared.StorageInvalid, "workspaces.json: %v", err)
	}
	ids, paths := map[string]bool{}, map[string]bool{}
	for i, w := range d.Workspaces {
		if w.ID == "" || !filepath.IsAbs(w.Path) || ids[w.ID] || paths[w.Path] {
			return nil, shared.Errorf(shared.StorageInvalid, "workspaces.json: entry %d has no id or path of its own", i)
		}
		ids[w.ID], paths[w.Path] = true, true
	}
	return d, nil
}

// Close ends watching the file.
func (l *List) Close() error { return l.store.Close() }

// All are the workspaces in the person's order.
func (l *List) All() []Workspace { return slices.Clone(l.store.Snapshot().Workspaces) }

// Subscribe calls changed after every change, also one that another hand made in
// the file. It must not block.
func (l *List) Subscribe(changed func()) (cancel func()) {
	return l.store.Subscribe(func(jsonstore.Change[*document]) { changed() })
}

// Get is the workspace of that id. Code: not-found.
func (l *List) Get(id string) (Workspace, error) {
	for _, w := range l.store.Snapshot().Workspaces {
		if w.ID == id {
			return w, nil
		}
	}
	return Workspace{}, fault.Errorf(fault.NotFound, "there is no such workspace")
}

// Of is the workspace whose folder is path, false when none is.
func (l *List) Of(path string) (Workspace, bool) {
	for _, w := range l.store.Snapshot().Workspaces {
		if w.Path == path {
			return w, true
		}
	}
	return Workspace{}, false
}

// CleanFolder checks that path is an absolute name of a folder without "." and
// ".." in it, and gives it without links. Codes: bad-request, not-found.
func CleanFolder(path string) (string, error) {
	switch {
	case path == "" || strings.ContainsRune(path, 0) || !utf8.ValidString(path):
		return "", fault.Errorf(fault.BadRequest, "a folder's path is missing or not well-formed")
	case !filepath.IsAbs(path):
		return "", fault.Errorf(fault.BadRequest, "a folder's path must be absolute")
	case slices.Contains(strings.Split(filepath.ToSlash(path), "/"), ".."):
		return "", fault.Errorf(fault.BadRequest, "a folder's path must not hold \"..\"")
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", fault.Errorf(fault.NotFound, "there is no such folder")
	}
	info, err := os.Stat(real)
	if err != nil || !info.IsDir() {
		return "", fault.Errorf(fault.NotFound, "that is not a folder")
	}
	return real, nil
}

// Add adds a folder at the end, or finds it in the list. name is the folder's
// own when "". Codes: those of [CleanFolder], storage.
func (l *List) Add(ctx context.Context, path, name string) (Workspace, error) {
	path, err := CleanFolder(path)
	if err != nil {
		return Workspace{}, err
	}
	if name, err = cleanName(name); err != nil {
		return Workspace{}, err
	}
	if name == "" {
		name = filepath.Base(path)
	}
	var out Workspace
	err = l.update(ctx, func(all []Workspace) ([]Workspace, error) {
		if i := slices.IndexFunc(all, func(w Workspace) bool { return w.Path == path }); i >= 0 {
			out = all[i]
			return nil, jsonstore.ErrNoChange
		}
		if len(all) >= MaxWorkspaces {
			return nil, fault.Errorf(fault.BadRequest, "there are already %d workspaces", MaxWorkspaces)
		}
		out = Workspace{ID: uuid.Must(uuid.NewV7()).String(), Name: name, Path: path, AddedAt: time.Now().UnixMilli()}
		return append(all, out), nil
	})
	return out, err
}

func cleanName(name string) (string, error) {
	name = strings.TrimSpace(name)
	if len(name) > MaxNameBytes || !utf8.ValidString(name) || strings.ContainsAny(name, "\r\n\x00") {
		return "", fault.Errorf(fault.BadRequest, "a name is one line of at most %d bytes", MaxNameBytes)
	}
	return name, nil
}

// Rename gives a workspace another name. Codes: bad-request, not-found, storage.
func (l *List) Rename(ctx context.Context, id, name string) (Workspace, error) {
	name, err := cleanName(name)
	if err != nil {
		return Workspace{}, err
	}
	if name == "" {
		return Workspace{}, fault.Errorf(fault.BadRequest, "a name is missing")
	}
	var out Workspace
	err = l.update(ctx, func(all []Workspace) ([]Workspace, error) {
		i, err := indexOf(all, id)
		if err != nil {
			return nil, err
		}
		all[i].Name = name
		out = all[i]
		return all, nil
	})
	return out, err
}

// Remove takes a workspace out of the list. Codes: not-found, storage.
func (l *List) Remove(ctx context.Context, id string) error {
	return l.update(ctx, func(all []Workspace) ([]Workspace, error) {
		i, err := indexOf(all, id)
		if err != nil {
			return nil, err
		}
		return slices.Delete(all, i, i+1), nil
	})
}

// Order puts the named workspaces first, in that order; the others keep theirs.
// Unknown ids are left out. Code: storage.
func (l *List) Order(ctx context.Context, ids []string) error {
	place := map[string]int{}
	for i, id := range ids {
		if _, twice := place[id]; !twice {
			place[id] = i
		}
	}
	rank := func(w Workspace) int {
		if i, named := place[w.ID]; named {
			return i
		}
		return len(ids)
	}
	return l.update(ctx, func(all []Workspace) ([]Workspace, error) {
		slices.SortStableFunc(all, func(a, b Workspace) int { return rank(a) - rank(b) })
		return all, nil
	})
}

func indexOf(all []Workspace, id string) (int, error) {
	i := slices.IndexFunc(all, func(w Workspace) bool { return w.ID == id })
	if i < 0 {
		return 0, fault.Errorf(fault.NotFound, "there is no such workspace")
	}
	return i, nil
}

// update changes a copy of the list.
func (l *List) update(ctx context.Context, change func([]Workspace) ([]Workspace, error)) error {
	_, err := l.store.Update(ctx, func(d *document) (*document, error) {
		all, err := change(slices.Clone(d.Workspaces))
		if err != nil {
			return nil, err
		}
		return &document{Version: version, Generation: d.Generation, Workspaces: all}, nil
	})
	var own *fault.Error
	if err == nil || errors.As(err, &own) {
		return err
	}
	return fault.Errorf(fault.Storage, "the list of workspaces could not be saved: %w", err)
}
