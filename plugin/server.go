package plugin

import (
	"context"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/draft-sessions/dsh-draft-sessions/plugin/composer"
	"github.com/draft-sessions/dsh-draft-sessions/plugin/drafts"
	"github.com/draft-sessions/dsh-draft-sessions/plugin/sessions"
	"github.com/draft-sessions/dsh-draft-sessions/plugin/sidebar"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
	"github.com/draft-sessions/dsh-draft-sessions/shared/compat"
	pb "github.com/draft-sessions/dsh-draft-sessions/shared/proto/draftsessionsv1"
)

// server answers the calls of the host. It decides nothing: every method hands
// its request to the package that does and translates the answer.
type server struct {
	// Not the generated stubs that answer "unimplemented": a call of the contract that
	// is missing here must not compile.
	pb.UnsafeDraftSessionsServer

	config     Config
	compatible *compat.Table
	epoch      string
	store      *drafts.Store
	editors    *composer.Editors
	sessions   *sessions.Manager
	channel    *channel
	hub        *hub
	// local: a command in its own process, which has no use for hashes of texts.
	local bool
	// hostGone is called when the host channel has ended.
	hostGone func()
	// hostHere is called when it has been opened.
	hostHere func()
}

// ---- the process ----

func (s *server) Info(context.Context, *pb.InfoRequest) (*pb.InfoResponse, error) {
	return &pb.InfoResponse{
		Version:  s.config.Version,
		Protocol: shared.ProtocolVersion,
		Epoch:    s.epoch,
		Features: []string{"drafts", "editors", "reconcile", "observe", "watch"},
		Storage:  s.storage(),
		Pid:      int64(pid()),
	}, nil
}

func (s *server) storage() *pb.StorageState {
	state := s.store.State()
	return &pb.StorageState{Path: state.Path, Generation: state.Generation, Code: string(state.Code), Message: state.Message, MigratedFrom: state.MigratedFrom}
}

func (s *server) Gate(_ context.Context, r *pb.GateRequest) (*pb.GateResponse, error) {
	facts := compat.Facts{
		Host:        r.Host,
		HostVersion: r.HostVersion,
		Packages:    r.Packages,
		NodeVersion: r.NodeVersion,
		Protocol:    int(r.Protocol),
		Features:    r.Features,
		Probed:      r.Probed,
		Override:    r.Override,
	}
	for _, a := range r.Answers {
		facts.Answers = append(facts.Answers, compat.Answer{Subject: a.Subject, Source: a.Source, Version: a.Version, Where: a.Where, Problem: a.Problem})
	}
	decision := s.compatible.Decide(facts)
	out := &pb.GateResponse{Mode: decision.Mode, Capabilities: decision.Capabilities, Overridden: decision.Overridden}
	for _, reason := range decision.Reasons {
		out.Reasons = append(out.Reasons, &pb.GateReason{Code: reason.Code, Subject: reason.Subject, Expected: reason.Expected, Found: reason.Found, Message: reason.Message})
	}
	return out, nil
}

func (s *server) HostChannel(stream pb.DraftSessions_HostChannelServer) error {
	return s.channel.serve(stream, func() {
		s.hostHere()
		s.sessions.ReconcileSoon()
	}, s.hostGone)
}

func (s *server) Watch(_ *pb.WatchRequest, stream pb.DraftSessions_WatchServer) error {
	w, stop := s.hub.watch()
	defer stop()
	if err := stream.Send(&pb.Event{Event: &pb.Event_Sidebar{Sidebar: s.hub.sidebar()}}); err != nil {
		return err
	}
	for {
		select {
		case e := <-w.events:
			if err := stream.Send(e); err != nil {
				return err
			}
		case <-w.late:
			return status.Error(codes.ResourceExhausted, "the reader is too slow; open another stream")
		case <-stream.Context().Done():
			return stream.Context().Err()
		}
	}
}

// ---- records ----

func (s *server) List(_ context.Context, r *pb.ListRequest) (*pb.ListResponse, error) {
	out := &pb.ListResponse{}
	for _, d := range sidebar.Ordered(s.store.Snapshot()) {
		if r.WorkspaceId == "" || d.WorkspaceID == r.WorkspaceId {
			out.Drafts = append(out.Drafts, draftWith(*d, !s.local))
		}
	}
	return out, nil
}

func (s *server) Get(_ context.Context, r *pb.DraftRef) (*pb.Draft, error) {
	return answer(s.store.Get(r.DraftId))
}

func (s *server) Create(ctx context.Context, r *pb.CreateRequest) (*pb.Draft, error) {
	return answer(s.store.Create(ctx, drafts.CreateParams{WorkspaceID: r.WorkspaceId, WorkspacePath: r.WorkspacePath, Text: r.Text, Title: r.Title, AgentPresetID: r.AgentPresetId}))
}

