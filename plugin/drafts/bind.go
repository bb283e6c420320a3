package drafts

import (
	"context"
	"slices"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// Rebind binds a draft that is at expectedRevision to a session, or unbinds it
// (nil). Its reservation and last error go; the text stays untouched. Errors:
// DRAFT_NOT_FOUND, DRAFT_STALE_REVISION, DRAFT_INVALID_INPUT for an empty id,
// OPERATION_CONFLICT when another draft has that session or this one is being
// sent to another session.
func (s *Store) Rebind(ctx context.Context, id string, expectedRevision int64, sessionID *string) (shared.DraftRecord, error) {
	return s.updateRecord(ctx, func(t *tx) (shared.DraftRecord, error) {
		record, err := t.getAt(id, expectedRevision)
		if err != nil {
			return record, err
		}
		next := cloneRecord(record)
		sending := next.Operation != nil
		if sending && (sessionID == nil || *sessionID != next.Operation.SessionID) {
			return record, shared.Errorf(shared.OperationConflict, "the draft is being sent")
		}
		if sessionID == nil {
			return t.amend(record, unbound(next))
		}
		next.SessionID, next.ReservedSessionID, next.LastError = clonePointer(sessionID), "", ""
		if !sending {
			next.State = shared.StateReady
		}
		return t.amend(record, next)
	})
}

// Convert ends a draft whose send is proven (invariant 2): the record goes and
// the receipt stays, in one commit. What was not sent is kept as new unbound
// drafts of the same workspace, which are returned: the record's text if it is
// not blank and not what r.TextHash says was sent, and likewise each conflict copy. They
// may go beyond the workspace's limit. Members of r that are empty are taken from
// the record. Repeating Convert of the same submission is a success;
// DRAFT_NOT_FOUND when the draft was never known.
func (s *Store) Convert(ctx context.Context, id string, r shared.Receipt) ([]shared.DraftRecord, error) {
	var kept []shared.DraftRecord
	err := s.update(ctx, func(t *tx) (err error) {
		kept, err = t.convert(id, r)
		return err
	})
	if err != nil && shared.CodeOf(err) != shared.StorageUncertain {
		return nil, err
	}
	return kept, err
}

func (t *tx) convert(id string, r shared.Receipt) ([]shared.DraftRecord, error) {
	record, err := t.get(id)
	if err != nil {
		return nil, t.convertGone(id, r)
	}
	t.remove(id)
	t.addReceipt(record, r)
	var kept []shared.DraftRecord
	keep := func(title, text string, content *shared.Content) error {
		if isBlank(text) || sentHash(text) == r.TextHash {
			return nil
		}
		next, err := t.sibling(record, text, content)
		if err == nil {
			next.Title = title
			kept = append(kept, next)
		}
		return err
	}
	if err := keep(record.Title, record.Text, record.Content); err != nil {
		return nil, err
	}
	for _, c := range record.Conflicts {
		if err := keep("", c.Text, c.Content); err != nil {
			return nil, err
		}
	}
	// The last one inserted stands first: the record's own text.
	for i, next := range slices.Backward(kept) {
		kept[i] = t.insertFirst(next)
	}
	for i := range kept {
		kept[i], _ = t.get(kept[i].ID) // Its order may have moved with the next one's.
	}
	return kept, nil
}

// convertGone records the proof of a draft that is not there any more: converted
// before, or deleted while it was being sent.
func (t *tx) convertGone(id string, r shared.Receipt) error {
	receipt, trashed, known := t.fate(id)
	switch {
	case !known:
		return notFound()
	case receipt != nil && receipt.SubmissionID == r.SubmissionID:
		return ErrNoChange
	case trashed != nil:
		t.addReceipt(trashed.Record, r)
		return nil
	}
	return notFound()
}

func (t *tx) addReceipt(record shared.DraftRecord, r shared.Receipt) {
	r.DraftID = record.ID
	if r.WorkspaceID == "" {
		r.WorkspaceID, r.WorkspacePath = record.WorkspaceID, record.WorkspacePath
	}
	if r.SessionID == "" && record.SessionID != nil {
		r.SessionID = *record.SessionID
	}
	if r.At == 0 {
		r.At = t.now
	}
	t.doc.Receipts = append(t.doc.Receipts, r)
	t.doc.Receipts = t.doc.Receipts[max(0, len(t.doc.Receipts)-shared.MaxReceipts):]
}
