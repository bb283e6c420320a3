package commands

import (
	"context"
	"fmt"

	"github.com/draft-sessions/dsh-draft-sessions/cmd/draft-sessions/internal/desk"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
	pb "github.com/draft-sessions/dsh-draft-sessions/shared/proto/draftsessionsv1"
)

// ids are the drafts that a command is about.
type ids struct {
	IDs []string `arg:"" name:"id" help:"Ids of drafts, or the beginnings of them."`
}

// each does something with every draft named, once all of them were found. What
// was done before a failure is told with it.
func (j *job) each(ctx context.Context, names ids, done string, do func(*pb.Draft) (*pb.Draft, error)) error {
	var found []*pb.Draft
	for _, id := range names.IDs {
		d, err := j.Find(ctx, id)
		if err != nil {
			return err
		}
		found = append(found, d)
	}
	result := many{Outcome: done, Drafts: []desk.Draft{}}
	for i, d := range found {
		now, err := do(d)
		if err != nil && i > 0 {
			return &desk.Problem{Err: err, Kept: fmt.Sprintf("%d of %d were %s; draft %s and those after it were not", i, len(found), done, d.Id)}
		}
		if err != nil {
			return err
		}
		result.Drafts = append(result.Drafts, desk.Shape(now))
		if !j.json {
			if err := j.say("%s %s\n", done, now.Id); err != nil {
				return err
			}
		}
	}
	if j.json {
		return j.tell(result, "")
	}
	return nil
}

type rmCmd struct {
	Common
	ids
}

func (c rmCmd) Run(ctx context.Context) error {
	return c.run(ctx, false, func(ctx context.Context, j *job) error {
		return j.each(ctx, c.ids, "deleted", func(d *pb.Draft) (*pb.Draft, error) {
			// Whatever its revision is: what is accepted goes to the trash with it.
			_, err := j.Client.Delete(ctx, &pb.RevisionRef{DraftId: d.Id})
			return d, err
		})
	})
}

type pinCmd struct {
	Common
	ids
}

func (c pinCmd) Run(ctx context.Context) error { return pin(ctx, c.Common, c.ids, true, "pinned") }

type unpinCmd struct {
	Common
	ids
}

func (c unpinCmd) Run(ctx context.Context) error { return pin(ctx, c.Common, c.ids, false, "unpinned") }

func pin(ctx context.Context, c Common, names ids, pinned bool, done string) error {
	return c.run(ctx, false, func(ctx context.Context, j *job) error {
		return j.each(ctx, names, done, func(d *pb.Draft) (*pb.Draft, error) {
			return j.update(ctx, d, &pb.UpdateRequest{Pinned: &pinned})
		})
	})
}

type dupCmd struct {
	Common
	ID string `arg:"" help:"The draft's id, or the beginning of it."`
}

func (c dupCmd) Run(ctx context.Context) error {
	return c.run(ctx, false, func(ctx context.Context, j *job) error {
		d, err := j.Find(ctx, c.ID)
		if err != nil {
			return err
		}
		made, err := j.Client.Duplicate(ctx, &pb.DraftRef{DraftId: d.Id})
		if err != nil {
			return err
		}
		return j.tell(one{"created", desk.Shape(made)}, "%s\n", made.Id)
	})
}

type undoCmd struct {
	Common
	ID string `arg:"" optional:"" help:"The deleted draft's id, or the beginning of it. Default: the one deleted last."`
}

func (c undoCmd) Run(ctx context.Context) error {
	return c.run(ctx, false, func(ctx context.Context, j *job) error {
		entry, err := j.FindDeleted(ctx, c.ID)
		if err != nil {
			return err
		}
		back, err := j.Client.Restore(ctx, &pb.DraftRef{DraftId: entry.Draft.Id})
		if err != nil {
			return err
		}
		return j.tell(one{"restored", desk.Shape(back)}, "restored %s\n", back.Id)
	})
}

type mvCmd struct {
	ID   string `arg:"" help:"The draft's id, or the beginning of it."`
	To   string `arg:"" optional:"" name:"workspace" placeholder:"DIR|ID" help:"The workspace to move it to. With --home the default is the same folder."`
	Home string `placeholder:"DIR" help:"Move it to this other home."`
	From string `placeholder:"DIR" help:"The home that it is in; by default the one that the other commands use without --home."`
	JSON bool   `name:"json" help:"Print one JSON object (docs/cli.md)."`
}

func (c mvCmd) Run(ctx context.Context) error {
	return Common{Home: c.From, JSON: c.JSON}.run(ctx, false, func(ctx context.Context, j *job) error {
		if c.To == "" && c.Home == "" {
			return &desk.Problem{Err: shared.Errorf(shared.DraftInvalidInput, "nowhere to move it to"), Next: "name a workspace, or another home with --home"}
		}
		d, err := j.Find(ctx, c.ID)
		if err != nil {
			return err
		}
		moved := d
		if c.Home != "" {
			moved, err = j.toHome(ctx, d, c.Home, c.To)
		} else {
			moved, err = j.relocate(ctx, d, c.To)
		}
		if err != nil {
			return err
		}
		return j.tell(one{"moved", desk.Shape(moved)}, "moved %s to %s\n", moved.Id, moved.WorkspacePath)
	})
}

func (j *job) relocate(ctx context.Context, d *pb.Draft, to string) (*pb.Draft, error) {
	workspace, err := j.Desk.Workspace(ctx, to)
	if err != nil {
		return nil, err
	}
	if workspace.Has(d) {
		return d, nil
	}
	return j.Client.Relocate(ctx, &pb.RelocateRequest{DraftId: d.Id, WorkspaceId: workspace.ID, WorkspacePath: workspace.Path})
}
