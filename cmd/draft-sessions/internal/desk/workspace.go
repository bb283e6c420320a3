package desk

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
	pb "github.com/draft-sessions/dsh-draft-sessions/shared/proto/draftsessionsv1"
)

// Workspace is a workspace of a host: a folder with an id of the host's.
type Workspace struct {
	ID, Path string
	// Missing: a host is live and has no workspace for the folder.
	Missing bool
}

// Has tells whether a draft belongs to the workspace: hosts give a folder that
// is added again a new id.
func (w Workspace) Has(d *pb.Draft) bool {
	return d.WorkspaceId == w.ID || w.Path != "" && d.WorkspacePath == w.Path
}

// placeholder is the id of a folder for which no host's id is known; a host finds
// its own by the path and takes the draft over.
func placeholder(path string) string { return "folder:" + path }

// Workspace is the workspace that a person means: by an id of the host's, by a
// folder, or, for "", by the current folder, where the nearest folder above that
// is known as a workspace counts. Errors: DRAFT_INVALID_INPUT.
func (d *Desk) Workspace(ctx context.Context, given string) (Workspace, error) {
	known, live, err := d.workspaces(ctx)
	if err != nil {
		return Workspace{}, err
	}
	for _, w := range known {
		if given != "" && w.ID == given {
			return w, nil
		}
	}
	folder, err := folderOf(given)
	if err != nil {
		return Workspace{}, err
	}
	real := folder
	if resolved, err := filepath.EvalSymlinks(folder); err == nil {
		real = resolved
	}
	for {
		for _, w := range known {
			if w.Path != "" && (w.Path == folder || w.Path == real) {
				return w, nil
			}
		}
		if given != "" || folder == filepath.Dir(folder) {
			break
		}
		folder, real = filepath.Dir(folder), filepath.Dir(real)
	}
	if folder, err = folderOf(given); err != nil {
		return Workspace{}, err
	}
	if resolved, err := filepath.EvalSymlinks(folder); err == nil {
		folder = resolved // As hosts keep it.
	}
	return Workspace{ID: placeholder(folder), Path: folder, Missing: live}, nil
}

// Known is the workspace of a folder that need not exist on this machine: one
// that is known here, else one of that path.
func (d *Desk) Known(ctx context.Context, path string) (Workspace, error) {
	known, live, err := d.workspaces(ctx)
	if err != nil {
		return Workspace{}, err
	}
	for _, w := range known {
		if w.Path == path {
			return w, nil
		}
	}
	return Workspace{ID: placeholder(path), Path: path, Missing: live}, nil
}

func folderOf(given string) (string, error) {
	if given == "~" || strings.HasPrefix(given, "~/") {
		user, err := os.UserHomeDir()
		if err != nil {
			return "", shared.Errorf(shared.DraftInvalidInput, "find the user's home folder: %w", err)
		}
		given = filepath.Join(user, given[1:])
	}
	folder, err := filepath.Abs(given)
	if err != nil {
		return "", shared.Errorf(shared.DraftInvalidInput, "find the folder: %w", err)
	}
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return "", &Problem{
			Err:  shared.Errorf(shared.DraftInvalidInput, "%s is no folder, and no workspace of that id is known", folder),
			Next: "name a folder that exists, or a workspace's id",
		}
	}
	return folder, nil
}

// workspaces are those that are known, of the host first. live tells whether
// there is one that told; a host that does not answer stands in nobody's way,
// since it finds a draft's workspace by the folder later.
func (d *Desk) workspaces(ctx context.Context) (known []Workspace, live bool, err error) {
	if d.known != nil {
		return d.known, d.told, nil
	}
	defer func() {
		if err == nil {
			d.known, d.told = known, live
		}
	}()
	if d.Plugin != nil {
		if of, err := d.Client.ListHostWorkspaces(ctx, &pb.ListHostWorkspacesRequest{}); err == nil {
			live = true
			for _, w := range of.Workspaces {
				known = append(known, Workspace{ID: w.WorkspaceId, Path: w.Path})
			}
		}
	}
	all, err := d.Drafts(ctx)
	if err != nil {
		return nil, live, err
	}
	seen := map[string]bool{}
	for _, w := range known {
		seen[w.ID], seen[w.Path] = true, true
	}
	for _, draft := range all {
		// A host's own id is better than one of ours for the same folder.
		if draft.WorkspaceId == placeholder(draft.WorkspacePath) || seen[draft.WorkspaceId] {
			continue
		}
		seen[draft.WorkspaceId] = true
		if !seen[draft.WorkspacePath] || draft.WorkspacePath == "" {
			known = append(known, Workspace{ID: draft.WorkspaceId, Path: draft.WorkspacePath, Missing: live})
		}
	}
	for _, draft := range all {
		if draft.WorkspaceId == placeholder(draft.WorkspacePath) && !seen[draft.WorkspacePath] {
			seen[draft.WorkspacePath] = true
			known = append(known, Workspace{ID: draft.WorkspaceId, Path: draft.WorkspacePath, Missing: live})
		}
	}
	return known, live, nil
}
