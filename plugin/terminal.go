package plugin

import (
	"context"
	"time"

	"github.com/draft-sessions/dsh-draft-sessions/plugin/drafts"
	"github.com/draft-sessions/dsh-draft-sessions/plugin/sessions"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
	pb "github.com/draft-sessions/dsh-draft-sessions/shared/proto/draftsessionsv1"
)

// What a terminal asks for, through the control socket or a [Local].

func (s *server) ListHostWorkspaces(ctx context.Context, _ *pb.ListHostWorkspacesRequest) (*pb.ListWorkspacesResult, error) {
	return s.channel.ListWorkspaces(ctx)
}

// EditText saves what pages have accepted first, so that the text's revision says
// whether anybody has typed since.
func (s *server) EditText(ctx context.Context, r *pb.EditTextRequest) (*pb.EditTextResponse, error) {
	if len(r.Text) > shared.MaxTextBytes {
		return nil, shared.Errorf(shared.DraftInvalidInput, "the text has %d bytes, more than the limit of %d", len(r.Text), shared.MaxTextBytes)
	}
	if err := s.editors.Flush(ctx, r.DraftId); err != nil {
		return nil, err
	}
	out, err := s.store.EditText(ctx, drafts.Edit{DraftID: r.DraftId, BaseTextRevision: r.BaseTextRevision, Text: r.Text, FitContent: true})
	if err != nil {
		return nil, err
	}
	answer := &pb.EditTextResponse{ConflictId: out.ConflictID, NewDraft: out.NewDraft, Dropped: out.Dropped}
	if out.Record.ID != "" {
		answer.Draft = draftOf(out.Record)
	}
	return answer, nil
}

func (s *server) Relocate(ctx context.Context, r *pb.RelocateRequest) (*pb.Draft, error) {
	if err := s.editors.Flush(ctx, r.DraftId); err != nil {
		return nil, err
	}
	return answer(s.sessions.Relocate(ctx, r.DraftId, r.WorkspaceId, r.WorkspacePath))
}

func (s *server) Import(ctx context.Context, r *pb.ImportRequest) (*pb.ImportResponse, error) {
	records := make([]shared.DraftRecord, 0, len(r.Drafts))
	for _, d := range r.Drafts {
		record, err := recordOf(d)
		if err != nil {
			return nil, err
		}
		records = append(records, record)
	}
	imported, err := s.store.Import(ctx, records, r.AsNew)
	if err != nil {
		return nil, err
	}
	out := &pb.ImportResponse{}
	for _, i := range imported {
		out.Drafts = append(out.Drafts, draftOf(i.Record))
		out.Existed = append(out.Existed, i.Existed)
	}
	return out, nil
}

// recordOf is the record of a message, without what belongs to one home: its
// session, its revisions and its send.
func recordOf(d *pb.Draft) (shared.DraftRecord, error) {
	content, err := fromJSON[shared.Content](d.ContentJson, "contentJson")
	if err != nil {
		return shared.DraftRecord{}, err
	}
	settings, err := fromJSON[shared.Settings](d.SettingsJson, "settingsJson")
	if err != nil {
		return shared.DraftRecord{}, err
	}
	r := shared.DraftRecord{
		Version: shared.RecordVersion, ID: d.Id, WorkspaceID: d.WorkspaceId, WorkspacePath: d.WorkspacePath,
		Text: d.Text, Title: d.Title, CreatedAt: d.CreatedAt, UpdatedAt: d.UpdatedAt, Pinned: d.Pinned,
		AgentPresetID: d.AgentPresetId, State: shared.StateDraft, Revision: 1, TextRevision: 1,
		Content: content, Settings: settings,
	}
	for _, c := range d.Conflicts {
		content, err := fromJSON[shared.Content](c.ContentJson, "contentJson of a conflict copy")
		if err != nil {
			return shared.DraftRecord{}, err
		}
		r.Conflicts = append(r.Conflicts, shared.Conflict{ID: c.Id, Text: c.Text, At: c.At, Content: content})
	}
	return r, nil
}

func (s *server) Send(ctx context.Context, r *pb.SendRequest) (*pb.SendResult, error) {
	if r.WaitMs > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(r.WaitMs)*time.Millisecond)
		defer cancel()
	}
	return sendResult(s.sessions.Send(ctx, sessions.Submission{
		DraftID: r.DraftId, ID: r.SubmissionId, Again: r.Again, Verbatim: r.Verbatim, ExpectedTextRevision: r.ExpectedTextRevision,
	}))
}

func (s *server) SendStatus(ctx context.Context, r *pb.DraftRef) (*pb.SendResult, error) {
	return sendResult(s.sessions.SendStatus(ctx, r.DraftId))
}

func (s *server) ListSent(context.Context, *pb.ListSentRequest) (*pb.ListSentResponse, error) {
	out := &pb.ListSentResponse{}
	for _, r := range s.store.Snapshot().Receipts {
		out.Sent = append(out.Sent, &pb.SendResult{DraftId: r.DraftID, State: string(sessions.Sent), SubmissionId: r.SubmissionID, SessionId: r.SessionID, At: r.At})
	}
	return out, nil
}

func (s *server) ReadAnswer(ctx context.Context, r *pb.ReadAnswerRequest) (*pb.ReadAnswerResult, error) {
	return s.channel.ReadAnswer(ctx, r)
}

func sendResult(r sessions.SendResult, err error) (*pb.SendResult, error) {
	if err != nil {
		return nil, err
	}
	return &pb.SendResult{DraftId: r.DraftID, State: string(r.State), SubmissionId: r.SubmissionID, SessionId: r.SessionID, At: r.At}, nil
}
