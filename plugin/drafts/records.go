package drafts

import (
	"context"
	"reflect"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// CreateParams is a new draft.
type CreateParams struct {
	// ID makes a repeated Create safe; "" makes a UUIDv7.
	ID string
	// WorkspaceID is required; WorkspacePath finds the workspace again when a host gives it a new id.
	WorkspaceID, WorkspacePath string
	Text, Title, AgentPresetID string
	// ReservedSessionID is the session that a host will be asked to create (invariant 13).
	ReservedSessionID string
	Content           *shared.Content
	Settings          *shared.Settings
}

// Create makes a draft, first of its workspace's unpinned ones. Its state is
// materializing with a reserved session id, else draft. When p.ID exists already
// that record is returned unchanged. Errors: DRAFT_LIMIT_REACHED;
// OPERATION_CONFLICT when the session belongs to another draft;
// DRAFT_INVALID_INPUT, also for an id that was sent or lies in the trash.
func (s *Store) Create(ctx context.Context, p CreateParams) (shared.DraftRecord, error) {
	return s.updateRecord(ctx, func(t *tx) (shared.DraftRecord, error) {
		if p.ID != "" {
			if known, err := t.get(p.ID); err == nil {
				return known, ErrNoChange
			}
			if _, _, spent := t.fate(p.ID); spent {
				return shared.DraftRecord{}, shared.Errorf(shared.DraftInvalidInput, "a draft of that id was sent or deleted already")
			}
		}
		if err := t.roomFor(p.WorkspaceID); err != nil {
			return shared.DraftRecord{}, err
		}
		record, err := t.fresh(p.WorkspaceID, p.WorkspacePath, p.Text, p.Content)
		if err != nil {
			return record, err
		}
		if p.ID != "" {
			record.ID = p.ID
		}
		record.Title, record.AgentPresetID, record.Settings = p.Title, p.AgentPresetID, normalSettings(p.Settings)
		if p.ReservedSessionID != "" {
			record.ReservedSessionID, record.State = p.ReservedSessionID, shared.StateMaterializing
		}
		return t.insertFirst(cloneRecord(record)), nil
	})
}

// Patch is what a strict update changes; nil members stay. An empty Title or
// AgentPresetID removes it, a pointer to nil removes Content or Settings. With a
// new Text and no Content, occurrences that no longer fit the text are dropped.
type Patch struct {
	Text, Title, AgentPresetID *string
	Pinned                     *bool
	Content                    **shared.Content
	Settings                   **shared.Settings
}

// Update changes a draft that is at expectedRevision, all or nothing;
// DRAFT_STALE_REVISION, DRAFT_NOT_FOUND or DRAFT_INVALID_INPUT otherwise
// (invariant 6). A draft that is pinned or unpinned goes first in its new group.
func (s *Store) Update(ctx context.Context, id string, expectedRevision int64, p Patch) (shared.DraftRecord, error) {
	return s.updateRecord(ctx, func(t *tx) (shared.DraftRecord, error) {
		old, err := t.getAt(id, expectedRevision)
		if err != nil {
			return old, err
		}
		return t.amend(old, p.apply(cloneRecord(old)))
	})
}

func (p Patch) apply(r shared.DraftRecord) shared.DraftRecord {
	if p.Text != nil && *p.Text != r.Text {
		r.Text = *p.Text
		r.Content = fitContent(r.Text, r.Content)
	}
	if p.Content != nil {
		r.Content = cloneContent(*p.Content)
	}
	if p.Title != nil {
		r.Title = *p.Title
	}
	if p.AgentPresetID != nil {
		r.AgentPresetID = *p.AgentPresetID
	}
	if p.Pinned != nil {
		r.Pinned = *p.Pinned
	}
	if p.Settings != nil {
		r.Settings = clonePointer(*p.Settings)
	}
	return r
}

// Modify changes the newest record of a draft, whatever its revision. fn gets a
// copy; it may not change version, id, creation time or revisions, which follow
// from what it did: revision + 1, textRevision + 1 only when text or content
// changed. A draft that gets another workspace or pin goes first there. When fn
// changes nothing or returns [ErrNoChange], nothing is written and the record is
// returned; any other error of fn is returned as it is. fn must not wait for the
// store. Errors: DRAFT_NOT_FOUND, DRAFT_INVALID_INPUT, OPERATION_CONFLICT when a
// session belongs to another draft.
func (s *Store) Modify(ctx context.Context, id string, fn func(*shared.DraftRecord) error) (shared.DraftRecord, error) {
	return s.updateRecord(ctx, func(t *tx) (shared.DraftRecord, error) {
		old, err := t.get(id)
		if err != nil {
			return old, err
		}
		next := cloneRecord(old)
		if err := fn(&next); isNoChange(err) {
			return old, ErrNoChange
		} else if err != nil {
			return old, err
		}
		return t.amend(old, cloneRecord(next))
	})
}

// amend puts next in the place of old, if they differ.
func (t *tx) amend(old, next shared.DraftRecord) (shared.DraftRecord, error) {
	next.Version, next.ID, next.CreatedAt, next.UpdatedAt = old.Version, old.ID, old.CreatedAt, old.UpdatedAt
	next.Revision, next.TextRevision = old.Revision, old.TextRevision
	next.Content, next.Settings = normalContent(next.Content), normalSettings(next.Settings)
	if len(next.Conflicts) == 0 {
		next.Conflicts = nil
	}
	sameContent := samePart(old.Content, next.Content)
	if sameContent {
		next.Content = old.Content
	}
	if samePart(old.Settings, next.Settings) {
		next.Settings = old.Settings
	}
	next.TextEditorID = old.TextEditorID
	if reflect.DeepEqual(old, next) {
		return old, ErrNoChange
	}
	if next.Text != old.Text || !sameContent {
		next.TextRevision++
		next.TextEditorID = t.editor
	}
	next = t.change(next)
	if next.WorkspaceID != old.WorkspaceID || next.Pinned != old.Pinned {
		next = t.insertFirst(next)
	}
	return next, nil
}

// Duplicate makes a copy right after the original: text, content, settings,
// title, agent preset and pin, but no session, no conflict copies and no
// operation. Errors: DRAFT_NOT_FOUND, DRAFT_LIMIT_REACHED.
func (s *Store) Duplicate(ctx context.Context, id string) (shared.DraftRecord, error) {
	return s.updateRecord(ctx, func(t *tx) (shared.DraftRecord, error) {
		original, err := t.get(id)
		if err != nil {
			return original, err
		}
		if err := t.roomFor(original.WorkspaceID); err != nil {
			return original, err
		}
		duplicate, err := t.sibling(original, original.Text, original.Content)
		if err != nil {
			return duplicate, err
		}
		duplicate.Title, duplicate.Pinned = original.Title, original.Pinned
		return t.insertAfter(duplicate, id), nil
	})
}

// sibling is a new unbound draft of the same workspace and settings; the caller places it.
func (t *tx) sibling(of shared.DraftRecord, text string, content *shared.Content) (shared.DraftRecord, error) {
	record, err := t.fresh(of.WorkspaceID, of.WorkspacePath, text, cloneContent(content))
	record.AgentPresetID, record.Settings = of.AgentPresetID, clonePointer(of.Settings)
	return record, err
}
