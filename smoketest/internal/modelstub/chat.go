package modelstub

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// echoLimit bounds the echoed text, so that a huge prompt gives a small answer.
const echoLimit = 60

type chatCall struct {
	Model    string        `json:"model"`
	Stream   bool          `json:"stream"`
	Messages []chatMessage `json:"messages"`
}

type chatMessage struct {
	Role string `json:"role"`
	// Content is a string, or a list of typed parts.
	Content json.RawMessage `json:"content"`
}

type chatPart struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

func (m chatMessage) parts() []chatPart {
	var text string
	if json.Unmarshal(m.Content, &text) == nil {
		return []chatPart{{Type: "text", Text: text}}
	}
	var parts []chatPart
	// Content that is neither is an assistant's null: no parts.
	_ = json.Unmarshal(m.Content, &parts)
	return parts
}

func (c chatCall) images() int {
	count := 0
	for _, message := range c.Messages {
		for _, part := range message.parts() {
			if strings.HasPrefix(part.Type, "image") {
				count++
			}
		}
	}
	return count
}

// firstUserText is what the answer echoes. The host adds messages of its own
// after the person's, so the first one is the person's.
func (c chatCall) firstUserText() string {
	for _, message := range c.Messages {
		if message.Role != "user" {
			continue
		}
		var texts []string
		for _, part := range message.parts() {
			if part.Text != "" {
				texts = append(texts, part.Text)
			}
		}
		return strings.Join(texts, " ")
	}
	return ""
}

func stream(w http.ResponseWriter, call chatCall) {
	runes := []rune(call.firstUserText())
	if len(runes) > echoLimit {
		runes = runes[:echoLimit]
	}
	half := len(runes) / 2
	type object = map[string]any
	choice := func(delta object, finish any) object {
		return object{"id": "stub", "object": "chat.completion.chunk", "created": 1, "model": call.Model,
			"choices": []object{{"index": 0, "delta": delta, "finish_reason": finish}}}
	}
	last := choice(object{}, "stop")
	last["usage"] = object{"prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 13}
	w.Header().Set("Content-Type", "text/event-stream")
	flusher, _ := w.(http.Flusher)
	for _, chunk := range []object{
		choice(object{"role": "assistant", "content": ""}, nil),
		choice(object{"content": "echo: " + string(runes[:half])}, nil),
		choice(object{"content": string(runes[half:])}, nil),
		last,
	} {
		encoded, err := json.Marshal(chunk)
		if err != nil {
			return
		}
		if _, err := fmt.Fprintf(w, "data: %s\n\n", encoded); err != nil {
			return
		}
		if flusher != nil {
			flusher.Flush()
		}
	}
	_, _ = fmt.Fprint(w, "data: [DONE]\n\n")
}

// stringsOf collects every string value of decoded JSON.
func stringsOf(value any, into []string) []string {
	switch v := value.(type) {
	case string:
		return append(into, v)
	case []any:
		for _, element := range v {
			into = stringsOf(element, into)
		}
	case map[string]any:
		for _, element := range v {
			into = stringsOf(element, into)
		}
	}
	return into
}
