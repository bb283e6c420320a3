package sessions

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/agent"
	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/fault"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// streamEvery joins what is streamed, so that a fast agent does not drown a page.
const streamEvery = 100 * time.Millisecond

// turn is a running turn; it is the agent's [agent.Output]. ses.mu guards what
// changes.
type turn struct {
	store  *Store
	ses    *session
	agent  agent.Agent
	id     string
	seq    int64 // of the user message
	prompt string
	ctx    context.Context
	cancel context.CancelFunc

	// The message that is being streamed.
	kind string
	text strings.Builder
	sent int // how much of text the watcher was told

	requests []*request
	// broken is why the log takes no more of this turn.
	broken error
}

// request is an open permission request.
type request struct {
	Request
	answered chan string // capacity 1; "" dismisses
}

func (s *Store) newTurn(ses *session, a agent.Agent, id, prompt string, seq int64) *turn {
	ctx, cancel := context.WithCancel(s.life)
	return &turn{store: s, ses: ses, agent: a, id: id, seq: seq, prompt: prompt, ctx: ctx, cancel: cancel}
}

func (t *turn) run() {
	defer t.cancel()
	streaming := make(chan struct{})
	done := make(chan struct{})
	go func() { defer close(done); t.stream(streaming) }()
	stop, err := t.ask()
	close(streaming)
	<-done
	t.end(stop, err)
}

func (t *turn) ask() (agent.Stop, error) {
	events, err := t.ses.log.Read(0)
	if err != nil {
		return "", fault.Errorf(fault.Storage, "the session's log could not be read: %w", err)
	}
	t.ses.mu.Lock()
	st := t.ses.state
	in := agent.Turn{
		SessionID: st.ID, SubmissionID: t.id, Folder: st.WorkspacePath,
		Model: st.Model, Preset: st.AgentPresetID, Permission: st.Permission,
		Prompt: t.prompt, State: st.remembered[st.Agent],
	}
	t.ses.mu.Unlock()
	in.History = history(events, t.seq)
	return t.agent.Run(t.ctx, in, t)
}

// end writes down how the turn ended.
func (t *turn) end(stop agent.Stop, err error) {
	data := endedData{SubmissionID: t.id, Outcome: OutcomeCompleted, Reason: string(stop)}
	switch {
	case err != nil && t.ctx.Err() == nil:
		data.Outcome = OutcomeFailed
		data.Code, data.Message = codeAndMessage(err)
	case t.store.life.Err() != nil:
		data.Outcome, data.Reason = OutcomeCancelled, "host-ended"
	case stop == agent.Cancelled || err != nil:
		data.Outcome, data.Reason = OutcomeCancelled, "person"
	}
	t.ses.mu.Lock()
	defer t.ses.mu.Unlock()
	t.commit(data.Outcome != OutcomeCompleted)
	if t.broken != nil && data.Outcome == OutcomeCompleted {
		data.Outcome = OutcomeFailed
		data.Code, data.Message = codeAndMessage(t.broken)
	}
	t.ses.turn = nil
	if _, err := t.store.append(t.ses, TurnEnded, data); err != nil {
		// The next start finds a turn without an end: its outcome is unknown then.
		t.ses.state.open = ""
		if sub := t.ses.state.submissions[t.id]; sub != nil {
			sub.State, sub.Message = SubmissionState(data.Outcome), data.Message
		}
	}
	t.requests = nil
	t.store.opts.Watcher.RequestsChanged(t.ses.state.ID, nil)
	t.store.changed(t.ses)
}

// codeAndMessage are an error's for a page; neither holds a prompt.
func codeAndMessage(err error) (code, message string) {
	var own *fault.Error
	var coded *shared.Error
	switch {
	case errors.As(err, &own):
		return string(own.Code), own.Message
	case errors.As(err, &coded):
		return string(coded.Code), coded.Message
	}
	return "", err.Error()
}

// stream tells the watcher what was added, until done.
func (t *turn) stream(done <-chan struct{}) {
	ticker := time.NewTicker(streamEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			t.ses.mu.Lock()
			t.tell()
			t.ses.mu.Unlock()
		case <-done:
			return
		}
	}
}

func (t *turn) tell() {
	whole := t.text.String()
	if t.sent == len(whole) {
		return
	}
	t.store.opts.Watcher.Streamed(t.live(whole[t.sent:], whole))
	t.sent = len(whole)
}

func (t *turn) live(text, whole string) Live {
	return Live{Session: t.ses.state.ID, SubmissionID: t.id, Kind: t.kind, Text: text, Whole: whole}
}

// now is what the watcher was told of the message so far; ses.mu is held.
func (t *turn) now() *Live {
	if t.sent == 0 {
		return nil
	}
	told := t.text.String()[:t.sent]
	l := t.live(told, told)
	return &l
}

// commit ends the message that is being streamed; ses.mu is held.
func (t *turn) commit(partial bool) {
	text := t.text.String()
	kind := AssistantMessage
	if t.kind == kindThought {
		kind = AssistantThought
	}
	t.text.Reset()
	t.sent = 0
	if strings.TrimSpace(text) == "" || t.broken != nil {
		return
	}
	_, t.broken = t.store.append(t.ses, kind, messageData{SubmissionID: t.id, Text: text, Partial: partial})
}

