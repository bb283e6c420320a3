package server

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/eventlog"
	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/markdown"
	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/sessions"
)

// liveView is LIVE of API.md.
type liveView struct {
	Session      string `json:"session"`
	SubmissionID string `json:"submissionId"`
	Kind         string `json:"kind"`
	Text         string `json:"text"`
	HTML         string `json:"html"`
}

// loggedView is the data of a "log" event.
type loggedView struct {
	Session string         `json:"session"`
	Event   eventlog.Event `json:"event"`
}

// view gives what a page shows of data: with texts rendered, unless plain.
func view(data any, plain bool) any {
	switch d := data.(type) {
	case sessions.Live:
		v := liveView{Session: d.Session, SubmissionID: d.SubmissionID, Kind: d.Kind, Text: d.Text}
		if !plain {
			v.HTML = markdown.HTML(d.Whole)
		}
		return v
	case logged:
		return loggedView{d.session, eventView(d.event, plain)}
	}
	return data
}

// eventView adds "html" to the texts of an agent.
func eventView(e eventlog.Event, plain bool) eventlog.Event {
	if plain {
		return e
	}
	switch e.Type {
	case sessions.AssistantMessage, sessions.AssistantThought:
		e.Data = changed(e.Data, addHTML)
	case sessions.ToolCalled:
		e.Data = changed(e.Data, func(call map[string]any) {
			content, _ := call["content"].([]any)
			for _, c := range content {
				if piece, ok := c.(map[string]any); ok && piece["type"] == "text" {
					addHTML(piece)
				}
			}
		})
	}
	return e
}

func addHTML(object map[string]any) {
	if text, ok := object["text"].(string); ok {
		object["html"] = markdown.HTML(text)
	}
}

func changed(data jsontext.Value, change func(map[string]any)) jsontext.Value {
	var object map[string]any
	if json.Unmarshal(data, &object) != nil {
		return data // shown without
	}
	change(object)
	out, err := json.Marshal(object, json.Deterministic(true))
	if err != nil {
		return data
	}
	return out
}
