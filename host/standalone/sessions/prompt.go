package sessions

import (
	"context"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/agent"
	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/eventlog"
	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/fault"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// admitWithin bounds the admission of a prompt: late is refused, never admitted
// behind the sender's back.
const admitWithin = 15 * time.Second

var submissionIDs = regexp.MustCompile(`^[A-Za-z0-9._:-]+$`)

// claim is a submission id that is taken. Who makes it admits the prompt; all
// others wait for that and look what became of it.
type claim struct {
	ses *session
	// settled is closed when the admission has ended, either way.
	settled chan struct{}
}

func settled(ses *session) *claim {
	c := &claim{ses: ses, settled: make(chan struct{})}
	close(c.settled)
	return c
}

// Prompt admits a prompt under that submission id and starts its turn, or tells
// what became of it when the id is known: the same id never runs twice. When it
// returns without an error its user message is on disk. ctx bounds the waiting,
// not the admission: one that was begun ends. Codes: bad-request, not-found,
// session-conflict (archived or in the trash), submission-conflict, agent-busy,
// agent-unavailable, log-corrupt, too-large, storage, and what the plugin refused with.
func (s *Store) Prompt(ctx context.Context, sessionID, submissionID, text string) (Submission, error) {
	if err := checkPrompt(submissionID, text); err != nil {
		return Submission{}, err
	}
	ses, err := s.find(sessionID)
	if err != nil {
		return Submission{}, err
	}
	if err := s.begin(); err != nil {
		return Submission{}, err
	}
	defer s.tasks.Done()
	hash := shared.TextHash(text)
	var seen *claim
	for {
		c, mine := s.claim(submissionID, ses, seen)
		if mine {
			return s.admit(ctx, c, submissionID, text, hash)
		}
		if c.ses != ses {
			return Submission{}, fault.Errorf(fault.SubmissionConflict, "that submission id was used in another session")
		}
		select {
		case <-c.settled:
		case <-ctx.Done():
			return Submission{}, ctx.Err()
		}
		ses.mu.Lock()
		sub := copied(ses.state.submissions[submissionID])
		ses.mu.Unlock()
		switch {
		case sub.ID == "" || sub.State == Received && sub.textHash == hash:
			seen = c // nothing ran: whoever replaces this claim first tries again
		case sub.textHash != hash:
			return Submission{}, fault.Errorf(fault.SubmissionConflict, "that submission id was used for another text")
		default:
			return sub, nil
		}
	}
}

func checkPrompt(submissionID, text string) error {
	switch {
	case len(submissionID) > maxIDBytes || !submissionIDs.MatchString(submissionID):
		return fault.Errorf(fault.BadRequest, "a submission id is 1 to 128 letters, digits, \".\", \":\", \"-\" and \"_\"")
	case len(text) > MaxPromptBytes:
		return fault.Errorf(fault.TooLarge, "a prompt is at most %d bytes", MaxPromptBytes)
	case !utf8.ValidString(text):
		return fault.Errorf(fault.BadRequest, "the prompt is not well-formed Unicode")
	case strings.TrimSpace(text) == "":
		return fault.Errorf(fault.BadRequest, "the prompt is empty")
	}
	return nil
}

// begin lets Close wait for what is begun here; end it with tasks.Done.
func (s *Store) begin() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errEnding
	}
	s.tasks.Add(1)
	return nil
}

// claim takes a submission id that is free, or replaces the claim old.
func (s *Store) claim(id string, ses *session, old *claim) (c *claim, mine bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.claims[id]; c != nil && c != old {
		return c, false
	}
	c = &claim{ses: ses, settled: make(chan struct{})}
	s.claims[id] = c
	return c, true
}

func copied(sub *Submission) Submission {
	if sub == nil {
		return Submission{}
	}
	return *sub
}

