package exchange

import (
	"bytes"
	"regexp"
	"strconv"

	"github.com/tidwall/gjson"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// Item is one draft that was read, with where it stands.
type Item struct {
	shared.ExchangeDraft
	File string
	Line int
}

// Read reads one file: an export as JSON, a draft file of version 1 or 2, or
// anything else as Markdown. The content decides, not the name. Errors are
// DRAFT_INVALID_INPUT with file and line, and hold no text of it.
func Read(file string, data []byte) ([]Item, error) {
	items, err := read(data)
	if err != nil {
		return nil, shared.Errorf(shared.DraftInvalidInput, "%s: %s", file, shared.MessageOf(err))
	}
	for i := range items {
		items[i].File = file
	}
	return items, nil
}

func read(data []byte) ([]Item, error) {
	if body := bytes.TrimLeft(data, " \t\r\n"); len(body) == 0 || body[0] != '{' {
		d, err := readMarkdown(data)
		return []Item{{ExchangeDraft: d, Line: 1}}, err
	}
	// A peek; whatever it says, the strict readers decide.
	if gjson.GetBytes(data, "format").Exists() {
		doc, lines, err := shared.DecodeExchange(data)
		if err != nil {
			return nil, err
		}
		items := make([]Item, len(doc.Drafts))
		for i, d := range doc.Drafts {
			items[i] = Item{ExchangeDraft: d, Line: lines[i]}
		}
		return items, nil
	}
	var doc *shared.Document
	var err error
	switch gjson.GetBytes(data, "version").Int() {
	case 1:
		doc, _, err = shared.MigrateV1(data)
	case 2:
		doc, err = shared.DecodeDocument(data)
	default:
		// Perhaps an export that is not well-formed; its reader says where.
		_, _, err = shared.DecodeExchange(data)
	}
	if err != nil {
		return nil, err
	}
	items := make([]Item, len(doc.Drafts))
	for i := range doc.Drafts {
		items[i] = Item{ExchangeDraft: ofRecord(&doc.Drafts[i]), Line: 1}
	}
	return items, nil
}

func ofRecord(d *shared.DraftRecord) shared.ExchangeDraft {
	return shared.ExchangeDraft{
		ID: d.ID, WorkspaceID: d.WorkspaceID, WorkspacePath: d.WorkspacePath, Title: d.Title, Pinned: d.Pinned, CreatedAt: d.CreatedAt,
		UpdatedAt: d.UpdatedAt, AgentPresetID: d.AgentPresetID, Text: d.Text, Content: d.Content, Settings: d.Settings, Conflicts: d.Conflicts,
	}
}

var position = regexp.MustCompile(`drafts\[(\d+)\]: `)

// Placed gives an error of an import, which names a position among items, the
// file and line of that item.
func Placed(err error, items []Item) error {
	message := shared.MessageOf(err)
	at := position.FindStringSubmatchIndex(message)
	if at == nil {
		return err
	}
	i, convErr := strconv.Atoi(message[at[2]:at[3]])
	if convErr != nil || i >= len(items) {
		return err
	}
	return shared.Errorf(shared.CodeOf(err), "%s: line %d: %s", items[i].File, items[i].Line, message[at[1]:])
}
