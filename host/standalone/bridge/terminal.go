package bridge

import (
	"context"
	"errors"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/draft-sessions/dsh-draft-sessions/host"
	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/eventlog"
	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/fault"
	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/sessions"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
	pb "github.com/draft-sessions/dsh-draft-sessions/shared/proto/draftsessionsv1"
)

var (
	_ host.Prompter = (*Offers)(nil)
	_ host.Answerer = (*Offers)(nil)
)

// SendPrompt implements [host.Prompter]. The same id never runs twice, not even
// after a restart: the receipt is on disk before anything runs.
func (o *Offers) SendPrompt(ctx context.Context, call *pb.SendPrompt) error {
	_, err := o.Sessions.Prompt(ctx, call.SessionId, call.PromptId, strings.TrimSpace(call.Text))
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || fault.CodeOf(err) == fault.Storage {
		// It may have been admitted all the same.
		return shared.Errorf(shared.OperationUnknown, "%w", err)
	}
	return refusal(err)
}

// ReadAnswer implements [host.Answerer]. NextSeq counts the bytes that were
// handed out: what is streaming has no event yet.
func (o *Offers) ReadAnswer(_ context.Context, call *pb.ReadAnswerRequest) (*pb.ReadAnswerResult, error) {
	for {
		events, err := o.Sessions.Events(call.SessionId, 0)
		if err != nil {
			return nil, refusal(err)
		}
		live, _, err := o.Sessions.Now(call.SessionId)
		if err != nil {
			return nil, refusal(err)
		}
		last := int64(0)
		if len(events) > 0 {
			last = events[len(events)-1].Seq
		}
		since, err := o.Sessions.Events(call.SessionId, last)
		if err != nil {
			return nil, refusal(err)
		}
		if len(since) > 0 {
			continue // What was streaming may be an event by now, and another message streaming.
		}
		r, err := answerOf(events, call.SubmissionId)
		if err != nil {
			return nil, refusal(err)
		}
		if live != nil && live.SubmissionID == call.SubmissionId && live.Kind == "message" {
			r.Text += live.Whole
		}
		whole := int64(len(r.Text))
		r.Text = r.Text[min(call.AfterSeq, whole):]
		r.NextSeq = max(call.AfterSeq, whole)
		return r, nil
	}
}

// answerOf is what the log has of a submission's answer.
func answerOf(events []eventlog.Event, submissionID string) (*pb.ReadAnswerResult, error) {
	r := &pb.ReadAnswerResult{}
	for _, e := range events {
		if e.Type != sessions.AssistantMessage && e.Type != sessions.TurnEnded {
			continue
		}
		var data struct {
			SubmissionID string `json:"submissionId"`
			Text         string `json:"text"`
			Outcome      string `json:"outcome"`
			Message      string `json:"message"`
		}
		if err := json.Unmarshal(e.Data, &data); err != nil {
			return nil, shared.Errorf(shared.SessionUnavailable, "an event of the session could not be read")
		}
		switch {
		case data.SubmissionID != submissionID:
		case e.Type == sessions.AssistantMessage:
			r.Text += data.Text
		default:
			r.Done, r.Outcome, r.Message = true, data.Outcome, data.Message
		}
	}
	return r, nil
}