const (
	kindMessage = "message"
	kindThought = "thought"
)

// Text implements [agent.Output].
func (t *turn) Text(delta string) { t.add(kindMessage, delta) }

// Thought implements [agent.Output].
func (t *turn) Thought(delta string) { t.add(kindThought, delta) }

// maxMessage bounds one streamed message, in bytes; a longer one is cut into several.
const maxMessage = 1 << 20

func (t *turn) add(kind, delta string) {
	t.ses.mu.Lock()
	defer t.ses.mu.Unlock()
	if t.kind != kind || t.text.Len() > maxMessage {
		t.commit(false)
		t.kind = kind
	}
	t.text.WriteString(strings.ToValidUTF8(delta, "\uFFFD"))
}

// log ends the message that is being streamed and writes an event.
func (t *turn) log(kind string, data any) error {
	t.ses.mu.Lock()
	defer t.ses.mu.Unlock()
	return t.logLocked(kind, data)
}

func (t *turn) logLocked(kind string, data any) error {
	t.commit(false)
	if t.broken == nil {
		_, t.broken = t.store.append(t.ses, kind, data)
	}
	return t.broken
}

// Plan implements [agent.Output].
func (t *turn) Plan(entries []agent.PlanEntry) error {
	return t.log(PlanChanged, planData{t.id, entries})
}

// Tool implements [agent.Output].
func (t *turn) Tool(call agent.ToolCall) error { return t.log(ToolCalled, toolData{t.id, call}) }

// Notice implements [agent.Output].
func (t *turn) Notice(code, message string) error {
	return t.log(NoticeGiven, noticeData{t.id, code, message})
}

// Remember implements [agent.Output].
func (t *turn) Remember(value jsontext.Value) error {
	return t.log(AgentState, stateData{t.agent.Describe().ID, value})
}

// Ask implements [agent.Output].
func (t *turn) Ask(ctx context.Context, p agent.PermissionRequest) (string, error) {
	r := &request{Request: Request{SubmissionID: t.id, RequestID: uuid.NewString(), PermissionRequest: p}, answered: make(chan string, 1)}
	preset, err := t.begin(r)
	if err != nil {
		return "", err
	}
	by := "preset"
	option := preset
	if preset == "" {
		by = "person"
		select {
		case option = <-r.answered:
		case <-ctx.Done():
		case <-t.ctx.Done():
		}
	}
	return option, t.settle(r, option, by)
}

// begin writes the request down and opens it, unless the session's permission
// answers it: then with that option.
func (t *turn) begin(r *request) (option string, err error) {
	t.ses.mu.Lock()
	defer t.ses.mu.Unlock()
	if err := t.logLocked(PermissionAsked, r.Request); err != nil {
		return "", err
	}
	if option = byPermission(t.ses.state.Permission, r.Options); option == "" {
		t.requests = append(t.requests, r)
		t.requestsChanged()
	}
	return option, nil
}

func byPermission(permission string, options []agent.PermissionOption) string {
	var kinds []string
	switch permission {
	case agent.PermissionAllow:
		kinds = []string{"allow_once", "allow_always"}
	case agent.PermissionReject:
		kinds = []string{"reject_once", "reject_always"}
	}
	for _, kind := range kinds {
		for _, o := range options {
			if o.Kind == kind {
				return o.ID
			}
		}
	}
	return ""
}

func (t *turn) settle(r *request, option, by string) error {
	t.ses.mu.Lock()
	defer t.ses.mu.Unlock()
	t.drop(r)
	name := ""
	for _, o := range r.Options {
		if o.ID == option {
			name = o.Name
		}
	}
	answer := answeredData{t.id, r.RequestID, option, name, option == "", by}
	return cmp.Or(t.logLocked(PermissionAnswered, answer), dismissed(option))
}

func dismissed(option string) error {
	if option == "" {
		return agent.ErrCancelled
	}
	return nil
}

func (t *turn) drop(r *request) {
	before := len(t.requests)
	t.requests = slices.DeleteFunc(t.requests, func(o *request) bool { return o == r })
	if len(t.requests) != before {
		t.requestsChanged()
	}
}

// answer takes a person's answer; ses.mu is held. The first one counts.
func (t *turn) answer(requestID, optionID string) error {
	i := slices.IndexFunc(t.requests, func(r *request) bool { return r.RequestID == requestID })
	if i < 0 {
		return errNoRequest
	}
	r := t.requests[i]
	if optionID != "" && !slices.ContainsFunc(r.Options, func(o agent.PermissionOption) bool { return o.ID == optionID }) {
		return fault.Errorf(fault.BadRequest, "the request has no such option")
	}
	r.answered <- optionID
	t.drop(r)
	return nil
}

func (t *turn) open() []Request {
	open := make([]Request, 0, len(t.requests))
	for _, r := range t.requests {
		open = append(open, r.Request)
	}
	return open
}

func (t *turn) requestsChanged() {
	t.store.opts.Watcher.RequestsChanged(t.ses.state.ID, t.open())
	t.store.changed(t.ses)
}
