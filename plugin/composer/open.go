package composer

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/draft-sessions/dsh-draft-sessions/plugin/drafts"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// Opening is what a page knows when it opens an editor.
type Opening struct {
	DraftID, EditorID string
	// HostText is what the host's composer holds now; nil when it is not known.
	HostText    *string
	HostContent *shared.Content
	// Base is what the page remembered beside it: the record that its text was
	// last equal to. Zero when it remembered nothing.
	BaseDraftID      string
	BaseTextRevision int64
	BaseHash         string
	BaseEditorID     string
}

// Opened tells what the composer holds from now on.
type Opened struct {
	Generation int64
	Record     shared.DraftRecord
	// KeepHost: the host's text stays; it is an edit of this editor, already accepted.
	// Otherwise the composer shows Record.Text.
	KeepHost bool
	// ConflictID is the conflict copy that took the host's text.
	ConflictID string
}

// Open opens an editor, or opens it again after a reload or a restart of the
// plugin; the earlier opening of the same page is void, its accepted edits are
// saved first. When both the record and the host's text moved on since the base,
// the record is shown and the host's text is on disk as a conflict copy
// (design.md, Reload). A blank host text is never taken for an edit: hosts empty
// their composers themselves. Codes: DRAFT_NOT_FOUND, those of a failed save,
// OPERATION_UNKNOWN when the process ends.
func (es *Editors) Open(ctx context.Context, o Opening) (Opened, error) {
	if o.EditorID == "" || len(o.EditorID) > shared.MaxEditorIDBytes {
		return Opened{}, shared.Errorf(shared.DraftInvalidInput, "an editor id has 1 to %d bytes", shared.MaxEditorIDBytes)
	}
	if o.HostText != nil {
		if err := checkText(*o.HostText); err != nil {
			return Opened{}, err
		}
	}
	if err := es.flush(ctx, func(ed *editor) bool { return ed.target == o.DraftID }); err != nil {
		return Opened{}, err
	}
	rec, err := es.opts.Store.Get(o.DraftID)
	if err != nil {
		return Opened{}, err
	}
	ed, err := es.register(o, rec)
	if err != nil {
		return Opened{}, err
	}
	opened := Opened{Generation: ed.generation, Record: rec}
	switch winner(o, rec) {
	case hostEdits:
		es.mu.Lock()
		ed.savedSeq = -1 // the page counts its own edits from 1
		es.accept(ed, edit{seq: 0, text: *o.HostText, content: o.HostContent})
		es.mu.Unlock()
		opened.KeepHost = true
	case bothMoved:
		// A base that no record can have makes the store keep the text as a copy.
		outcome, err := es.opts.Store.EditText(ctx, drafts.Edit{
			DraftID:          o.DraftID,
			EditorKey:        ed.conflictKey(),
			BaseTextRevision: -1,
			Text:             *o.HostText,
			Content:          o.HostContent,
		})
		if err != nil {
			return Opened{}, err
		}
		opened.Record, opened.ConflictID = outcome.Record, outcome.ConflictID
	case recordStands:
	}
	return opened, nil
}

func (es *Editors) register(o Opening, rec shared.DraftRecord) (*editor, error) {
	es.mu.Lock()
	defer es.mu.Unlock()
	if es.closed {
		return nil, shared.Errorf(shared.OperationUnknown, "the plugin is ending")
	}
	now := time.Now()
	for k, ed := range es.editors {
		if !ed.saving && !ed.pending() && now.Sub(ed.used) > idleEditor {
			delete(es.editors, k)
		}
	}
	es.generation++
	ed := &editor{
		key:        key{o.DraftID, o.EditorID},
		generation: es.generation,
		target:     o.DraftID,
		base:       rec.TextRevision,
		home:       rec,
		touched:    make(chan struct{}, 1),
		urgent:     make(chan struct{}, 1),
		settled:    make(chan struct{}),
		used:       now,
	}
	es.editors[ed.key] = ed
	return ed, nil
}

type decision int

const (
	recordStands decision = iota
	hostEdits
	bothMoved
)

func winner(o Opening, rec shared.DraftRecord) decision {
	if o.HostText == nil || strings.TrimSpace(*o.HostText) == "" || *o.HostText == rec.Text {
		return recordStands
	}
	if o.BaseDraftID != rec.ID || o.BaseTextRevision == 0 {
		// Nothing tells where the host's text comes from. Only an empty draft may take it.
		if strings.TrimSpace(rec.Text) == "" {
			return hostEdits
		}
		return bothMoved
	}
	if slices.ContainsFunc(rec.Conflicts, func(c shared.Conflict) bool { return c.Text == *o.HostText }) {
		// It has lost already, whatever the page believes to know of the record: two tabs
		// of a browser share what they remember.
		return bothMoved
	}
	recordHash := shared.TextHash(rec.Text)
	if o.BaseTextRevision > rec.TextRevision || o.BaseTextRevision == rec.TextRevision && o.BaseHash != recordHash {
		// The file was replaced by an older or another one: the base is not in it, and
		// the host's text, even as it was saved, is nowhere else.
		return bothMoved
	}
	hostMoved := shared.TextHash(*o.HostText) != o.BaseHash
	// A save of the page itself, of which it did not hear, is no change from elsewhere.
	own := rec.TextEditorID != "" && (rec.TextEditorID == o.EditorID || rec.TextEditorID == o.BaseEditorID)
	recordMoved := !own && rec.TextRevision != o.BaseTextRevision && recordHash != o.BaseHash
	switch {
	case !hostMoved:
		return recordStands
	case recordMoved:
		return bothMoved
	}
	return hostEdits
}
