// Package exchange writes drafts to files for people and other homes, and reads
// them strictly: Markdown with front matter, one draft a file, and JSON. Call
// [Read] and [Markdown]; the JSON form is [shared.Exchange].
package exchange

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// fence begins and ends the front matter.
const fence = "---\n"

// frontVersion is the value of the member draft-sessions, which marks a file as ours.
const frontVersion = 1

// front is the front matter as it is read. Times are RFC 3339 with milliseconds.
type front struct {
	Version     int    `yaml:"draft-sessions"`
	ID          string `yaml:"id"`
	Title       string `yaml:"title"`
	Workspace   string `yaml:"workspace"`
	WorkspaceID string `yaml:"workspace-id"`
	Pinned      bool   `yaml:"pinned"`
	Preset      string `yaml:"agent-preset"`
	Created     string `yaml:"created"`
	Updated     string `yaml:"updated"`
}

const timeForm = "2006-01-02T15:04:05.000Z07:00"

// Markdown is one draft as a Markdown file: front matter, then the text, then one
// line feed that is not the text's. left says what of the draft it cannot hold.
func Markdown(d shared.ExchangeDraft) (file []byte, left []string) {
	if len(d.Conflicts) > 0 {
		left = append(left, "conflict copies")
	}
	if d.Content != nil {
		left = append(left, "references and attachments")
	}
	if d.Settings != nil {
		left = append(left, "settings")
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "%sdraft-sessions: %d\n", fence, frontVersion)
	for _, member := range []struct{ name, value string }{
		{"id", d.ID}, {"title", d.Title}, {"workspace", d.WorkspacePath}, {"workspace-id", d.WorkspaceID}, {"agent-preset", d.AgentPresetID},
		{"created", timeOf(d.CreatedAt)}, {"updated", timeOf(d.UpdatedAt)},
	} {
		if member.value != "" {
			fmt.Fprintf(&out, "%s: %s\n", member.name, quoted(member.value))
		}
	}
	if d.Pinned {
		out.WriteString("pinned: true\n")
	}
	out.WriteString(fence)
	out.WriteString(d.Text)
	out.WriteByte('\n')
	return out.Bytes(), left
}

// quoted is a YAML string in double quotes, all of it on one line: the library's
// own encoder does not give every string back.
func quoted(s string) string {
	var out strings.Builder
	out.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			out.WriteByte('\\')
			out.WriteRune(r)
		case unicode.IsPrint(r):
			out.WriteRune(r)
		case r <= 0xFFFF:
			fmt.Fprintf(&out, "\\u%04x", r)
		default:
			fmt.Fprintf(&out, "\\U%08x", r)
		}
	}
	out.WriteByte('"')
	return out.String()
}

func timeOf(ms int64) string {
	if ms == 0 {
		return ""
	}
	return time.UnixMilli(ms).UTC().Format(timeForm)
}

// readMarkdown reads a Markdown file. One without front matter of ours is a
// draft of just that text.
func readMarkdown(data []byte) (shared.ExchangeDraft, error) {
	var d shared.ExchangeDraft
	if !utf8.Valid(data) {
		line := 1
		for rest := data; len(rest) > 0; {
			r, size := utf8.DecodeRune(rest)
			if r == utf8.RuneError && size == 1 {
				break
			}
			if r == '\n' {
				line++
			}
			rest = rest[size:]
		}
		return d, shared.Errorf(shared.DraftInvalidInput, "line %d: not UTF-8", line)
	}
	head, body, found := split(data)
	if !found {
		d.Text = string(bytes.TrimSuffix(data, []byte("\n")))
		return d, nil
	}
	var f front
	if err := yaml.UnmarshalWithOptions(head, &f, yaml.Strict()); err != nil {
		return d, badFront(err)
	}
	if f.Version != frontVersion {
		return d, shared.Errorf(shared.DraftInvalidInput, "line 2: draft-sessions: version %d is not known here", f.Version)
	}
	d = shared.ExchangeDraft{
		ID: f.ID, Title: f.Title, WorkspacePath: f.Workspace, WorkspaceID: f.WorkspaceID, Pinned: f.Pinned, AgentPresetID: f.Preset,
		Text: string(bytes.TrimSuffix(body, []byte("\n"))),
	}
	for _, at := range []struct {
		name, given string
		ms          *int64
	}{{"created", f.Created, &d.CreatedAt}, {"updated", f.Updated, &d.UpdatedAt}} {
		if at.given == "" {
			continue
		}
		t, err := time.Parse(time.RFC3339, at.given)
		if err != nil || t.UnixMilli() < 0 {
			return d, shared.Errorf(shared.DraftInvalidInput, "line %d: %s: not a time of the form 2006-01-02T15:04:05Z", lineOf(head, at.name), at.name)
		}
		*at.ms = t.UnixMilli()
	}
	return d, nil
}

// mark is the member by which front matter is known as ours.
var mark = regexp.MustCompile(`(?m)^draft-sessions:`)

// split separates front matter of ours from the text.
func split(data []byte) (head, body []byte, found bool) {
	rest, ok := bytes.CutPrefix(data, []byte(fence))
	if !ok {
		return nil, data, false
	}
	head, body, ok = bytes.Cut(rest, []byte("\n"+fence))
	if !ok || !mark.Match(head) {
		return nil, data, false // Somebody else's, or a text that begins with a rule.
	}
	return append(head, '\n'), body, true
}

// lineOf is the line of the file on which a member of the front matter stands.
func lineOf(head []byte, name string) int {
	for i, line := range bytes.Split(head, []byte("\n")) {
		if bytes.HasPrefix(line, []byte(name+":")) {
			return i + 2 // The fence is line 1.
		}
	}
	return 2
}

// badFront tells what is wrong where, without quoting the file (invariant 11).
func badFront(err error) error {
	problem := "not well-formed YAML"
	var unknown *yaml.UnknownFieldError
	var twice *yaml.DuplicateKeyError
	var kind *yaml.TypeError
	switch {
	case errors.As(err, &unknown):
		problem = "unknown member"
	case errors.As(err, &twice):
		problem = "duplicate member"
	case errors.As(err, &kind):
		problem = "a value of the wrong kind"
	}
	line := 2
	var placed yaml.Error
	if errors.As(err, &placed) && placed.GetToken() != nil && placed.GetToken().Position != nil {
		line = placed.GetToken().Position.Line + 1
	}
	return shared.Errorf(shared.DraftInvalidInput, "line %d: %s in the front matter", line, problem)
}
