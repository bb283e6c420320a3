package host_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/draft-sessions/dsh-draft-sessions/host"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
	pb "github.com/draft-sessions/dsh-draft-sessions/shared/proto/draftsessionsv1"
)

const (
	textStays = "marmalade: stays a draft"
	textPage  = "marmalade: sent from the page"
	textOther = "marmalade: sent by a command"
)

// Invariants 1, 2, 4, 10 and 13: whichever call the plugin is killed at, before,
// during or after it, no acknowledged text is lost, no session made twice, no
// prompt admitted twice.
func TestKilledAtEachCall(t *testing.T) {
	dry := newFaultRig(t, fault{when: never})
	dry.flow()
	calls := dry.callsSoFar()
	dry.check()
	var faults []fault
	own := 0
	hosts := map[string]int{}
	for _, name := range calls {
		if strings.HasPrefix(name, hostCall) {
			hosts[name]++
			continue
		}
		own++
	}
	whens, step := []when{before, after}, 3
	if os.Getenv(envSoak) != "" {
		whens, step = append(whens, during), 1
	}
	for _, w := range whens {
		for n := range own {
			faults = append(faults, fault{nth: n + 1, when: w})
		}
		for name, count := range hosts {
			for n := 1; n <= count; n++ {
				if count <= step || n%step == 1 || step == 1 { // looks that change nothing are many and alike
					faults = append(faults, fault{call: name, nth: n, when: w})
				}
			}
		}
	}
	t.Logf("%d calls of the host, %v of the plugin: %d faults", own, hosts, len(faults))
	if own < 20 || hosts[hostCall+"SendPrompt"] != 1 || hosts[hostCall+"CreateSession"] != 3 {
		t.Fatalf("the flow is not what it was: %v", calls)
	}
	dry.Close()
	if testing.Short() {
		faults = slices.DeleteFunc(faults, func(f fault) bool { return f.nth%5 != 2 })
	}
	// Most of the time is spent waiting for processes: more at once than processors.
	next := make(chan fault)
	var workers sync.WaitGroup
	for range 8 {
		workers.Go(func() {
			for f := range next {
				t.Run(strings.ReplaceAll(f.String(), " ", "_"), func(t *testing.T) { killedAt(t, f) })
			}
		})
	}
	for _, f := range faults {
		next <- f
	}
	close(next)
	workers.Wait()
}

func killedAt(t *testing.T, f fault) {
	r := newFaultRig(t, f)
	r.flow()
	r.check()
	if f.call == "" && r.hitCall() == "" {
		t.Errorf("the fault did not happen among %v", r.callsSoFar())
	}
}

// flow is what a person does: three drafts, of which one is sent from the page and
// one by a command.
func (r *faultRig) flow() {
	r.t.Helper()
	await(r.t, r.Supervisor, host.Full)
	stays, page, other := r.newDraft("1"), r.newDraft("2"), r.newDraft("3")
	r.write(stays, textStays)
	r.write(page, "sent")
	r.write(page, textPage)
	r.write(other, textOther)
	r.must(func(ctx context.Context, c pb.DraftSessionsClient) error {
		_, err := c.Reorder(ctx, &pb.ReorderRequest{WorkspaceId: "w1", DraftIds: []string{other, page, stays}})
		return err
	})
	r.sendFromThePage(page)
	r.sendByCommand(other)
}

func (r *faultRig) must(call func(context.Context, pb.DraftSessionsClient) error) {
	r.t.Helper()
	if err := r.do(call); err != nil {
		r.t.Fatalf("%v: %v", r.fault, err)
	}
}

func (r *faultRig) newDraft(key string) (id string) {
	r.t.Helper()
	r.must(func(ctx context.Context, c pb.DraftSessionsClient) error {
		d, err := c.NewDraft(ctx, &pb.NewDraftRequest{WorkspaceId: "w1", IdempotencyKey: key})
		if shared.CodeOf(err) == shared.OperationUnknown { // the host's answer was lost; the key makes it the same draft
			return context.Canceled
		}
		id = d.GetId()
		return err
	})
	return id
}

// write has a page write a text into a draft and returns when it is acknowledged.
func (r *faultRig) write(draftID, text string) {
	r.t.Helper()
	var base *pb.Draft
	r.must(func(ctx context.Context, c pb.DraftSessionsClient) (err error) {
		if base == nil {
			if base, err = c.Get(ctx, &pb.DraftRef{DraftId: draftID}); err != nil {
				return err
			}
		}
		// After a restart the page opens the editor again and says what its composer holds.
		opened, err := c.OpenEditor(ctx, &pb.OpenEditorRequest{
			DraftId: draftID, EditorId: "page", HostText: &text, BaseDraftId: draftID, BaseTextRevision: base.TextRevision, BaseHash: base.TextHash,
		})
		if err != nil {
			return err
		}
		if _, err := c.Edit(ctx, &pb.EditRequest{DraftId: draftID, EditorId: "page", Epoch: opened.Epoch, Generation: opened.Generation, Seq: 1, BaseTextRevision: opened.Draft.TextRevision, Text: text}); err != nil {
			return err
		}
		_, err = c.Flush(ctx, &pb.FlushRequest{DraftId: draftID})
		return err
	})
}

