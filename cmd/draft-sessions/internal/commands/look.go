package commands

import (
	"context"
	"fmt"
	"strings"

	"github.com/draft-sessions/dsh-draft-sessions/cmd/draft-sessions/internal/desk"
	pb "github.com/draft-sessions/dsh-draft-sessions/shared/proto/draftsessionsv1"
)

type listCmd struct {
	InWorkspace
	All     bool `short:"a" help:"Of every workspace."`
	Deleted bool `help:"Those in the trash, the newest first."`
}

// listed is what list --json prints.
type listed struct {
	Home   where        `json:"home"`
	Drafts []desk.Draft `json:"drafts"`
}

// where tells which home was used and why.
type where struct {
	Path string `json:"path"`
	From string `json:"from"`
	// Plugin is the process of the live plugin that answered, 0 for the file.
	Plugin int `json:"plugin"`
}

func (j *job) where() where {
	w := where{Path: j.Home.Dir, From: j.Home.From}
	if j.Plugin != nil {
		w.Plugin = j.Plugin.Entry.PID
	}
	return w
}

func (c listCmd) Run(ctx context.Context) error {
	return c.run(ctx, false, func(ctx context.Context, j *job) error {
		all, err := j.Drafts(ctx)
		if err != nil {
			return err
		}
		ids := make([]string, len(all))
		for i, d := range all {
			ids[i] = d.Id
		}
		times := map[string]int64{}
		if c.Deleted {
			entries, err := j.Desk.Deleted(ctx)
			if err != nil {
				return err
			}
			all, ids = nil, nil
			for i := len(entries) - 1; i >= 0; i-- {
				all, ids = append(all, entries[i].Draft), append(ids, entries[i].Draft.Id)
				times[entries[i].Draft.Id] = entries[i].DeletedAt
			}
		}
		shown, path := all, ""
		if !c.All {
			workspace, err := j.Desk.Workspace(ctx, c.Workspace)
			if err != nil {
				return err
			}
			shown, path = nil, workspace.Path
			for _, d := range all {
				if workspace.Has(d) {
					shown = append(shown, d)
				}
			}
		}
		if j.json {
			result := listed{Home: j.where(), Drafts: make([]desk.Draft, 0, len(shown))}
			for _, d := range shown {
				result.Drafts = append(result.Drafts, desk.Shape(d))
			}
			return j.tell(result, "")
		}
		if len(shown) == 0 {
			if elsewhere := len(all); elsewhere > 0 {
				return j.say("No drafts in %s; %d elsewhere (list --all). Home: %s\n", path, elsewhere, j.Home)
			}
			return j.say("No drafts. Home: %s\n", j.Home)
		}
		return j.table(shown, desk.Short(ids), times)
	})
}

// table prints drafts for a person, under the folder that they belong to.
func (j *job) table(shown []*pb.Draft, short map[string]string, times map[string]int64) error {
	var out strings.Builder
	width := 0
	for _, d := range shown {
		width = max(width, len(short[d.Id]))
	}
	folder := "\x00"
	for _, d := range shown {
		if d.WorkspacePath != folder {
			folder = d.WorkspacePath
			name := folder
			if name == "" {
				name = d.WorkspaceId
			}
			fmt.Fprintf(&out, "%s\n", desk.Printable(name))
		}
		at := d.UpdatedAt
		if deleted := times[d.Id]; deleted != 0 {
			at = deleted
		}
		fmt.Fprintf(&out, "  %-*s  %s  %s%s\n", width, short[d.Id], desk.When(at), marks(d), desk.Label(d))
	}
	return j.say("%s", out.String())
}

// marks are the words before a draft's label.
func marks(d *pb.Draft) string {
	var m []string
	if d.Pinned {
		m = append(m, "pinned")
	}
	if n := len(d.Conflicts); n == 1 {
		m = append(m, "1 copy")
	} else if n > 1 {
		m = append(m, fmt.Sprintf("%d copies", n))
	}
	switch d.State {
	case "converting":
		m = append(m, "sending")
	case "error":
		m = append(m, "no session")
	}
	if len(m) == 0 {
		return ""
	}
	return "[" + strings.Join(m, ", ") + "] "
}

type showCmd struct {
	Common
	ID   string `arg:"" help:"The draft's id, or the beginning of it."`
	Text bool   `short:"t" help:"The text alone, as it is."`
}

func (c showCmd) Run(ctx context.Context) error {
	return c.run(ctx, false, func(ctx context.Context, j *job) error {
		d, err := j.Find(ctx, c.ID)
		if err != nil {
			return err
		}
		text := d.Text
		if isTerminal(j.out) {
			text = desk.Printable(text)
		}
		switch {
		case j.json:
			return j.tell(one{"shown", desk.Shape(d)}, "")
		case c.Text:
			return j.say("%s\n", text)
		}
		return j.say("%s\n%s\n", head(d), text)
	})
}

// head is what show prints before the text.
func head(d *pb.Draft) string {
	var out strings.Builder
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&out, "%-9s %s\n", name, desk.Printable(value))
		}
	}
	line("draft", d.Id)
	line("title", d.Title)
	line("folder", d.WorkspacePath)
	if d.WorkspacePath == "" {
		line("workspace", d.WorkspaceId)
	}
	line("is", strings.TrimSpace(marks(d)))
	line("session", d.SessionId)
	line("problem", d.LastError)
	line("preset", d.AgentPresetId)
	line("edited", desk.When(d.UpdatedAt))
	for _, c := range d.Conflicts {
		first, more, _ := strings.Cut(strings.TrimSpace(c.Text), "\n")
		if more != "" {
			first += " …"
		}
		line("copy", fmt.Sprintf("%s, of %s: %s", c.Id, desk.When(c.At), first))
	}
	return out.String()
}