func (s *server) Update(ctx context.Context, r *pb.UpdateRequest) (*pb.Draft, error) {
	patch := drafts.Patch{Text: r.Text, Title: r.Title, AgentPresetID: r.AgentPresetId, Pinned: r.Pinned}
	if r.ContentJson != nil {
		content, err := fromJSON[shared.Content](*r.ContentJson, "contentJson")
		if err != nil {
			return nil, err
		}
		patch.Content = &content
	}
	if r.SettingsJson != nil {
		settings, err := fromJSON[shared.Settings](*r.SettingsJson, "settingsJson")
		if err != nil {
			return nil, err
		}
		patch.Settings = &settings
	}
	return answer(s.store.Update(ctx, r.DraftId, r.ExpectedRevision, patch))
}

// Delete saves what is accepted first, so that the trash holds the last word.
func (s *server) Delete(ctx context.Context, r *pb.RevisionRef) (*pb.DeleteResponse, error) {
	if r.ExpectedRevision == 0 {
		if err := s.editors.Flush(ctx, r.DraftId); err != nil {
			return nil, err
		}
	}
	deletedAt, err := s.store.Delete(ctx, r.DraftId, r.ExpectedRevision)
	if err != nil {
		return nil, err
	}
	return &pb.DeleteResponse{DeletedAt: deletedAt}, nil
}

func (s *server) Restore(ctx context.Context, r *pb.DraftRef) (*pb.Draft, error) {
	return answer(s.store.Restore(ctx, r.DraftId))
}

func (s *server) ListTrash(_ context.Context, r *pb.ListTrashRequest) (*pb.ListTrashResponse, error) {
	out := &pb.ListTrashResponse{}
	for _, e := range drafts.Trashed(s.store.Snapshot(), time.Now()) {
		out.Entries = append(out.Entries, &pb.TrashEntry{Draft: preview(e.Record, int(r.Preview)), DeletedAt: e.DeletedAt, Title: sidebar.Title(e.Record)})
	}
	return out, nil
}

func (s *server) Rebind(ctx context.Context, r *pb.RebindRequest) (*pb.Draft, error) {
	var sessionID *string
	if r.SessionId != "" {
		sessionID = &r.SessionId
	}
	return answer(s.store.Rebind(ctx, r.DraftId, r.ExpectedRevision, sessionID))
}

func (s *server) Reorder(ctx context.Context, r *pb.ReorderRequest) (*pb.Sidebar, error) {
	if err := s.store.Reorder(ctx, r.WorkspaceId, r.DraftIds); err != nil {
		return nil, err
	}
	return s.hub.sidebar(), nil
}

func (s *server) Duplicate(ctx context.Context, r *pb.DraftRef) (*pb.Draft, error) {
	if err := s.editors.Flush(ctx, r.DraftId); err != nil {
		return nil, err
	}
	return answer(s.store.Duplicate(ctx, r.DraftId))
}

func (s *server) ResolveConflict(ctx context.Context, r *pb.ResolveConflictRequest) (*pb.Draft, error) {
	switch {
	case r.Take && r.KeepAsDraft:
		return nil, shared.Errorf(shared.DraftInvalidInput, "a conflict copy is either taken or kept as a draft")
	case r.Take:
		return answer(s.store.TakeConflict(ctx, r.DraftId, r.ConflictId))
	}
	return answer(s.store.ResolveConflict(ctx, r.DraftId, r.ConflictId, r.KeepAsDraft))
}

func (s *server) GetSidebar(context.Context, *pb.SidebarRequest) (*pb.Sidebar, error) {
	return s.hub.sidebar(), nil
}

func (s *server) DismissNotice(_ context.Context, r *pb.DismissNoticeRequest) (*pb.Empty, error) {
	s.hub.dismiss(r.NoticeId)
	return &pb.Empty{}, nil
}

// ---- flows ----

func (s *server) NewDraft(ctx context.Context, r *pb.NewDraftRequest) (*pb.Draft, error) {
	return answer(s.sessions.NewDraft(ctx, sessions.NewDraft{
		WorkspaceID:       r.WorkspaceId,
		CurrentSessionID:  r.CurrentSessionId,
		RecentWorkspaceID: r.RecentWorkspaceId,
		IdempotencyKey:    r.IdempotencyKey,
		Text:              r.Text,
		AgentPresetID:     r.AgentPresetId,
		Flush:             r.OpenEditor.GetDraftId(),
	}))
}

func (s *server) Bind(ctx context.Context, r *pb.DraftRef) (*pb.BindResponse, error) {
	rec, recreated, err := s.sessions.Bind(ctx, r.DraftId)
	if err != nil {
		return nil, err
	}
	return &pb.BindResponse{Draft: draftOf(rec), Recreated: recreated}, nil
}

func (s *server) Move(ctx context.Context, r *pb.MoveRequest) (*pb.Draft, error) {
	return answer(s.sessions.Move(ctx, r.DraftId, r.WorkspaceId, r.SessionId))
}

