package sessions

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/agent"
)

// The types of events in a session's log (API.md).
const (
	Created            = "session/created"
	Renamed            = "session/renamed"
	SettingsChanged    = "session/settings"
	Archived           = "session/archived"
	Restored           = "session/restored"
	Trashed            = "session/trashed"
	Untrashed          = "session/untrashed"
	PromptReceived     = "prompt/received"
	PromptRefused      = "prompt/refused"
	UserMessage        = "user/message"
	AssistantMessage   = "assistant/message"
	AssistantThought   = "assistant/thought"
	PlanChanged        = "plan"
	ToolCalled         = "tool/call"
	PermissionAsked    = "permission/asked"
	PermissionAnswered = "permission/answered"
	NoticeGiven        = "notice"
	AgentState         = "agent/state"
	TurnEnded          = "turn/ended"
)

// The data of the events. All of one turn carry its submission id.
type (
	createdData struct {
		ID            string `json:"id"`
		WorkspacePath string `json:"workspacePath"`
		AgentPresetID string `json:"agentPresetId"`
		Model         string `json:"model"`
		Permission    string `json:"permission"`
		Title         string `json:"title"`
	}
	renamedData struct {
		Title string `json:"title"`
	}
	settingsData struct {
		AgentPresetID *string `json:"agentPresetId,omitzero"`
		Model         *string `json:"model,omitzero"`
		Permission    *string `json:"permission,omitzero"`
	}
	nothing      struct{}
	receivedData struct {
		SubmissionID string `json:"submissionId"`
		TextHash     string `json:"textHash"`
	}
	refusedData struct {
		SubmissionID string `json:"submissionId"`
		Code         string `json:"code"`
		Message      string `json:"message"`
	}
	userData struct {
		SubmissionID string `json:"submissionId"`
		Text         string `json:"text"`
		Agent        string `json:"agent"`
		Model        string `json:"model"`
	}
	messageData struct {
		SubmissionID string `json:"submissionId"`
		Text         string `json:"text"`
		Partial      bool   `json:"partial"`
	}
	planData struct {
		SubmissionID string            `json:"submissionId"`
		Entries      []agent.PlanEntry `json:"entries"`
	}
	toolData struct {
		SubmissionID string `json:"submissionId"`
		agent.ToolCall
	}
	answeredData struct {
		SubmissionID string `json:"submissionId"`
		RequestID    string `json:"requestId"`
		OptionID     string `json:"optionId"`
		OptionName   string `json:"optionName"`
		Cancelled    bool   `json:"cancelled"`
		By           string `json:"by"`
	}
	noticeData struct {
		SubmissionID string `json:"submissionId"`
		Code         string `json:"code"`
		Message      string `json:"message"`
	}
	stateData struct {
		Agent string         `json:"agent"`
		State jsontext.Value `json:"state"`
	}
	endedData struct {
		SubmissionID string  `json:"submissionId"`
		Outcome      Outcome `json:"outcome"`
		Reason       string  `json:"reason"`
		Code         string  `json:"code"`
		Message      string  `json:"message"`
	}
)

// Request is an open permission request.
type Request struct {
	SubmissionID string `json:"submissionId"`
	RequestID    string `json:"requestId"`
	agent.PermissionRequest
}

// Outcome is how a turn ended.
type Outcome string

// The outcomes of a turn.
const (
	OutcomeCompleted Outcome = "completed"
	OutcomeCancelled Outcome = "cancelled"
	OutcomeFailed    Outcome = "failed"
	// OutcomeUnknown: the host or machine went down while it ran.
	OutcomeUnknown Outcome = "unknown"
)

// Live is what is being streamed of one message of a turn.
type Live struct {
	Session      string
	SubmissionID string
	// Kind is "message" or "thought".
	Kind string
	// Text was appended since the last one, Whole is all so far.
	Text, Whole string
}
