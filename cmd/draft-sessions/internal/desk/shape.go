package desk

import (
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
	"google.golang.org/protobuf/proto"

	"github.com/draft-sessions/dsh-draft-sessions/plugin/sidebar"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
	pb "github.com/draft-sessions/dsh-draft-sessions/shared/proto/draftsessionsv1"
)

// Draft is a draft as --json prints it. The shape is part of the command's
// interface (docs/cli.md): members are added, never changed or taken away. All
// of them are always there. Times are ms since 1970.
type Draft struct {
	ID            string         `json:"id"`
	WorkspaceID   string         `json:"workspaceId"`
	WorkspacePath string         `json:"workspacePath"`
	Title         string         `json:"title"`
	Label         string         `json:"label"`
	Text          string         `json:"text"`
	State         string         `json:"state"`
	LastError     string         `json:"lastError"`
	Pinned        bool           `json:"pinned"`
	Order         int64          `json:"order"`
	SessionID     string         `json:"sessionId"`
	AgentPresetID string         `json:"agentPresetId"`
	CreatedAt     int64          `json:"createdAt"`
	UpdatedAt     int64          `json:"updatedAt"`
	Revision      int64          `json:"revision"`
	TextRevision  int64          `json:"textRevision"`
	Conflicts     []Conflict     `json:"conflicts"`
	Content       jsontext.Value `json:"content"`
	Settings      jsontext.Value `json:"settings"`
}

// Conflict is a conflict copy as --json prints it.
type Conflict struct {
	ID   string `json:"id"`
	Text string `json:"text"`
	At   int64  `json:"at"`
}

// Shape is a draft as --json prints it.
func Shape(d *pb.Draft) Draft {
	out := Draft{
		ID: d.Id, WorkspaceID: d.WorkspaceId, WorkspacePath: d.WorkspacePath, Title: d.Title, Label: label(d), Text: d.Text, State: d.State,
		LastError: d.LastError, Pinned: d.Pinned, Order: d.Order, SessionID: d.SessionId, AgentPresetID: d.AgentPresetId, CreatedAt: d.CreatedAt,
		UpdatedAt: d.UpdatedAt, Revision: d.Revision, TextRevision: d.TextRevision, Conflicts: []Conflict{},
		Content: raw(d.ContentJson), Settings: raw(d.SettingsJson),
	}
	for _, c := range d.Conflicts {
		out.Conflicts = append(out.Conflicts, Conflict{c.Id, c.Text, c.At})
	}
	return out
}

func raw(object string) jsontext.Value {
	if object == "" {
		return jsontext.Value("null")
	}
	return jsontext.Value(object)
}

func label(d *pb.Draft) string {
	return sidebar.Title(shared.DraftRecord{Title: d.Title, Text: d.Text})
}

// Label is what a list shows of a draft: its title, or its first line. What a
// terminal would act on is taken out of it.
func Label(d *pb.Draft) string {
	if l := printable(label(d), false); l != "" {
		return l
	}
	return "(empty)"
}

// Printable is text for a terminal: what it would act on, but line feeds and
// tabs, is replaced.
func Printable(text string) string { return printable(text, true) }

func printable(text string, lines bool) string {
	return strings.Map(func(r rune) rune {
		switch {
		case lines && (r == '\n' || r == '\t'):
			return r
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
			return '�'
		}
		return r
	}, text)
}

// Exchange is a draft on its way to a file or another home.
func Exchange(d *pb.Draft) (shared.ExchangeDraft, error) {
	content, err := shared.DecodeContent(d.ContentJson)
	if err != nil {
		return shared.ExchangeDraft{}, err
	}
	settings, err := shared.DecodeSettings(d.SettingsJson)
	if err != nil {
		return shared.ExchangeDraft{}, err
	}
	if d.WorkspacePath != "" {
		d = proto.CloneOf(d)
		d.WorkspaceId = "" // It means nothing elsewhere; the folder does.
	}
	out := shared.ExchangeDraft{
		ID: d.Id, WorkspaceID: d.WorkspaceId, WorkspacePath: d.WorkspacePath, Title: d.Title, Pinned: d.Pinned, CreatedAt: d.CreatedAt,
		UpdatedAt: d.UpdatedAt, AgentPresetID: d.AgentPresetId, Text: d.Text, Content: content, Settings: settings,
	}
	for _, c := range d.Conflicts {
		content, err := shared.DecodeContent(c.ContentJson)
		if err != nil {
			return shared.ExchangeDraft{}, err
		}
		out.Conflicts = append(out.Conflicts, shared.Conflict{ID: c.Id, Text: c.Text, At: c.At, Content: content})
	}
	return out, nil
}

// Import is an exchanged draft as the import takes it.
func Import(d shared.ExchangeDraft) (*pb.Draft, error) {
	content, err := shared.EncodePart(d.Content)
	if err != nil {
		return nil, err
	}
	settings, err := shared.EncodePart(d.Settings)
	if err != nil {
		return nil, err
	}
	out := &pb.Draft{
		Id: d.ID, WorkspaceId: d.WorkspaceID, WorkspacePath: d.WorkspacePath, Title: d.Title, Pinned: d.Pinned, CreatedAt: d.CreatedAt,
		UpdatedAt: d.UpdatedAt, AgentPresetId: d.AgentPresetID, Text: d.Text, ContentJson: content, SettingsJson: settings,
	}
	for _, c := range d.Conflicts {
		content, err := shared.EncodePart(c.Content)
		if err != nil {
			return nil, err
		}
		out.Conflicts = append(out.Conflicts, &pb.Conflict{Id: c.ID, Text: c.Text, At: c.At, ContentJson: content})
	}
	return out, nil
}

// Record is a draft with its session, for a version-1 file.
func Record(d *pb.Draft) (shared.DraftRecord, error) {
	e, err := Exchange(d)
	if err != nil {
		return shared.DraftRecord{}, err
	}
	r := shared.DraftRecord{
		Version: shared.RecordVersion, ID: e.ID, WorkspaceID: d.WorkspaceId, WorkspacePath: e.WorkspacePath, Text: e.Text, Title: e.Title,
		CreatedAt: e.CreatedAt, UpdatedAt: e.UpdatedAt, Order: d.Order, Pinned: e.Pinned, AgentPresetID: e.AgentPresetID, State: shared.State(d.State),
		LastError: d.LastError, Revision: d.Revision, TextRevision: d.TextRevision, Conflicts: e.Conflicts, Content: e.Content, Settings: e.Settings,
	}
	if d.SessionId != "" {
		r.SessionID = &d.SessionId
	}
	return r, nil
}
