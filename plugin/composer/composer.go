// Package composer keeps the open editors of drafts: it accepts edits in order,
// waits for a pause in typing, saves them one after the other, and decides what
// a composer shows when it is opened again. Start with [New], then
// [Editors.Open], [Editors.Edit] and [Editors.Flush].
//
// An accepted edit is in memory only; it is on disk when Saved is called or
// Flush has returned nil.
package composer

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/hashicorp/go-hclog"

	"github.com/draft-sessions/dsh-draft-sessions/plugin/drafts"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// maxUnsaved is the longest that an edit waits for a pause in typing.
const maxUnsaved = 2 * time.Second

// idleEditor is how long an editor without pending edits is remembered. A page
// that comes back later opens a new one.
const idleEditor = 6 * time.Hour

// Store is what the editors need of the draft store.
type Store interface {
	Get(id string) (shared.DraftRecord, error)
	EditText(ctx context.Context, e drafts.Edit) (drafts.EditOutcome, error)
}

// Saved tells what became of the newest edit of an editor.
type Saved struct {
	DraftID, EditorID string
	Generation, Seq   int64
	Record            shared.DraftRecord
	// ConflictID is the conflict copy that took the text, since the record had moved on.
	ConflictID string
	// NewDraftID is the draft that took the text, since its own had been sent or deleted.
	NewDraftID string
	// FirstOfNew: this save made the new draft.
	FirstOfNew bool
	// Lost: the new draft is there because the file was replaced by one without its own.
	Lost bool
}

// NotSaved tells why the newest edit of an editor is not on disk.
type NotSaved struct {
	DraftID, EditorID string
	Generation, Seq   int64
	Err               error
	// Retrying is false when only a new edit or Flush tries again.
	Retrying bool
}

// Options configure [New]. The callbacks come from the editors' own goroutines
// and must not call back into the editors.
type Options struct {
	Store    Store
	Log      hclog.Logger
	Saved    func(Saved)
	NotSaved func(NotSaved)
	// Changed is called when a draft's save state may have changed.
	Changed func()
	// Debounce is the pause in typing that triggers a save; [shared.SaveDebounce] when zero.
	Debounce time.Duration
}

// Editors are all open editors of one plugin process. Its methods are safe for
// concurrent use; mu guards the maps and every editor's fields.
type Editors struct {
	opts Options
	// Epoch is new for every process: an edit that names another one is not ours.
	Epoch string

	mu         sync.Mutex
	generation int64
	editors    map[key]*editor
	arrived    chan struct{} // closed and replaced whenever an edit is accepted
	closed     bool
	stop       context.CancelFunc
	life       context.Context
	savers     sync.WaitGroup
}

type key struct{ draftID, editorID string }

// editor is one composer of one page load on one draft.
type editor struct {
	key
	generation int64
	// target is the draft that edits go to: another one once the draft was sent or deleted.
	target string
	// base is the text revision that the next edit was made on.
	base int64
	// baseless: the file was replaced, and there is no such revision in it.
	baseless bool
	// home is the draft as it was when the editor was opened.
	home shared.DraftRecord

	accepted edit // newest accepted
	edited   bool // accepted holds an edit
	savedSeq int64
	// savedText is the text of savedSeq.
	savedText string
	saving    bool          // a saver goroutine runs
	touched   chan struct{} // capacity 1: an edit was accepted
	urgent    chan struct{} // capacity 1: save now
	settled   chan struct{} // closed when a save attempt has ended with nothing pending or an error
	failed    error         // of the last attempt, nil once saved
	writing   *edit         // what the saver hands to the store right now
	used      time.Time
}

type edit struct {
	seq     int64
	text    string
	content *shared.Content
	// since is when the first edit not yet saved was accepted.
	since time.Time
}

