package sessions

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/eventlog"
)

// maxTitle bounds a title that is taken from a message, in characters.
const maxTitle = 120

// Summary is what a list shows of a session (SESSION in API.md).
type Summary struct {
	ID            string `json:"id"`
	WorkspaceID   string `json:"workspaceId"`
	WorkspacePath string `json:"workspacePath"`
	Title         string `json:"title"`
	TitleSource   string `json:"titleSource"`
	Agent         string `json:"agent"`
	AgentPresetID string `json:"agentPresetId"`
	Model         string `json:"model"`
	Permission    string `json:"permission"`
	Blank         bool   `json:"blank"`
	Running       bool   `json:"running"`
	Waiting       bool   `json:"waiting"`
	Unknown       bool   `json:"unknown"`
	Archived      bool   `json:"archived"`
	TrashedAt     int64  `json:"trashedAt"`
	CreatedAt     int64  `json:"createdAt"`
	UpdatedAt     int64  `json:"updatedAt"`
	LastSeq       int64  `json:"lastSeq"`
	Damaged       string `json:"damaged"`
}

// SubmissionState is what became of a prompt.
type SubmissionState string

// Received: on disk, and nothing ran. The others follow the turn.
const (
	Received SubmissionState = "received"
	Running  SubmissionState = "running"
)

// Submission is what became of a prompt (SUBMISSION in API.md).
type Submission struct {
	ID        string          `json:"submissionId"`
	SessionID string          `json:"sessionId"`
	State     SubmissionState `json:"state"`
	// Seq is its user message's, 0 before.
	Seq      int64  `json:"seq"`
	Message  string `json:"message"`
	textHash string
}

// state is everything that is derived from a session's log.
type state struct {
	Summary
	firstMessage string
	submissions  map[string]*Submission
	messages     []message
	// open is the submission whose turn has no end yet, "" when there is none.
	open string
	// remembered is the agent's own, by agent.
	remembered map[string]jsontext.Value
}

// message is a user message, the proof of a sent prompt.
type message struct {
	Seq          int64
	SubmissionID string
}

func newState() *state {
	return &state{
		Summary:     Summary{Blank: true, TitleSource: "none"},
		submissions: map[string]*Submission{},
		remembered:  map[string]jsontext.Value{},
	}
}

// apply takes one more event. An event of a type that it does not know (a later
// version's) changes nothing. It fails for data that is not of its type.
func (s *state) apply(e eventlog.Event) error {
	s.LastSeq = e.Seq
	switch e.Type {
	case Created:
		return with(e, func(d createdData) {
			s.ID, s.WorkspacePath = d.ID, d.WorkspacePath
			s.AgentPresetID, s.Model, s.Permission = d.AgentPresetID, d.Model, d.Permission
			s.CreatedAt, s.UpdatedAt = e.At, e.At
			if d.Title != "" {
				s.Title, s.TitleSource = d.Title, "given"
			}
			s.Agent, _, _ = strings.Cut(d.AgentPresetID, "/")
		})
	case Renamed:
		return with(e, func(d renamedData) {
			s.Title, s.TitleSource = d.Title, "given"
			if d.Title == "" {
				s.titleFromMessage()
			}
		})
	case SettingsChanged:
		return with(e, func(d settingsData) {
			if d.AgentPresetID != nil {
				s.AgentPresetID = *d.AgentPresetID
				s.Agent, _, _ = strings.Cut(s.AgentPresetID, "/")
			}
			if d.Model != nil {
				s.Model = *d.Model
			}
			if d.Permission != nil {
				s.Permission = *d.Permission
			}
		})
	case Archived:
		s.Archived = true
	case Restored:
		s.Archived = false
	case Trashed:
		s.TrashedAt = e.At
	case Untrashed:
		s.TrashedAt = 0
	case AgentState:
		return with(e, func(d stateData) { s.remembered[d.Agent] = slices.Clone(d.State) })
	default:
		return s.applyTurn(e)
	}
	return nil
}

// applyTurn takes an event of a prompt or its turn.
func (s *state) applyTurn(e eventlog.Event) error {
	switch e.Type {
	case PromptReceived:
		return with(e, func(d receivedData) {
			s.submissions[d.SubmissionID] = &Submission{ID: d.SubmissionID, SessionID: s.ID, State: Received, textHash: d.TextHash}
		})
	case PromptRefused:
		return with(e, func(d refusedData) {
			if sub := s.submissions[d.SubmissionID]; sub != nil {
				sub.Message = d.Message
			}
		})
	case UserMessage:
		return with(e, func(d userData) {
			s.Blank, s.UpdatedAt, s.open, s.Unknown = false, e.At, d.SubmissionID, false
			s.messages = append(s.messages, message{e.Seq, d.SubmissionID})
			if sub := s.submissions[d.SubmissionID]; sub != nil {
				sub.State, sub.Seq, sub.Message = Running, e.Seq, ""
			}
			if s.firstMessage == "" {
				s.firstMessage = firstLine(d.Text)
			}
			if s.TitleSource == "none" {
				s.titleFromMessage()
			}
		})
	case TurnEnded:
		return with(e, func(d endedData) {
			s.UpdatedAt, s.open = e.At, ""
			s.Unknown = d.Outcome == OutcomeUnknown
			if sub := s.submissions[d.SubmissionID]; sub != nil {
				sub.State, sub.Message = SubmissionState(d.Outcome), d.Message
			}
		})
	}
	return nil
}

func (s *state) titleFromMessage() {
	s.Title, s.TitleSource = s.firstMessage, "first message"
	if s.Title == "" {
		s.TitleSource = "none"
	}
}

// firstLine is the first line that is not blank, at most [maxTitle] characters.
func firstLine(text string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			if utf8.RuneCountInString(line) > maxTitle {
				line = string([]rune(line)[:maxTitle-1]) + "…"
			}
			return line
		}
	}
	return ""
}

func with[T any](e eventlog.Event, take func(T)) error {
	var data T
	if err := json.Unmarshal(e.Data, &data); err != nil {
		return errData
	}
	take(data)
	return nil
}
