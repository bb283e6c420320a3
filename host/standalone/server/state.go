package server

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/fault"
	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/pbjson"
	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/sessions"
	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/workspaces"
)

const (
	// firstSessions is how many sessions of each workspace come with the state.
	firstSessions = 20
	// maxFolders bounds the list of a folder's folders.
	maxFolders = 1000
)

// health says that a host is here; it is the only route for strangers.
func (s *Server) health(w http.ResponseWriter, r *http.Request) {
	s.answer(func(*http.Request) (any, error) {
		return map[string]string{"instance": s.opts.Instance, "version": s.opts.Version}, nil
	})(w, r)
}

// workspaceView is WORKSPACE of API.md.
type workspaceView struct {
	ID           string             `json:"id"`
	Name         string             `json:"name"`
	Path         string             `json:"path"`
	Missing      bool               `json:"missing"`
	SessionCount int                `json:"sessionCount"`
	Sessions     []sessions.Summary `json:"sessions"`
}

func (s *Server) workspaceView(w workspaces.Workspace, limit int) (workspaceView, error) {
	list, _, total, err := s.opts.Sessions.List(sessions.Query{Path: w.Path, State: "open", Without: s.opts.Drafts.DraftSessions(), Limit: limit})
	return viewOf(w, list, total), err
}

func viewOf(w workspaces.Workspace, list []sessions.Summary, total int) workspaceView {
	v := workspaceView{ID: w.ID, Name: w.Name, Path: w.Path, SessionCount: total, Sessions: list}
	info, err := os.Stat(w.Path)
	v.Missing = err != nil || !info.IsDir()
	if v.Sessions == nil {
		v.Sessions = []sessions.Summary{}
	}
	return v
}

func (s *Server) state(*http.Request) (any, error) {
	// All at once: to look through all sessions for each workspace takes long where there are many.
	open, _, _, err := s.opts.Sessions.List(sessions.Query{State: "open", Without: s.opts.Drafts.DraftSessions()})
	if err != nil {
		return nil, err
	}
	byPath := map[string][]sessions.Summary{}
	for _, summary := range open {
		byPath[summary.WorkspacePath] = append(byPath[summary.WorkspacePath], summary)
	}
	list := []workspaceView{}
	for _, w := range s.opts.Workspaces.All() {
		of := byPath[w.Path]
		list = append(list, viewOf(w, of[:min(len(of), firstSessions)], len(of)))
	}
	var sidebar any
	if current := s.opts.Drafts.Sidebar(); current != nil {
		sidebar = pbjson.Value(current)
	}
	return map[string]any{
		"instance":     s.opts.Instance,
		"version":      s.opts.Version,
		"plugin":       s.opts.Drafts.State(),
		"defaultAgent": s.opts.Agents.Default(),
		"agents":       s.opts.Agents.All(),
		"workspaces":   list,
		"sidebar":      sidebar,
	}, nil
}

func (s *Server) agents(*http.Request) (any, error) {
	return map[string]any{"agents": s.opts.Agents.All(), "defaultAgent": s.opts.Agents.Default()}, nil
}

func (s *Server) link(r *http.Request) (any, error) {
	if _, err := decode[nothing](r); err != nil {
		return nil, err
	}
	return map[string]string{"url": "http://" + r.Host + s.NewLink()}, nil
}

// folders lists the folders in one, for choosing a workspace.
func (s *Server) folders(r *http.Request) (any, error) {
	path := r.URL.Query().Get("path")
	if path == "" {
		var err error
		if path, err = os.UserHomeDir(); err != nil {
			path = "/"
		}
	}
	path, err := workspaces.CleanFolder(path)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, fault.Errorf(fault.Forbidden, "the folder may not be read")
	}
	names := []string{}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		// A link to a folder counts.
		info, err := os.Stat(filepath.Join(path, entry.Name())) // #nosec G703 -- choosing a folder is what this is for; only names of folders are told
		if err == nil && info.IsDir() {
			names = append(names, entry.Name())
		}
	}
	slices.Sort(names)
	parent := filepath.Dir(path)
	if parent == path {
		parent = ""
	}
	return map[string]any{"path": path, "parent": parent, "folders": names[:min(len(names), maxFolders)]}, nil
}

// ---- workspaces ----

func (s *Server) addWorkspace(r *http.Request) (any, error) {
	body, err := decode[struct {
		Path string `json:"path"`
		Name string `json:"name"`
	}](r)
	if err != nil {
		return nil, err
	}
	w, err := s.opts.Workspaces.Add(r.Context(), body.Path, body.Name)
	if err != nil {
		return nil, err
	}
	return s.workspaceView(w, firstSessions)
}

func (s *Server) renameWorkspace(r *http.Request) (any, error) {
	body, err := decode[struct {
		Name string `json:"name"`
	}](r)
	if err != nil {
		return nil, err
	}
	w, err := s.opts.Workspaces.Rename(r.Context(), r.PathValue("id"), body.Name)
	if err != nil {
		return nil, err
	}
	return s.workspaceView(w, firstSessions)
}

func (s *Server) removeWorkspace(r *http.Request) (any, error) {
	return nothing{}, s.opts.Workspaces.Remove(r.Context(), r.PathValue("id"))
}

func (s *Server) orderWorkspaces(r *http.Request) (any, error) {
	body, err := decode[struct {
		IDs []string `json:"ids"`
	}](r)
	if err != nil {
		return nil, err
	}
	return nothing{}, s.opts.Workspaces.Order(r.Context(), body.IDs)
}

// Listed is the list of workspaces as events carry it.
func (s *Server) Listed() any {
	list := []any{}
	for _, w := range s.opts.Workspaces.All() {
		v, err := s.workspaceView(w, 0)
		if err != nil {
			continue
		}
		list = append(list, struct {
			ID           string `json:"id"`
			Name         string `json:"name"`
			Path         string `json:"path"`
			Missing      bool   `json:"missing"`
			SessionCount int    `json:"sessionCount"`
		}{v.ID, v.Name, v.Path, v.Missing, v.SessionCount})
	}
	return list
}