// Submission tells what became of a prompt. Code: not-found.
func (s *Store) Submission(id string) (Submission, error) {
	s.mu.Lock()
	c := s.claims[id]
	s.mu.Unlock()
	if c != nil {
		c.ses.mu.Lock()
		defer c.ses.mu.Unlock()
		if sub := c.ses.state.submissions[id]; sub != nil {
			return *sub, nil
		}
	}
	return Submission{}, fault.Errorf(fault.NotFound, "there is no such submission")
}

// admit takes a prompt through receipt, consent and user message, and starts its turn.
func (s *Store) admit(ctx context.Context, c *claim, id, text, hash string) (Submission, error) {
	defer close(c.settled)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), admitWithin)
	defer cancel()
	ses := c.ses
	a, err := s.receive(ses, id, hash)
	if err != nil {
		s.dropUnlessReceived(c, id)
		return Submission{}, err
	}
	if err := s.opts.Plugin.BeforePrompt(ctx, ses.state.ID, id, text); err != nil {
		s.refuse(ses, id, err)
		return Submission{}, err
	}
	sub, t, err := s.accept(ses, a, id, text)
	if err != nil {
		s.tasks.Go(func() { s.opts.Plugin.AfterPrompt(s.life, ses.state.ID, id, false) })
		return Submission{}, err
	}
	s.tasks.Go(func() { s.opts.Plugin.AfterPrompt(s.life, ses.state.ID, id, true) })
	s.tasks.Go(func() { t.run() })
	return sub, nil
}

// dropUnlessReceived frees an id of which nothing is on disk.
func (s *Store) dropUnlessReceived(c *claim, id string) {
	c.ses.mu.Lock()
	received := c.ses.state.submissions[id] != nil
	c.ses.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !received && s.claims[id] == c {
		delete(s.claims, id)
	}
}

// receive checks that the session can take a prompt now, and puts the receipt on disk.
func (s *Store) receive(ses *session, id, hash string) (agent.Agent, error) {
	ses.mu.Lock()
	defer ses.mu.Unlock()
	st := ses.state
	switch {
	case st.LastSeq == 0 && st.Damaged == "":
		return nil, fault.Errorf(fault.NotFound, "there is no such session")
	case st.TrashedAt > 0:
		return nil, fault.Errorf(fault.SessionConflict, "the session is in the trash; take it out first")
	case st.Archived:
		return nil, fault.Errorf(fault.SessionConflict, "the session is archived; restore it first")
	case ses.turn != nil || ses.admitting != "":
		return nil, fault.Errorf(fault.AgentBusy, "the agent is still working on the last prompt")
	}
	a, ok := s.opts.Agents.Get(st.Agent)
	if !ok {
		return nil, fault.Errorf(fault.AgentUnavailable, "this session's agent, %q, is not configured", st.Agent)
	}
	if d := a.Describe(); !d.Available {
		return nil, fault.Errorf(fault.AgentUnavailable, "%s", d.Message)
	}
	if st.submissions[id] == nil {
		if _, err := s.append(ses, PromptReceived, receivedData{id, hash}); err != nil {
			return nil, err
		}
	}
	ses.admitting = id
	s.changed(ses)
	return a, nil
}

func (s *Store) refuse(ses *session, id string, cause error) {
	code, message := codeAndMessage(cause)
	ses.mu.Lock()
	defer ses.mu.Unlock()
	ses.admitting = ""
	if _, err := s.append(ses, PromptRefused, refusedData{id, code, message}); err != nil {
		s.opts.Log.Warn("could not write down that a prompt was refused", "session", ses.state.ID, "error", err)
	}
	s.changed(ses)
}

// accept puts the user message on disk. From here on the prompt may run.
func (s *Store) accept(ses *session, a agent.Agent, id, text string) (Submission, *turn, error) {
	ses.mu.Lock()
	defer ses.mu.Unlock()
	ses.admitting = ""
	defer s.changed(ses)
	e, err := s.append(ses, UserMessage, userData{SubmissionID: id, Text: text, Agent: ses.state.Agent, Model: ses.state.Model})
	if err != nil {
		return Submission{}, nil, err
	}
	ses.turn = s.newTurn(ses, a, id, text, e.Seq)
	return *ses.state.submissions[id], ses.turn, nil
}

