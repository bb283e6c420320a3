package server

import (
	"context"
	"net/http"
	"strconv"

	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/eventlog"
	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/fault"
	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/sessions"
	pb "github.com/draft-sessions/dsh-draft-sessions/shared/proto/draftsessionsv1"
)

const (
	defaultPage = 50
	maxPage     = 500
	// defaultEvents is how many events of a session come at once.
	defaultEvents = 200
	maxEvents     = 2000
)

func number(r *http.Request, name string, standard, most int64) (int64, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return standard, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 {
		return 0, fault.Errorf(fault.BadRequest, "%q is a number from 1 on", name)
	}
	return min(n, most), nil
}

func (s *Server) listSessions(r *http.Request) (any, error) {
	q := r.URL.Query()
	limit, err := number(r, "limit", defaultPage, maxPage)
	if err != nil {
		return nil, err
	}
	query := sessions.Query{State: q.Get("state"), Words: q.Get("q"), Before: q.Get("before"), Limit: int(limit), Without: s.opts.Drafts.DraftSessions()}
	switch query.State {
	case "", "open", "archived", "trash":
	default:
		return nil, fault.Errorf(fault.BadRequest, "\"state\" is open, archived or trash")
	}
	if id := q.Get("workspaceId"); id != "" {
		w, err := s.opts.Workspaces.Get(id)
		if err != nil {
			return nil, err
		}
		query.Path = w.Path
	}
	page, next, _, err := s.opts.Sessions.List(query)
	if err != nil {
		return nil, err
	}
	return map[string]any{"sessions": page, "next": next}, nil
}

func (s *Server) createSession(r *http.Request) (any, error) {
	body, err := decode[struct {
		WorkspaceID   string `json:"workspaceId"`
		SessionID     string `json:"sessionId"`
		AgentPresetID string `json:"agentPresetId"`
		Model         string `json:"model"`
		Permission    string `json:"permission"`
		Title         string `json:"title"`
	}](r)
	if err != nil {
		return nil, err
	}
	w, err := s.opts.Workspaces.Get(body.WorkspaceID)
	if err != nil {
		return nil, err
	}
	return s.opts.Sessions.Create(sessions.Creation{ID: body.SessionID, Path: w.Path, AgentPresetID: body.AgentPresetID, Model: body.Model, Permission: body.Permission, Title: body.Title})
}

func (s *Server) getSession(r *http.Request) (any, error) {
	id := r.PathValue("id")
	limit, err := number(r, "limit", defaultEvents, maxEvents)
	if err != nil {
		return nil, err
	}
	summary, err := s.opts.Sessions.Get(id)
	if err != nil {
		return nil, err
	}
	before, err := number(r, "before", summary.LastSeq+1, summary.LastSeq+1)
	if err != nil {
		return nil, err
	}
	after := max(0, before-1-limit)
	events, err := s.opts.Sessions.Events(id, after)
	if err != nil {
		return nil, err
	}
	plain := r.URL.Query().Get("html") == "0"
	shown := []eventlog.Event{}
	for _, e := range events {
		if e.Seq < before {
			shown = append(shown, eventView(e, plain))
		}
	}
	live, requests, err := s.opts.Sessions.Now(id)
	if err != nil {
		return nil, err
	}
	if requests == nil {
		requests = []sessions.Request{}
	}
	var streaming any
	if live != nil {
		streaming = view(*live, plain)
	}
	return map[string]any{"session": summary, "events": shown, "more": after > 0, "live": streaming, "requests": requests}, nil
}

func (s *Server) updateSession(r *http.Request) (any, error) {
	body, err := decode[struct {
		Title         *string `json:"title"`
		AgentPresetID *string `json:"agentPresetId"`
		Model         *string `json:"model"`
		Permission    *string `json:"permission"`
	}](r)
	if err != nil {
		return nil, err
	}
	return s.opts.Sessions.Update(r.Context(), r.PathValue("id"), sessions.Patch(body))
}

func (s *Server) moveSession(move func(string) (sessions.Summary, error)) route {
	return func(r *http.Request) (any, error) {
		if _, err := decode[nothing](r); err != nil {
			return nil, err
		}
		return move(r.PathValue("id"))
	}
}

// ---- prompts ----

func (s *Server) prompt(r *http.Request) (any, error) {
	body, err := decode[struct {
		SubmissionID string `json:"submissionId"`
		Text         string `json:"text"`
	}](r)
	if err != nil {
		return nil, err
	}
	return s.submit(r.Context(), r.PathValue("id"), body.SubmissionID, body.Text)
}

func (s *Server) submit(ctx context.Context, session, id, text string) (any, error) {
	sub, err := s.opts.Sessions.Prompt(ctx, session, id, text)
	if err != nil {
		return nil, err
	}
	return accepted{sub}, nil
}

func (s *Server) submission(r *http.Request) (any, error) {
	return s.opts.Sessions.Submission(r.PathValue("id"))
}

func (s *Server) permission(r *http.Request) (any, error) {
	body, err := decode[struct {
		OptionID  string `json:"optionId"`
		Cancelled bool   `json:"cancelled"`
	}](r)
	if err != nil {
		return nil, err
	}
	if body.Cancelled == (body.OptionID != "") {
		return nil, fault.Errorf(fault.BadRequest, "an answer is an option, or cancelled")
	}
	return nothing{}, s.opts.Sessions.Answer(r.PathValue("id"), r.PathValue("request"), body.OptionID)
}

// sendDraft has the plugin send a draft as a terminal would. A repeated request
// finds what became of the first: the draft is gone by then.
func (s *Server) sendDraft(r *http.Request) (any, error) {
	body, err := decode[struct {
		DraftID              string `json:"draftId"`
		SubmissionID         string `json:"submissionId"`
		ExpectedTextRevision int64  `json:"expectedTextRevision"`
	}](r)
	if err != nil {
		return nil, err
	}
	if body.SubmissionID == "" {
		return nil, fault.Errorf(fault.BadRequest, "the submission's id is missing")
	}
	if sub, err := s.opts.Sessions.Submission(body.SubmissionID); err == nil && sub.Seq > 0 {
		return accepted{sub}, nil
	}
	client, err := s.opts.Drafts.Client()
	if err != nil {
		return nil, err
	}
	// This host has no command lines: a text that looks like one is plain words.
	request := &pb.SendRequest{DraftId: body.DraftID, SubmissionId: body.SubmissionID, Verbatim: true, ExpectedTextRevision: body.ExpectedTextRevision}
	if _, err := client.Send(r.Context(), request); err != nil {
		return nil, unavailable(err)
	}
	sub, err := s.opts.Sessions.Submission(body.SubmissionID)
	if err != nil {
		return nil, err
	}
	return accepted{sub}, nil
}