// New makes the editors of a process with the given epoch.
func New(epoch string, opts Options) *Editors {
	if opts.Debounce == 0 {
		opts.Debounce = shared.SaveDebounce
	}
	life, stop := context.WithCancel(context.Background())
	return &Editors{
		opts:  opts,
		Epoch: epoch,
		// Generations of an earlier process must not come back: conflict copies name them.
		generation: time.Now().UnixMilli(),
		editors:    map[key]*editor{},
		arrived:    make(chan struct{}),
		life:       life,
		stop:       stop,
	}
}

// Edit accepts the newest text of an editor. It answers with the newest accepted
// sequence number; an older seq changes nothing. Codes: OPERATION_UNKNOWN (open
// the editor again), DRAFT_INVALID_INPUT (over 1 MiB).
func (es *Editors) Edit(e Input) (acceptedSeq int64, err error) {
	if err := checkText(e.Text); err != nil {
		return 0, err
	}
	es.mu.Lock()
	defer es.mu.Unlock()
	ed := es.editors[key{e.DraftID, e.EditorID}]
	if es.closed || ed == nil || e.Epoch != es.Epoch || e.Generation != ed.generation {
		return 0, shared.Errorf(shared.OperationUnknown, "this editor is not open here; open it again")
	}
	if e.Seq <= ed.accepted.seq {
		return ed.accepted.seq, nil
	}
	// The page took over a newer record; an older number only means that it has not heard of our last save.
	// Of another draft that its words go to by now it knows no number at all.
	if ed.target == ed.draftID && !ed.baseless {
		ed.base = max(ed.base, e.BaseTextRevision)
	}
	es.accept(ed, edit{seq: e.Seq, text: e.Text, content: e.Content})
	return e.Seq, nil
}

// Input is one edit as a page sends it.
type Input struct {
	DraftID, EditorID, Epoch          string
	Generation, Seq, BaseTextRevision int64
	Text                              string
	Content                           *shared.Content
}

func checkText(text string) error {
	if len(text) > shared.MaxTextBytes {
		return shared.Errorf(shared.DraftInvalidInput, "the text has %d bytes, more than the limit of %d", len(text), shared.MaxTextBytes)
	}
	return nil
}

