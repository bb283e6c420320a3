package commands

import (
	"context"
	"strings"
	"time"

	"github.com/draft-sessions/dsh-draft-sessions/cmd/draft-sessions/internal/desk"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
	pb "github.com/draft-sessions/dsh-draft-sessions/shared/proto/draftsessionsv1"
)

type sendCmd struct {
	Common
	ID         string        `arg:"" help:"The draft's id, or the beginning of it."`
	Wait       bool          `short:"W" help:"Print the answer as it comes, and end with it."`
	Status     bool          `help:"Send nothing; tell what became of an earlier send."`
	Again      bool          `help:"Send although the outcome of an earlier send is unknown. It may then be sent twice."`
	Verbatim   bool          `help:"Send a text that begins like a command as plain words."`
	Submission string        `placeholder:"ID" help:"The submission's id, for scripts: the same id is never sent twice."`
	Timeout    time.Duration `default:"45s" help:"How long to wait for the proof that it was sent."`
}

// sent is what send --json prints.
type sent struct {
	// Outcome is sent, sending, unknown or not_sent.
	Outcome      string `json:"outcome"`
	DraftID      string `json:"draftId"`
	SubmissionID string `json:"submissionId"`
	SessionID    string `json:"sessionId"`
	At           int64  `json:"at"`
	// Answer is null without --wait.
	Answer *answer `json:"answer"`
}

type answer struct {
	// Outcome is completed, cancelled or failed.
	Outcome string `json:"outcome"`
	Text    string `json:"text"`
	Message string `json:"message"`
}

func (c sendCmd) Run(ctx context.Context) error {
	return c.run(ctx, false, func(ctx context.Context, j *job) error {
		id, err := j.FindSent(ctx, c.ID)
		if err != nil {
			return err
		}
		if c.Status {
			return c.status(ctx, j, id)
		}
		if j.Plugin == nil {
			return c.alone(ctx, j, id)
		}
		result, err := c.send(ctx, j, id)
		if err != nil {
			return explain(err, id)
		}
		out := shape(result)
		if out.Outcome != "sent" {
			if err := j.tell(out, ""); err != nil {
				return err
			}
			return &desk.Problem{
				Err:  shared.Errorf(shared.OperationUnknown, "the draft was handed to the host as submission %s; the proof that it was sent has not come yet", out.SubmissionID),
				Kept: "the draft, until the proof is there",
				Next: "draft-sessions send --status " + id + " looks again; nothing is sent twice by itself",
			}
		}
		if !c.Wait {
			return j.tell(out, "sent %s (session %s)\n", id, out.SessionID)
		}
		return c.follow(ctx, j, out)
	})
}

func (c sendCmd) send(ctx context.Context, j *job, id string) (*pb.SendResult, error) {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout+answersWithin)
	defer cancel()
	request := &pb.SendRequest{DraftId: id, SubmissionId: c.Submission, Again: c.Again, Verbatim: c.Verbatim, WaitMs: c.Timeout.Milliseconds()}
	return j.Client.Send(ctx, request)
}

// answersWithin is how much longer than it is told a plugin may take: for asking
// its host, which may take 15 s for each question.
const answersWithin = time.Minute

// alone: without a live host nothing is sent, but what was sent before is known.
func (c sendCmd) alone(ctx context.Context, j *job, id string) error {
	if _, err := j.Client.Get(ctx, &pb.DraftRef{DraftId: id}); shared.CodeOf(err) == shared.DraftNotFound {
		return c.status(ctx, j, id)
	}
	return &desk.Problem{
		Err:  shared.Errorf(shared.SessionUnavailable, "sending needs the host of %s, and it is not running", j.Home),
		Kept: "the draft is as it was; nothing was sent",
		Next: "start the host, then give the command again",
	}
}

func (c sendCmd) status(ctx context.Context, j *job, id string) error {
	result, err := j.Client.SendStatus(ctx, &pb.DraftRef{DraftId: id})
	if err != nil {
		return explain(err, id)
	}
	out := shape(result)
	words := map[string]string{
		"sent":     "sent: the message is in session " + out.SessionID,
		"sending":  "sending: handed to the host, the message is awaited",
		"unknown":  "unknown: handed to a host, and no message of it was found; it is never sent again by itself (send --again does)",
		"not_sent": "not sent",
	}
	return j.tell(out, "%s\n", words[out.Outcome])
}

func shape(r *pb.SendResult) sent {
	return sent{Outcome: r.State, DraftID: r.DraftId, SubmissionID: r.SubmissionId, SessionID: r.SessionId, At: r.At}
}

// explain adds what a person can do about a send that did not go as asked.
func explain(err error, id string) error {
	status := "draft-sessions send --status " + id
	switch shared.CodeOf(err) {
	case shared.OperationUnknown:
		return &desk.Problem{Err: err, Kept: "the draft is on disk; nothing is sent again by itself", Next: status + " looks again; send --again sends it as a new submission, perhaps twice"}
	case shared.OperationConflict:
		return &desk.Problem{Err: err, Kept: "the other send goes on", Next: status + " tells how far it is"}
	case shared.DraftInvalidInput:
		next := "edit it first"
		if strings.Contains(err.Error(), "slash") {
			next = "--verbatim sends it as plain words"
		}
		return &desk.Problem{Err: err, Kept: "the draft is as it was; nothing was sent", Next: next}
	case shared.SessionUnavailable:
		return &desk.Problem{Err: err, Kept: "the draft is as it was; nothing was sent", Next: "see in the host's page what is wrong, then give the command again"}
	}
	return err
}

// followEvery is how often the answer is looked at.
const followEvery = 150 * time.Millisecond

// follow prints the answer as it comes.
func (c sendCmd) follow(ctx context.Context, j *job, out sent) error {
	out.Answer = &answer{}
	after := int64(0)
	for {
		part, err := j.Client.ReadAnswer(ctx, &pb.ReadAnswerRequest{SessionId: out.SessionID, SubmissionId: out.SubmissionID, AfterSeq: after})
		if err != nil {
			return &desk.Problem{Err: err, Kept: "the draft was sent; its answer goes on in session " + out.SessionID, Next: "look at it in the host's page"}
		}
		after = part.NextSeq
		out.Answer.Text += part.Text
		if !j.json {
			text := part.Text
			if isTerminal(j.out) {
				text = desk.Printable(text)
			}
			if err := j.say("%s", text); err != nil {
				return err
			}
		}
		if part.Done {
			out.Answer.Outcome, out.Answer.Message = part.Outcome, part.Message
			return c.ended(j, out)
		}
		select {
		case <-time.After(followEvery):
		case <-ctx.Done():
			return &desk.Problem{Err: shared.Errorf(shared.OperationUnknown, "stopped waiting for the answer"), Kept: "the draft was sent; its answer goes on in session " + out.SessionID}
		}
	}
}

func (c sendCmd) ended(j *job, out sent) error {
	if err := j.tell(out, "\n"); err != nil {
		return err
	}
	if out.Answer.Outcome == "completed" {
		return nil
	}
	return &desk.Problem{
		Err:  shared.Errorf(shared.SessionUnavailable, "the draft was sent, but the answer ended as %s: %s", out.Answer.Outcome, out.Answer.Message),
		Kept: "the message is in session " + out.SessionID, Next: "go on there in the host's page",
	}
}