// Cancel asks the running turn to end; it is a success when none runs. Code: not-found.
func (s *Store) Cancel(id string) (Summary, error) {
	ses, err := s.find(id)
	if err != nil {
		return Summary{}, err
	}
	ses.mu.Lock()
	defer ses.mu.Unlock()
	if ses.turn != nil {
		ses.turn.cancel()
	}
	return s.summary(ses), nil
}

// Answer answers a permission request with one of its options, or dismisses it
// with "". Codes: not-found (also when it was answered elsewhere), bad-request.
func (s *Store) Answer(id, requestID, optionID string) error {
	ses, err := s.find(id)
	if err != nil {
		return err
	}
	ses.mu.Lock()
	defer ses.mu.Unlock()
	if ses.turn == nil {
		return errNoRequest
	}
	return ses.turn.answer(requestID, optionID)
}

var errNoRequest = fault.Errorf(fault.NotFound, "there is no such request; it may have been answered already")

// Now is what goes on in a session: the message that is being streamed, nil when
// none is, and the open requests. Code: not-found.
func (s *Store) Now(id string) (*Live, []Request, error) {
	ses, err := s.find(id)
	if err != nil {
		return nil, nil, err
	}
	ses.mu.Lock()
	defer ses.mu.Unlock()
	if ses.turn == nil {
		return nil, nil, nil
	}
	return ses.turn.now(), ses.turn.open(), nil
}

// Said is what an agent has said to a submission so far, its messages with a
// blank line between them, also what is being streamed; and what became of the
// submission. Codes: not-found, storage.
func (s *Store) Said(id, submissionID string) (string, Submission, error) {
	ses, err := s.find(id)
	if err != nil {
		return "", Submission{}, err
	}
	// The state first: what was said before the end of a turn is in the log by then.
	ses.mu.Lock()
	sub := copied(ses.state.submissions[submissionID])
	streamed := ""
	if t := ses.turn; t != nil && t.id == submissionID && t.kind == kindMessage {
		streamed = t.text.String()
	}
	last := ses.state.LastSeq
	ses.mu.Unlock()
	if sub.ID == "" {
		return "", sub, fault.Errorf(fault.NotFound, "there is no such submission in this session")
	}
	if sub.Seq == 0 {
		return "", sub, nil
	}
	events, err := ses.log.Read(sub.Seq)
	if err != nil {
		return "", sub, fault.Errorf(fault.Storage, "the session's log could not be read: %w", err)
	}
	var said []string
	for _, e := range events {
		if e.Seq > last {
			break
		}
		if e.Type == AssistantMessage {
			_ = with(e, func(d messageData) { // was applied before
				if d.SubmissionID == submissionID {
					said = append(said, d.Text)
				}
			})
		}
	}
	if streamed != "" {
		said = append(said, streamed)
	}
	return strings.Join(said, "\n\n"), sub, nil
}

// history are the messages before that event, for an agent that keeps none.
func history(events []eventlog.Event, before int64) []agent.Message {
	var out []agent.Message
	for _, e := range events {
		if e.Seq >= before {
			break
		}
		switch e.Type {
		case UserMessage:
			_ = with(e, func(d userData) { out = append(out, agent.Message{Role: "user", Text: d.Text}) }) // was applied before
		case AssistantMessage:
			_ = with(e, func(d messageData) {
				if last := len(out) - 1; last >= 0 && out[last].Role == "assistant" {
					out[last].Text += "\n\n" + d.Text
					return
				}
				out = append(out, agent.Message{Role: "assistant", Text: d.Text})
			})
		}
	}
	return out
}
