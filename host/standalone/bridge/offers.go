package bridge

import (
	"context"

	"github.com/draft-sessions/dsh-draft-sessions/host"
	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/fault"
	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/sessions"
	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/workspaces"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
	pb "github.com/draft-sessions/dsh-draft-sessions/shared/proto/draftsessionsv1"
)

// Offers is what the plugin may ask of the host ([host.Sessions]).
type Offers struct {
	Sessions   *sessions.Store
	Workspaces *workspaces.List
}

var (
	_ host.Sessions = (*Offers)(nil)
	_ host.Prompter = (*Offers)(nil)
	_ host.Answerer = (*Offers)(nil)
)

// CreateSession implements [host.Sessions]. The log is on disk before it answers.
func (o *Offers) CreateSession(_ context.Context, call *pb.CreateSession) (*pb.CreateSessionResult, error) {
	w, err := o.Workspaces.Get(call.WorkspaceId)
	if err != nil {
		return nil, refusal(err)
	}
	s, err := o.Sessions.Create(sessions.Creation{ID: call.SessionId, Path: w.Path, AgentPresetID: call.AgentPresetId, Permission: call.Permission})
	if fault.CodeOf(err) == fault.BadRequest {
		// What the draft was set to is not offered any more: the session takes the defaults.
		s, err = o.Sessions.Create(sessions.Creation{ID: call.SessionId, Path: w.Path})
	}
	if err != nil {
		return nil, refusal(err)
	}
	return &pb.CreateSessionResult{SessionId: s.ID, AgentPresetId: s.AgentPresetID}, nil
}

// ListWorkspaces implements [host.Sessions]. What is in the trash is in no workspace.
func (o *Offers) ListWorkspaces(context.Context) (*pb.ListWorkspacesResult, error) {
	out := &pb.ListWorkspacesResult{}
	byPath := map[string]*pb.Workspace{}
	for _, w := range o.Workspaces.All() {
		listed := &pb.Workspace{WorkspaceId: w.ID, Path: w.Path}
		byPath[w.Path] = listed
		out.Workspaces = append(out.Workspaces, listed)
	}
	for _, state := range []string{"open", "archived"} {
		all, _, _, err := o.Sessions.List(sessions.Query{State: state})
		if err != nil {
			return nil, refusal(err)
		}
		for _, s := range all {
			if w := byPath[s.WorkspacePath]; w != nil {
				w.SessionIds = append(w.SessionIds, s.ID)
			}
			if state == "archived" {
				out.ArchivedSessionIds = append(out.ArchivedSessionIds, s.ID)
			}
		}
	}
	return out, nil
}

// ReadSession implements [host.Sessions].
func (o *Offers) ReadSession(_ context.Context, id string) (*pb.ReadSessionResult, error) {
	proofs, s, err := o.Sessions.Proofs(id)
	if fault.CodeOf(err) == fault.NotFound {
		return &pb.ReadSessionResult{}, nil
	}
	if err != nil {
		return nil, refusal(err)
	}
	out := &pb.ReadSessionResult{Exists: true, Permission: s.Permission, AgentPresetId: s.AgentPresetID, LastSeq: s.LastSeq}
	for _, p := range proofs {
		out.UserMessages = append(out.UserMessages, &pb.UserMessage{Seq: p.Seq, PromptId: p.SubmissionID})
	}
	return out, nil
}

// FlushSession implements [host.Sessions].
func (o *Offers) FlushSession(_ context.Context, id string) error {
	return refusal(o.Sessions.Sync(id))
}

// ApplySettings implements [host.Sessions].
func (o *Offers) ApplySettings(ctx context.Context, call *pb.ApplySettings) error {
	_, err := o.Sessions.Update(ctx, call.SessionId, sessions.Patch{Permission: &call.Permission})
	return refusal(err)
}

// SendPrompt implements [host.Prompter]. Its message is on disk before it answers.
func (o *Offers) SendPrompt(ctx context.Context, call *pb.SendPrompt) error {
	_, err := o.Sessions.Prompt(ctx, call.SessionId, call.PromptId, call.Text)
	return refusal(err)
}

// ReadAnswer implements [host.Answerer]. Its numbers count the bytes of what was
// said, so that an answer can be followed while it is streamed.
func (o *Offers) ReadAnswer(_ context.Context, call *pb.ReadAnswerRequest) (*pb.ReadAnswerResult, error) {
	said, sub, err := o.Sessions.Said(call.SessionId, call.SubmissionId)
	if err != nil {
		return nil, refusal(err)
	}
	from := min(max(0, call.AfterSeq), int64(len(said)))
	out := &pb.ReadAnswerResult{Text: said[from:], NextSeq: int64(len(said)), Message: sub.Message}
	switch sub.State {
	case sessions.Received, sessions.Running:
	case sessions.SubmissionState(sessions.OutcomeUnknown):
		out.Done, out.Outcome = true, string(sessions.OutcomeFailed)
	default:
		out.Done, out.Outcome = true, string(sub.State)
	}
	return out, nil
}

// refusal gives the plugin the host's own code. Trouble with the disk may pass,
// so it is no refusal of the session's id.
func refusal(err error) error {
	switch code := fault.CodeOf(err); code {
	case "":
		return err
	case fault.Storage:
		return shared.Errorf(shared.SessionUnavailable, "%w", err)
	default:
		return &host.Refusal{Code: string(code), Message: err.Error()}
	}
}
