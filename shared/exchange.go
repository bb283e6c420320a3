package shared

import (
	"bytes"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// ExchangeFormat and ExchangeVersion begin a file in which drafts go from one
// home to another.
const (
	ExchangeFormat  = "draft-sessions-export"
	ExchangeVersion = 1
)

// Exchange is drafts on their way from one home to another, or to a person: no
// session, revision or order, which mean nothing elsewhere.
type Exchange struct {
	Format  string          `json:"format"`
	Version int             `json:"version"`
	Drafts  []ExchangeDraft `json:"drafts"`
}

// ExchangeDraft is one draft of an [Exchange]. Only Text is required. Times are ms.
type ExchangeDraft struct {
	ID            string     `json:"id,omitempty"`
	WorkspaceID   string     `json:"workspaceId,omitempty"`
	WorkspacePath string     `json:"workspacePath,omitempty"`
	Title         string     `json:"title,omitempty"`
	Pinned        bool       `json:"pinned,omitzero"`
	CreatedAt     int64      `json:"createdAt,omitzero"`
	UpdatedAt     int64      `json:"updatedAt,omitzero"`
	AgentPresetID string     `json:"agentPresetId,omitempty"`
	Text          string     `json:"text"`
	Content       *Content   `json:"content,omitzero"`
	Settings      *Settings  `json:"settings,omitzero"`
	Conflicts     []Conflict `json:"conflicts,omitempty"`
}

// DecodeExchange reads an exchange strictly and checks every draft as far as it
// can be checked alone. The second result are the lines on which the drafts
// begin, from 1. Errors are DRAFT_INVALID_INPUT with the line, and hold no text.
func DecodeExchange(data []byte) (*Exchange, []int, error) {
	doc := &Exchange{}
	if err := strictDecode(data, doc); err != nil {
		return nil, nil, Errorf(DraftInvalidInput, "%s", messageOf(err))
	}
	if doc.Format != ExchangeFormat {
		return nil, nil, Errorf(DraftInvalidInput, "line 1: format: not %q", ExchangeFormat)
	}
	if doc.Version != ExchangeVersion {
		return nil, nil, Errorf(DraftInvalidInput, "line 1: version %d of the format is not known here", doc.Version)
	}
	lines := draftLines(data)
	for i := range doc.Drafts {
		if err := doc.Drafts[i].check(); err != nil {
			return nil, nil, Errorf(DraftInvalidInput, "line %d: drafts[%d]: %s", lines[i], i, messageOf(err))
		}
	}
	return doc, lines, nil
}

// check holds the draft against the rules of a record.
func (d *ExchangeDraft) check() error {
	record := DraftRecord{
		Version: RecordVersion, ID: orDefault(d.ID, "new"), WorkspaceID: orDefault(d.WorkspaceID, "any"), WorkspacePath: d.WorkspacePath,
		Text: d.Text, Title: d.Title, CreatedAt: d.CreatedAt, UpdatedAt: d.UpdatedAt, AgentPresetID: d.AgentPresetID,
		State: StateDraft, Revision: 1, TextRevision: 1, Content: d.Content, Settings: d.Settings, Conflicts: d.Conflicts,
	}
	if err := ValidateRecord(&record); err != nil {
		return err
	}
	return ValidateRecordLimits(nil, &record)
}

func orDefault(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// draftLines are the lines on which the members of "drafts" begin. data is
// known to be well-formed.
func draftLines(data []byte) []int {
	dec := jsontext.NewDecoder(bytes.NewReader(data))
	var lines []int
	if _, err := dec.ReadToken(); err != nil {
		return nil
	}
	at, line := int64(0), 1
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			return lines
		}
		if name.String() != "drafts" {
			if dec.SkipValue() != nil {
				return lines
			}
			continue
		}
		if _, err := dec.ReadToken(); err != nil {
			return lines
		}
		for dec.PeekKind() == '{' {
			value, err := dec.ReadValue()
			if err != nil {
				return lines
			}
			begin := dec.InputOffset() - int64(len(value))
			line += bytes.Count(data[at:begin], []byte{'\n'})
			at = begin
			lines = append(lines, line)
		}
		return lines
	}
	return lines
}

// EncodeExchange writes an exchange, one draft a line.
func EncodeExchange(drafts []ExchangeDraft) ([]byte, error) {
	var out bytes.Buffer
	out.WriteString(`{"format":"` + ExchangeFormat + `","version":1,"drafts":[`)
	for i := range drafts {
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteByte('\n')
		if err := json.MarshalWrite(&out, &drafts[i]); err != nil {
			return nil, Errorf(DraftInvalidInput, "drafts[%d] does not encode as JSON", i)
		}
	}
	out.WriteString("\n]}\n")
	return out.Bytes(), nil
}
