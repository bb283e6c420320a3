package plugin

import (
	"github.com/go-json-experiment/json"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
	pb "github.com/draft-sessions/dsh-draft-sessions/shared/proto/draftsessionsv1"
)

func draftOf(d shared.DraftRecord) *pb.Draft { return draftWith(d, true) }

// draftWith is draftOf, with or without the hash of the text.
func draftWith(d shared.DraftRecord, hash bool) *pb.Draft {
	out := &pb.Draft{
		Id:            d.ID,
		SessionId:     value(d.SessionID),
		WorkspaceId:   d.WorkspaceID,
		WorkspacePath: d.WorkspacePath,
		Text:          d.Text,
		Title:         d.Title,
		CreatedAt:     d.CreatedAt,
		UpdatedAt:     d.UpdatedAt,
		Order:         d.Order,
		Pinned:        d.Pinned,
		AgentPresetId: d.AgentPresetID,
		State:         string(d.State),
		LastError:     d.LastError,
		Revision:      d.Revision,
		TextRevision:  d.TextRevision,
		ContentJson:   toJSON(d.Content),
		SettingsJson:  toJSON(d.Settings),
	}
	if hash {
		out.TextHash = shared.TextHash(d.Text)
	}
	for _, c := range d.Conflicts {
		out.Conflicts = append(out.Conflicts, &pb.Conflict{Id: c.ID, Text: c.Text, At: c.At, EditorId: c.EditorID, ContentJson: toJSON(c.Content)})
	}
	return out
}

// preview is d with the first characters of its text and nothing else that may be
// large; all of it for 0.
func preview(d shared.DraftRecord, characters int) *pb.Draft {
	if characters <= 0 {
		return draftOf(d)
	}
	d.Conflicts, d.Content, d.Settings = nil, nil, nil
	out := draftOf(d)
	for at := range d.Text {
		if characters--; characters < 0 {
			out.Text = d.Text[:at]
			break
		}
	}
	return out
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// toJSON is "" for nil.
func toJSON[T any](v *T) string {
	if v == nil {
		return ""
	}
	data, err := json.Marshal(v)
	if err != nil { // raw members were validated when they were decoded
		return ""
	}
	return string(data)
}

// fromJSON decodes strictly; nil for "". what names the member in the error.
func fromJSON[T any](data, what string) (*T, error) {
	if data == "" {
		return nil, nil
	}
	if len(data) > shared.MaxContentBytes {
		return nil, shared.Errorf(shared.DraftInvalidInput, "%s has %d bytes, more than the limit of %d", what, len(data), shared.MaxContentBytes)
	}
	v := new(T)
	if err := json.Unmarshal([]byte(data), v, json.RejectUnknownMembers(true)); err != nil {
		return nil, shared.Errorf(shared.DraftInvalidInput, "%s is not what it should be", what) // the cause may quote the text
	}
	return v, nil
}