// sendFromThePage is a prompt as the host sees it: it asks the plugin once, admits
// the prompt whatever that says short of a refusal, and tells what happened until
// it is heard.
func (r *faultRig) sendFromThePage(draftID string) {
	r.t.Helper()
	var session string
	r.must(func(ctx context.Context, c pb.DraftSessionsClient) error {
		d, err := c.Get(ctx, &pb.DraftRef{DraftId: draftID})
		session = d.GetSessionId()
		return err
	})
	if p, err := r.Plugin(); err == nil {
		client := pb.NewDraftSessionsClient(&faultConn{r, p.Client})
		a, err := client.BeforePrompt(r.t.Context(), &pb.BeforePromptRequest{SessionId: session, PromptId: "p-page", Text: textPage})
		if err == nil && a.Decision == pb.Admission_REFUSE {
			r.t.Fatalf("refused: %v", a)
		}
		r.asked = err == nil
	}
	written := r.sessions.admit(session, "p-page")
	r.must(func(ctx context.Context, c pb.DraftSessionsClient) error {
		_, err := c.AfterPrompt(ctx, &pb.AfterPromptRequest{SessionId: session, PromptId: "p-page", Accepted: true})
		return err
	})
	<-written
	r.must(func(ctx context.Context, c pb.DraftSessionsClient) error {
		message := &pb.UserMessage{Seq: 1, PromptId: "p-page"}
		_, err := c.ObserveSession(ctx, &pb.ObserveSessionRequest{SessionId: session, Observation: &pb.ObserveSessionRequest_UserMessage{UserMessage: message}})
		return err
	})
}

// sendByCommand asks again with the same id until an answer comes.
func (r *faultRig) sendByCommand(draftID string) {
	r.t.Helper()
	err := r.do(func(ctx context.Context, c pb.DraftSessionsClient) error {
		_, err := c.Send(ctx, &pb.SendRequest{DraftId: draftID, SubmissionId: "p-command"})
		return err
	})
	// Unknown is an honest answer; the check says whether it was the right one.
	if err != nil && shared.CodeOf(err) != shared.OperationUnknown {
		r.t.Fatalf("%v: %v", r.fault, err)
	}
}

// check looks at what there is, again after a restart: each text once, as a draft or
// a message, each session of one draft, each prompt once.
func (r *faultRig) check() {
	r.t.Helper()
	for _, moment := range []string{"at the end", "after a restart"} {
		r.must(func(ctx context.Context, c pb.DraftSessionsClient) error {
			_, err := c.Reconcile(ctx, &pb.ReconcileRequest{})
			return err
		})
		var problem string
		r.eventually(func() bool { problem = r.problem(); return problem == "" }, func() string {
			return fmt.Sprintf("%v, %s: %s; calls %v", r.fault, moment, problem, r.callsSoFar())
		})
		r.kill(true)
	}
	file, err := os.ReadFile(r.store)
	if err != nil || !strings.Contains(string(file), textStays) {
		r.t.Errorf("%v: the file has lost what was acknowledged (%v)", r.fault, err)
	}
}

func (r *faultRig) eventually(ok func() bool, says func() string) {
	r.t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if ok() {
			return
		}
	}
	r.t.Fatal(says())
}

// problem is what is wrong, "" when nothing is.
func (r *faultRig) problem() string {
	var drafts []*pb.Draft
	if err := r.do(func(ctx context.Context, c pb.DraftSessionsClient) error {
		list, err := c.List(ctx, &pb.ListRequest{})
		drafts = list.GetDrafts()
		return err
	}); err != nil {
		return err.Error()
	}
	texts, sessions := map[string]int{}, map[string]bool{}
	for _, d := range drafts {
		if len(d.Conflicts) > 0 {
			return fmt.Sprintf("draft %s has %d conflict copies", d.Id, len(d.Conflicts))
		}
		if d.SessionId == "" || d.State != "ready" || sessions[d.SessionId] {
			return fmt.Sprintf("draft %s is %s in session %q", d.Id, d.State, d.SessionId)
		}
		texts[d.Text]++
		sessions[d.SessionId] = true
	}
	for _, id := range r.sessions.blank() {
		if !sessions[id] {
			return "session " + id + " belongs to no draft"
		}
	}
	if texts[textStays] != 1 {
		return fmt.Sprintf("the draft that stays is there %d times", texts[textStays])
	}
	if n := r.sessions.admitted("p-page"); n != 1 {
		return fmt.Sprintf("the page's prompt was admitted %d times", n)
	}
	// A host that could not ask admits all the same: then the text stays a draft too.
	if n := texts[textPage]; n > 1 || n == 1 && r.asked {
		return fmt.Sprintf("the page's text is %d drafts after it was sent", n)
	}
	if sent, drafts := r.sessions.admitted("p-command"), texts[textOther]; sent+drafts != 1 {
		return fmt.Sprintf("the command's prompt was admitted %d times, and its text is %d drafts", sent, drafts)
	}
	if len(drafts) != texts[textStays]+texts[textPage]+texts[textOther] {
		return fmt.Sprintf("%d drafts", len(drafts))
	}
	return ""
}