func (s *server) OpenEditor(ctx context.Context, r *pb.OpenEditorRequest) (*pb.OpenEditorResponse, error) {
	content, err := fromJSON[shared.Content](r.HostContentJson, "hostContentJson")
	if err != nil {
		return nil, err
	}
	opened, err := s.editors.Open(ctx, composer.Opening{
		DraftID:          r.DraftId,
		EditorID:         r.EditorId,
		HostText:         r.HostText,
		HostContent:      content,
		BaseDraftID:      r.BaseDraftId,
		BaseTextRevision: r.BaseTextRevision,
		BaseHash:         r.BaseHash,
		BaseEditorID:     r.BaseEditorId,
	})
	if err != nil {
		return nil, err
	}
	show := "record"
	if opened.KeepHost {
		show = "host"
	}
	return &pb.OpenEditorResponse{Epoch: s.epoch, Generation: opened.Generation, Draft: draftOf(opened.Record), Show: show, ConflictId: opened.ConflictID}, nil
}

func (s *server) Edit(_ context.Context, r *pb.EditRequest) (*pb.EditResponse, error) {
	content, err := fromJSON[shared.Content](r.ContentJson, "contentJson")
	if err != nil {
		return nil, err
	}
	accepted, err := s.editors.Edit(composer.Input{
		DraftID:          r.DraftId,
		EditorID:         r.EditorId,
		Epoch:            r.Epoch,
		Generation:       r.Generation,
		Seq:              r.Seq,
		BaseTextRevision: r.BaseTextRevision,
		Text:             r.Text,
		Content:          content,
	})
	if err != nil {
		return nil, err
	}
	return &pb.EditResponse{AcceptedSeq: accepted}, nil
}

func (s *server) Flush(ctx context.Context, r *pb.FlushRequest) (*pb.FlushResponse, error) {
	if err := s.editors.Flush(ctx, r.DraftId); err != nil {
		return nil, err
	}
	return &pb.FlushResponse{}, nil
}

func (s *server) CloseEditor(_ context.Context, r *pb.EditorRef) (*pb.Empty, error) {
	s.editors.Close(r.DraftId, r.EditorId, r.Generation)
	return &pb.Empty{}, nil
}

func (s *server) Reconcile(ctx context.Context, r *pb.ReconcileRequest) (*pb.ReconcileResponse, error) {
	t, err := s.sessions.Reconcile(ctx, r.WorkspaceId)
	if err != nil {
		return nil, err
	}
	return &pb.ReconcileResponse{Recreated: int32(t.Recreated), Converted: int32(t.Converted), Detached: int32(t.Detached), Failed: int32(t.Failed)}, nil // #nosec G115 -- counts of drafts
}

func (s *server) ChooseSession(_ context.Context, r *pb.ChooseSessionRequest) (*pb.ChooseSessionResponse, error) {
	return &pb.ChooseSessionResponse{SessionId: s.sessions.ChooseSession(r.CandidateSessionIds)}, nil
}

// ---- observations ----

func (s *server) BeforePrompt(ctx context.Context, r *pb.BeforePromptRequest) (*pb.Admission, error) {
	return admission(s.sessions.BeforePrompt(ctx, sessions.Prompt{SessionID: r.SessionId, PromptID: r.PromptId, Text: r.Text})), nil
}

func (s *server) AfterPrompt(ctx context.Context, r *pb.AfterPromptRequest) (*pb.Empty, error) {
	s.sessions.AfterPrompt(ctx, r.SessionId, r.PromptId, r.Accepted)
	return &pb.Empty{}, nil
}

func (s *server) BeforeCommand(ctx context.Context, r *pb.BeforeCommandRequest) (*pb.Admission, error) {
	return admission(s.sessions.BeforeCommand(ctx, sessions.Command{SessionID: r.SessionId, CommandID: r.CommandId, Line: r.Line, LastSeq: r.LastSeq})), nil
}

func (s *server) AfterCommand(ctx context.Context, r *pb.AfterCommandRequest) (*pb.Empty, error) {
	s.sessions.AfterCommand(ctx, r.SessionId, r.CommandId, r.Succeeded)
	return &pb.Empty{}, nil
}

func (s *server) ObserveSession(ctx context.Context, r *pb.ObserveSessionRequest) (*pb.Empty, error) {
	switch o := r.Observation.(type) {
	case *pb.ObserveSessionRequest_UserMessage:
		s.sessions.UserMessage(r.SessionId)
	case *pb.ObserveSessionRequest_Permission:
		return &pb.Empty{}, s.sessions.SettingsChanged(ctx, r.SessionId, sessions.Settings{Permission: o.Permission})
	case *pb.ObserveSessionRequest_AgentPreset:
		return &pb.Empty{}, s.sessions.SettingsChanged(ctx, r.SessionId, sessions.Settings{AgentPreset: o.AgentPreset})
	case *pb.ObserveSessionRequest_Archived:
		// An archived session is found missing when its draft is opened or reconciled.
	default:
		return nil, shared.Errorf(shared.DraftInvalidInput, "an observation of an unknown kind")
	}
	return &pb.Empty{}, nil
}

func admission(a sessions.Admission) *pb.Admission {
	out := &pb.Admission{Code: string(a.Code), Message: a.Message, DraftId: a.DraftID}
	if a.Refuse {
		out.Decision = pb.Admission_REFUSE
	}
	return out
}

func answer(d shared.DraftRecord, err error) (*pb.Draft, error) {
	if err != nil {
		return nil, err
	}
	return draftOf(d), nil
}