// accept makes e the newest edit and has it saved. mu is held.
func (es *Editors) accept(ed *editor, e edit) {
	now := time.Now()
	ed.used = now
	e.since = now
	if ed.pending() {
		e.since = ed.accepted.since
	}
	ed.accepted, ed.edited = e, true
	close(es.arrived)
	es.arrived = make(chan struct{})
	signal(ed.touched)
	if !ed.saving {
		ed.saving = true
		ed.settled = make(chan struct{})
		es.savers.Go(func() { es.save(ed) })
	}
	es.notifyChanged()
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func (ed *editor) pending() bool { return ed.accepted.seq > ed.savedSeq }

func (es *Editors) notifyChanged() {
	if es.opts.Changed != nil {
		es.opts.Changed()
	}
}

// save saves until nothing is pending; it is the editor's only saver, so saves
// are serialized and an edit that arrives meanwhile is saved on the result.
func (es *Editors) save(ed *editor) {
	retry := &backoff.ExponentialBackOff{InitialInterval: 500 * time.Millisecond, Multiplier: 2, MaxInterval: 30 * time.Second, RandomizationFactor: 0.2}
	retry.Reset()
	for {
		es.waitForPause(ed)
		es.mu.Lock()
		e, target, base := ed.accepted, ed.target, ed.base
		ed.writing = &e
		es.mu.Unlock()

		// The save itself is not cut off by Close: its outcome must be known.
		outcome, err := es.opts.Store.EditText(context.WithoutCancel(es.life), drafts.Edit{
			DraftID:          target,
			EditorID:         ed.editorID,
			EditorKey:        ed.conflictKey(),
			BaseTextRevision: base,
			Text:             e.text,
			Content:          e.content,
			Home:             &ed.home,
		})
		es.mu.Lock()
		ed.writing = nil
		es.mu.Unlock()
		if err != nil {
			if shared.CodeOf(err) == shared.StorageUncertain {
				es.rebase(ed, outcome) // it is in place: what is typed now is made on it
			}
			if !es.retryLater(ed, e, err, retry.NextBackOff()) {
				return
			}
			continue
		}
		retry.Reset()
		if es.finish(ed, e, outcome) {
			return
		}
	}
}

// waitForPause returns when the editor has been quiet for the debounce, has
// waited long enough, is flushed, or the process ends.
func (es *Editors) waitForPause(ed *editor) {
	es.mu.Lock()
	cap := time.NewTimer(time.Until(ed.accepted.since.Add(maxUnsaved)))
	es.mu.Unlock()
	defer cap.Stop()
	pause := time.NewTimer(es.opts.Debounce)
	defer pause.Stop()
	for {
		select {
		case <-ed.touched:
			pause.Reset(es.opts.Debounce)
		case <-pause.C:
			return
		case <-cap.C:
			return
		case <-ed.urgent:
			return
		case <-es.life.Done():
			return
		}
	}
}

// retryLater records a failed save. It returns false when the saver shall end:
// the cause is not one that passes by itself, or the process ends.
func (es *Editors) retryLater(ed *editor, e edit, err error, wait time.Duration) bool {
	retrying := passing(err)
	es.mu.Lock()
	ed.failed = err
	close(ed.settled) // whoever flushes learns why
	ed.settled = make(chan struct{})
	stale := ed.accepted.seq != e.seq
	if !retrying && !stale {
		ed.saving = false
	}
	es.mu.Unlock()
	es.notifyChanged()
	if es.opts.NotSaved != nil {
		es.opts.NotSaved(NotSaved{DraftID: ed.draftID, EditorID: ed.editorID, Generation: ed.generation, Seq: e.seq, Err: err, Retrying: retrying})
	}
	if !retrying {
		return stale
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ed.urgent:
	case <-es.life.Done():
		es.mu.Lock()
		ed.saving = false
		es.mu.Unlock()
		return false
	}
	return true
}

// passing tells whether a failed save may succeed later without the user's doing.
func passing(err error) bool {
	switch shared.CodeOf(err) {
	case shared.DraftInvalidInput, shared.DraftLimitReached, shared.DraftNotFound:
		return false
	}
	return true
}

// finish records a save that is on disk; true when nothing newer is pending.
func (es *Editors) finish(ed *editor, e edit, outcome drafts.EditOutcome) bool {
	saved := Saved{DraftID: ed.draftID, EditorID: ed.editorID, Generation: ed.generation, Seq: e.seq, Record: outcome.Record, ConflictID: outcome.ConflictID}
	// Another page's is told by that page.
	saved.FirstOfNew, saved.Lost = outcome.NewDraft && (outcome.Changed || !outcome.Lost), outcome.Lost
	es.rebase(ed, outcome)
	es.mu.Lock()
	ed.failed = nil
	ed.savedSeq, ed.savedText = e.seq, e.text
	if ed.target != ed.draftID {
		saved.NewDraftID = ed.target
	}
	done := !ed.pending()
	if done {
		ed.saving = false
		close(ed.settled)
		if ed.used.IsZero() && es.editors[ed.key] == ed { // closed meanwhile
			delete(es.editors, ed.key)
		}
	}
	es.mu.Unlock()
	if es.opts.Saved != nil {
		es.opts.Saved(saved)
	}
	es.notifyChanged()
	return done
}

// rebase makes what an edit has become the base of the next one.
func (es *Editors) rebase(ed *editor, outcome drafts.EditOutcome) {
	es.mu.Lock()
	defer es.mu.Unlock()
	switch {
	case outcome.NewDraft:
		ed.target = outcome.Record.ID
		ed.base = outcome.Record.TextRevision
	case outcome.ConflictID == "" && !outcome.Dropped:
		ed.base, ed.baseless = outcome.Record.TextRevision, false
	}
}

// conflictKey names the editor on a conflict copy: one copy for each opening.
func (ed *editor) conflictKey() string { return fmt.Sprintf("%s.%d", ed.editorID, ed.generation) }
