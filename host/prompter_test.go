package host

import (
	"context"
	"testing"

	pb "github.com/draft-sessions/dsh-draft-sessions/shared/proto/draftsessionsv1"
)

// prompting are sessions that admit prompts and answer them.
type prompting struct {
	counted
	prompts []string
}

func (p *prompting) SendPrompt(_ context.Context, call *pb.SendPrompt) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.prompts = append(p.prompts, call.PromptId+" "+call.Text)
	return p.fail
}

func (p *prompting) ReadAnswer(_ context.Context, call *pb.ReadAnswerRequest) (*pb.ReadAnswerResult, error) {
	return &pb.ReadAnswerResult{Text: "about " + call.SubmissionId, NextSeq: 7, Done: true}, nil
}

func promptCall(id uint64, prompt string) *pb.HostCall {
	return &pb.HostCall{Id: id, IdempotencyKey: prompt, Call: &pb.HostCall_SendPrompt{SendPrompt: &pb.SendPrompt{SessionId: "s", PromptId: prompt, Text: "do it"}}}
}

// The same submission is handed to the host once, however often the plugin asks;
// one that was refused may be asked again.
func TestPromptsAreHandedOverOnce(t *testing.T) {
	sessions := &prompting{counted: counted{fail: &Refusal{Code: "agent-busy", Message: "not now"}}}
	_, stream, _ := serveAnswers(t, sessions)
	ask := func(call *pb.HostCall) *pb.HostReply {
		stream.calls <- call
		return <-stream.replies
	}
	if r := ask(promptCall(1, "p")); r.Error.GetCode() != "agent-busy" {
		t.Errorf("refused: %v", r)
	}
	sessions.mu.Lock()
	sessions.fail = nil
	sessions.mu.Unlock()
	for id := range uint64(3) {
		if r := ask(promptCall(2+id, "p")); r.Error != nil || r.GetSendPrompt() == nil {
			t.Errorf("%v", r)
		}
	}
	if len(sessions.prompts) != 2 || sessions.prompts[1] != "p do it" {
		t.Errorf("%q", sessions.prompts)
	}
	read := &pb.HostCall{Id: 9, Call: &pb.HostCall_ReadAnswer{ReadAnswer: &pb.ReadAnswerRequest{SubmissionId: "p"}}}
	if r := ask(read).GetReadAnswer(); r.GetText() != "about p" || r.NextSeq != 7 || !r.Done {
		t.Errorf("%v", r)
	}
}

// A host that offers neither says so.
func TestHostsNeedNotTakePrompts(t *testing.T) {
	_, stream, _ := serveAnswers(t, &counted{})
	for id, call := range []*pb.HostCall{promptCall(1, "p"), {Call: &pb.HostCall_ReadAnswer{ReadAnswer: &pb.ReadAnswerRequest{}}}} {
		call.Id = uint64(id) + 1
		stream.calls <- call
		if r := <-stream.replies; r.Error.GetCode() != "unimplemented" {
			t.Errorf("%v", r)
		}
	}
}
