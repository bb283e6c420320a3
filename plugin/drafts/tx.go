package drafts

import (
	"slices"

	"github.com/google/uuid"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// tx is a private copy of the document under change. What it puts is checked as
// a whole by result, so a change is all or nothing.
type tx struct {
	before *shared.Document
	doc    *shared.Document
	now    int64
	limit  int
	editor string          // whose text the change brings, "" for nobody's
	put    map[string]bool // ids of records that the change made or altered
	// Where the records stand in before and in doc.
	were, are places
}

// places finds records by id. A change that asks for few is not worth an index;
// one that moves a whole workspace could not do without.
type places struct {
	asked int
	index map[string]int
}

// fewAsked is how often looking through all records is the cheaper way.
const fewAsked = 16

func (p *places) of(records []shared.DraftRecord, id string) int {
	if p.index == nil {
		if p.asked++; p.asked <= fewAsked {
			return indexOf(records, id)
		}
		p.index = make(map[string]int, len(records))
		for i := range records {
			p.index[records[i].ID] = i
		}
	}
	if i, ok := p.index[id]; ok {
		return i
	}
	return -1
}

// was and is are where a draft stands before and after the change, -1 if nowhere.
func (t *tx) was(id string) int { return t.were.of(t.before.Drafts, id) }
func (t *tx) is(id string) int  { return t.are.of(t.doc.Drafts, id) }

func newTx(doc *shared.Document, now int64, limit int) *tx {
	next := *doc
	next.Drafts = slices.Clone(doc.Drafts)
	next.Trash = slices.Clone(doc.Trash)
	next.Receipts = slices.Clone(doc.Receipts)
	return &tx{before: doc, doc: &next, now: now, limit: limit, put: map[string]bool{}}
}

// result is the changed document, if every record put is well-formed, within the
// limits, and has its sessions for itself (invariant 4).
func (t *tx) result() (*shared.Document, error) {
	if err := t.sessionsApart(); err != nil {
		return nil, err
	}
	for id := range t.put {
		i := t.is(id)
		if i < 0 {
			continue // Put and removed again.
		}
		after := &t.doc.Drafts[i]
		if err := shared.ValidateRecord(after); err != nil {
			return nil, err
		}
		var before *shared.DraftRecord
		if j := t.was(id); j >= 0 {
			before = &t.before.Drafts[j]
		}
		if err := shared.ValidateRecordLimits(before, after); err != nil {
			return nil, err
		}
	}
	return t.doc, nil
}

// sessionsApart refuses a record put whose session another draft has. Drafts
// that were not put have been held against each other before.
func (t *tx) sessionsApart() error {
	owner := map[string]string{}
	for id := range t.put {
		if i := t.is(id); i >= 0 {
			for _, session := range shared.SessionsOf(&t.doc.Drafts[i]) {
				if other, taken := owner[session]; taken && other != id {
					return sessionTaken()
				}
				owner[session] = id
			}
		}
	}
	if len(owner) == 0 {
		return nil
	}
	for i := range t.doc.Drafts {
		for _, session := range shared.SessionsOf(&t.doc.Drafts[i]) {
			if other, taken := owner[session]; taken && other != t.doc.Drafts[i].ID {
				return sessionTaken()
			}
		}
	}
	return nil
}

func sessionTaken() error {
	return shared.Errorf(shared.OperationConflict, "the session belongs to another draft")
}

// get is one draft of the document under change.
func (t *tx) get(id string) (shared.DraftRecord, error) {
	if i := t.is(id); i >= 0 {
		return t.doc.Drafts[i], nil
	}
	return shared.DraftRecord{}, notFound()
}

// getAt is get for a strict update: DRAFT_STALE_REVISION unless the draft is at
// that revision.
func (t *tx) getAt(id string, revision int64) (shared.DraftRecord, error) {
	record, err := t.get(id)
	if err == nil && record.Revision != revision {
		return shared.DraftRecord{}, stale(record.Revision, revision)
	}
	return record, err
}

// change puts a new revision of a record that exists.
func (t *tx) change(record shared.DraftRecord) shared.DraftRecord {
	record.Revision = t.nextRevision(record)
	record.UpdatedAt = t.now
	t.store(record)
	return record
}

// nextRevision is one more than before the change, however often the change
// touches the record; a record that is new in it has its revision already.
func (t *tx) nextRevision(record shared.DraftRecord) int64 {
	if i := t.was(record.ID); i >= 0 {
		return t.before.Drafts[i].Revision + 1
	}
	return record.Revision
}

// store puts a record as it is.
func (t *tx) store(record shared.DraftRecord) {
	t.put[record.ID] = true
	if i := t.is(record.ID); i >= 0 {
		t.doc.Drafts[i] = record
		return
	}
	t.doc.Drafts = append(t.doc.Drafts, record)
	if t.are.index != nil {
		t.are.index[record.ID] = len(t.doc.Drafts) - 1
	}
}

// remove takes a draft out of the document, and out of what is shown after a restart.
func (t *tx) remove(id string) {
	t.doc.Drafts = slices.DeleteFunc(t.doc.Drafts, func(r shared.DraftRecord) bool { return r.ID == id })
	t.are.index = nil // All that stood behind it have moved.
	if target := t.doc.RestoreTarget; target != nil && target.DraftID == id {
		t.doc.RestoreTarget = nil
	}
}

// fresh is a new unbound draft; the caller places it.
func (t *tx) fresh(workspaceID, workspacePath, text string, content *shared.Content) (shared.DraftRecord, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return shared.DraftRecord{}, shared.Errorf(shared.StorageIO, "make a draft id: %w", err)
	}
	return shared.DraftRecord{
		Version: shared.RecordVersion, ID: id.String(), WorkspaceID: workspaceID, WorkspacePath: workspacePath,
		Text: text, Content: normalContent(content), CreatedAt: t.now, UpdatedAt: t.now,
		State: shared.StateDraft, Revision: 1, TextRevision: 1,
	}, nil
}

// roomFor refuses one more draft of a full workspace.
func (t *tx) roomFor(workspaceID string) error {
	count := 0
	for i := range t.doc.Drafts {
		if t.doc.Drafts[i].WorkspaceID == workspaceID {
			count++
		}
	}
	if count >= t.limit {
		return shared.Errorf(shared.DraftLimitReached, "the workspace has %d drafts, as many as it may; send or delete one first", count)
	}
	return nil
}

// ownerOf is the draft that a session belongs to, "" if none.
func (t *tx) ownerOf(session string) string {
	for i := range t.doc.Drafts {
		if slices.Contains(shared.SessionsOf(&t.doc.Drafts[i]), session) {
			return t.doc.Drafts[i].ID
		}
	}
	return ""
}

func indexOf(records []shared.DraftRecord, id string) int {
	return slices.IndexFunc(records, func(r shared.DraftRecord) bool { return r.ID == id })
}
