package commands

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/draft-sessions/dsh-draft-sessions/cmd/draft-sessions/internal/desk"
	"github.com/draft-sessions/dsh-draft-sessions/cmd/draft-sessions/internal/home"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
	pb "github.com/draft-sessions/dsh-draft-sessions/shared/proto/draftsessionsv1"
)

// toHome moves a draft to another home: made there under its own id, then
// deleted here. When the second fails the first is taken back; killed in between,
// the draft is in both homes and the same command, given again, finishes it.
func (j *job) toHome(ctx context.Context, d *pb.Draft, dir, to string) (*pb.Draft, error) {
	target, err := home.Resolve(dir)
	if err != nil {
		return nil, err
	}
	if sameFolder(target.Dir, j.Home.Dir) {
		return nil, &desk.Problem{Err: shared.Errorf(shared.DraftInvalidInput, "the draft is in %s already", target.Dir), Next: "without --home it is moved within its home"}
	}
	if d.State == string(shared.StateConverting) {
		return nil, shared.Errorf(shared.OperationConflict, "the draft is being sent")
	}
	there, err := desk.Open(ctx, target, true)
	if err != nil {
		return nil, err
	}
	moved, err := j.over(ctx, d, there, to)
	return moved, errors.Join(err, there.Close())
}

func (j *job) over(ctx context.Context, d *pb.Draft, there *desk.Desk, to string) (*pb.Draft, error) {
	find := there.Workspace
	if to == "" {
		to, find = d.WorkspacePath, there.Known
	}
	if to == "" {
		return nil, &desk.Problem{Err: shared.Errorf(shared.DraftInvalidInput, "the draft's folder is not known"), Kept: "the draft is where it was", Next: "name the workspace to move it to"}
	}
	workspace, err := find(ctx, to)
	if err != nil {
		return nil, err
	}
	// What a page has accepted goes along; it raises the revision that is deleted below.
	if _, err := j.Client.Flush(ctx, &pb.FlushRequest{DraftId: d.Id}); err != nil {
		return nil, err
	}
	if d, err = j.Client.Get(ctx, &pb.DraftRef{DraftId: d.Id}); err != nil {
		return nil, err
	}
	copied, err := desk.Exchange(d)
	if err != nil {
		return nil, err
	}
	copied.WorkspaceID, copied.WorkspacePath = workspace.ID, workspace.Path
	request, err := desk.Import(copied)
	if err != nil {
		return nil, err
	}
	made, err := there.Client.Import(ctx, &pb.ImportRequest{Drafts: []*pb.Draft{request}})
	if err != nil {
		return nil, &desk.Problem{Err: fmt.Errorf("the draft could not be made in %s: %w", there.Home.Dir, err), Kept: "the draft is where it was"}
	}
	_, err = j.Client.Delete(ctx, &pb.RevisionRef{DraftId: d.Id, ExpectedRevision: d.Revision})
	if code := shared.CodeOf(err); err == nil || code == shared.StorageUncertain {
		return made.Drafts[0], err
	}
	problem := &desk.Problem{Err: fmt.Errorf("the draft could not be taken out of %s: %w", j.Home.Dir, err), Kept: "the draft is where it was", Next: "try again"}
	if made.Existed[0] {
		return nil, problem
	}
	if _, undone := there.Client.Delete(context.WithoutCancel(ctx), &pb.RevisionRef{DraftId: made.Drafts[0].Id}); undone != nil {
		problem.Kept = "the draft is in both homes"
		problem.Next = "the same command, given again, finishes the move"
	}
	return nil, problem
}

func sameFolder(a, b string) bool {
	if real, err := filepath.EvalSymlinks(a); err == nil {
		a = real
	}
	if real, err := filepath.EvalSymlinks(b); err == nil {
		b = real
	}
	return a == b
}
