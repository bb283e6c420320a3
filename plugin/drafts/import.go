package drafts

import (
	"context"
	"slices"
	"strings"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// Imported is what became of one record of [Store.Import].
type Imported struct {
	Record shared.DraftRecord
	// Existed: it was here already, with the same text, and stays as it is.
	Existed bool
}

// Import makes unbound drafts of records that come from elsewhere, all or
// nothing, before the other drafts of their workspaces and in their own order.
// Ids ("" makes one), texts, titles, pins, times, presets, content, settings and
// conflict copies are taken over; sessions, revisions, order and sends are not.
// With asNew every record gets a new id. Errors name the record's position:
// DRAFT_INVALID_INPUT; DRAFT_LIMIT_REACHED; OPERATION_CONFLICT when its id is
// here with another text, or was sent or deleted with another one.
func (s *Store) Import(ctx context.Context, records []shared.DraftRecord, asNew bool) ([]Imported, error) {
	var imported []Imported
	err := s.update(ctx, func(t *tx) error {
		imported = make([]Imported, len(records))
		// The last one inserted stands first.
		for i, r := range slices.Backward(records) {
			var err error
			if imported[i], err = t.imports(r, asNew); err != nil {
				return shared.Errorf(shared.CodeOf(err), "drafts[%d]: %s", i, shared.MessageOf(err))
			}
		}
		for i := range imported { // Orders moved with what was inserted after.
			if r, err := t.get(imported[i].Record.ID); err == nil {
				imported[i].Record = r
			}
		}
		if !slices.ContainsFunc(imported, func(i Imported) bool { return !i.Existed }) {
			return ErrNoChange
		}
		return nil
	})
	if err != nil && shared.CodeOf(err) != shared.StorageUncertain {
		return nil, err
	}
	return imported, err
}

func (t *tx) imports(r shared.DraftRecord, asNew bool) (Imported, error) {
	record, err := t.fresh(r.WorkspaceID, r.WorkspacePath, r.Text, cloneContent(r.Content))
	if err != nil {
		return Imported{}, err
	}
	if r.ID != "" && !asNew {
		if here, err := t.get(r.ID); err == nil {
			if t.was(r.ID) < 0 {
				return Imported{}, shared.Errorf(shared.DraftInvalidInput, "its id is there twice")
			}
			if here.Text != r.Text {
				return Imported{}, shared.Errorf(shared.OperationConflict, "a draft of that id is here already, with another text")
			}
			return Imported{Record: here, Existed: true}, nil
		}
		if receipt, trashed, gone := t.fate(r.ID); gone {
			same := trashed != nil && trashed.Record.Text == r.Text && receipt == nil
			if !same {
				return Imported{}, shared.Errorf(shared.OperationConflict, "a draft of that id was sent or deleted here")
			}
			t.dropTrash(r.ID)
		}
		record.ID = r.ID
	}
	if err := t.roomFor(r.WorkspaceID); err != nil {
		return Imported{}, err
	}
	record.Title, record.Pinned, record.AgentPresetID = r.Title, r.Pinned, r.AgentPresetID
	record.Settings, record.Conflicts = normalSettings(clonePointer(r.Settings)), slices.Clone(r.Conflicts)
	if r.CreatedAt > 0 {
		record.CreatedAt = r.CreatedAt
	}
	if r.UpdatedAt > 0 {
		record.UpdatedAt = max(r.UpdatedAt, record.CreatedAt)
	}
	if strings.TrimSpace(record.WorkspaceID) == "" {
		return Imported{}, shared.Errorf(shared.DraftInvalidInput, "it names no workspace")
	}
	if err := shared.ValidateRecord(&record); err != nil {
		return Imported{}, err
	}
	if err := shared.ValidateRecordLimits(nil, &record); err != nil {
		return Imported{}, err
	}
	return Imported{Record: t.insertFirst(record)}, nil
}
