// Package sidebar makes what a page or terminal shows of the drafts: rows in
// display order with their titles. It is a pure function of a document; what it
// shows of saving comes from package composer. Call [Rows].
package sidebar

import (
	"cmp"
	"slices"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
	pb "github.com/draft-sessions/dsh-draft-sessions/shared/proto/draftsessionsv1"
)

// SaveState is how far the edits of one draft are.
type SaveState struct {
	// State is "saved", "saving" or "not_saved".
	State string
	// Code and Message say why it is not saved.
	Code    shared.Code
	Message string
}

// Rows gives the drafts of doc in display order: by workspace, pinned ones
// first, then by manual order. saves holds the drafts that are not plainly saved.
// Equal titles in one workspace are told apart by numbers, see [titles].
func Rows(doc *shared.Document, saves map[string]SaveState) []*pb.Row {
	drafts := slices.Clone(doc.Drafts)
	slices.SortStableFunc(drafts, Compare)
	rows := make([]*pb.Row, 0, len(drafts))
	shown := titles(drafts)
	for _, d := range drafts {
		row := &pb.Row{
			DraftId:       d.ID,
			WorkspaceId:   d.WorkspaceID,
			WorkspacePath: d.WorkspacePath,
			Title:         shown[d.ID],
			Pinned:        d.Pinned,
			Order:         d.Order,
			State:         string(d.State),
			LastError:     d.LastError,
			Revision:      d.Revision,
			TextRevision:  d.TextRevision,
			Conflicts:     int32(len(d.Conflicts)), // #nosec G115 -- at most the limit of copies
			UpdatedAt:     d.UpdatedAt,
			SaveState:     "saved",
		}
		if d.SessionID != nil {
			row.SessionId = *d.SessionID
		}
		if s, ok := saves[d.ID]; ok {
			row.SaveState, row.SaveCode, row.SaveMessage = s.State, string(s.Code), s.Message
		}
		rows = append(rows, row)
	}
	return rows
}

// Ordered are the drafts of doc in display order; they are those of doc itself.
func Ordered(doc *shared.Document) []*shared.DraftRecord {
	list := make([]*shared.DraftRecord, len(doc.Drafts))
	for i := range doc.Drafts {
		list[i] = &doc.Drafts[i]
	}
	slices.SortStableFunc(list, func(a, b *shared.DraftRecord) int { return Compare(*a, *b) })
	return list
}

// Compare orders drafts as they are shown.
func Compare(a, b shared.DraftRecord) int {
	if c := cmp.Compare(a.WorkspaceID, b.WorkspaceID); c != 0 {
		return c
	}
	if a.Pinned != b.Pinned {
		if a.Pinned {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(a.Order, b.Order), cmp.Compare(b.CreatedAt, a.CreatedAt), cmp.Compare(a.ID, b.ID))
}

// SessionIDs are all session ids that belong to drafts, reserved ones included:
// those that a host's own New Session must not open (invariant 4).
func SessionIDs(doc *shared.Document) []string {
	var ids []string
	for _, d := range doc.Drafts {
		if d.SessionID != nil {
			ids = append(ids, *d.SessionID)
		}
		if d.ReservedSessionID != "" {
			ids = append(ids, d.ReservedSessionID)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
