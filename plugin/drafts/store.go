package drafts

import (
	"context"
	"errors"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/draft-sessions/dsh-draft-sessions/jsonstore"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// ErrNoChange is returned by the function given to [Store.Modify] when the
// record is right as it is.
var ErrNoChange error = jsonstore.ErrNoChange

// Options say where the drafts lie and how many there may be.
type Options struct {
	// Path is the draft file; required.
	Path string
	// LimitPerWorkspace bounds the drafts of one workspace that a user can make;
	// 0 is [shared.DefaultDraftsPerWorkspace]. Text that would be lost otherwise
	// (a late edit, a conflict copy of a sent draft) may go beyond it.
	LimitPerWorkspace int
	// Poll is how often the file is looked at beside watching its folder, see
	// [jsonstore.Options]; below 0 for a command that ends at once.
	Poll time.Duration
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// Log gets what happened, never any text of a draft; nil logs nothing.
	Log hclog.Logger
	// FS is the file system, so that a test can make it fail; nil is the machine's.
	FS jsonstore.FS

	lockWait time.Duration // see jsonstore.Options; a test has more of it
}

// State is how the draft file is.
type State struct {
	// Path is the file, links resolved.
	Path string
	// Generation counts the commits of the file.
	Generation int64
	// Code is "" when healthy, else DRAFT_STORAGE_INVALID, _UNSUPPORTED or _IO:
	// then the last good snapshot is served and changes are refused with it.
	Code shared.Code
	// Message says more to a person, also what a migration changed.
	Message string
	// MigratedFrom is where the version-1 file is kept that was taken over, "" if none was.
	MigratedFrom string
}

// Store is an open draft file. All methods may be called from any goroutine.
type Store struct {
	file  *jsonstore.Store[*shared.Document]
	limit int
	now   func() time.Time
}

// Open opens the draft file; end with [Store.Close]. It also succeeds when the
// file is missing (no drafts yet), malformed or of a later version: then
// [Store.State] says so and every change is refused with that code. It fails with
// DRAFT_INVALID_INPUT for a limit below [shared.MinDraftsPerWorkspace], and with
// DRAFT_STORAGE_IO when the folder cannot be created. ctx bounds Open only.
func Open(ctx context.Context, o Options) (*Store, error) {
	if o.FS == nil {
		o.FS = jsonstore.OS{}
	}
	return openOn(ctx, o, o.FS)
}

func openOn(ctx context.Context, o Options, fsys jsonstore.FS) (*Store, error) {
	if o.LimitPerWorkspace == 0 {
		o.LimitPerWorkspace = shared.DefaultDraftsPerWorkspace
	}
	if o.LimitPerWorkspace < shared.MinDraftsPerWorkspace {
		return nil, shared.Errorf(shared.DraftInvalidInput, "a limit of %d drafts a workspace is below %d", o.LimitPerWorkspace, shared.MinDraftsPerWorkspace)
	}
	if o.Path == "" {
		return nil, shared.Errorf(shared.DraftInvalidInput, "no path of a draft file")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	options := fileOptions(o.Path)
	options.FS, options.Log, options.Poll, options.LockWait = fsys, o.Log, o.Poll, o.lockWait
	file, err := jsonstore.Open(ctx, format, options)
	if err != nil {
		return nil, err
	}
	return &Store{file: file, limit: o.LimitPerWorkspace, now: o.Now}, nil
}

// format is the draft file as package jsonstore needs to know it.
var format = jsonstore.Format[*shared.Document]{
	Version: shared.RecordVersion,
	Empty:   shared.EmptyDocument,
	Decode: func(lines [][]byte, last jsonstore.Encoded[*shared.Document]) (jsonstore.Encoded[*shared.Document], error) {
		doc, kept, err := shared.DecodeLines(lines, last.Doc, last.Lines)
		return jsonstore.Encoded[*shared.Document]{Doc: doc, Lines: kept}, err
	},
	Encode: func(doc *shared.Document, last jsonstore.Encoded[*shared.Document]) ([][]byte, error) {
		return shared.EncodeLines(doc, last.Doc, last.Lines)
	},
	Generation: func(doc *shared.Document) int64 { return doc.Generation },
	WithGeneration: func(doc *shared.Document, generation int64) *shared.Document {
		next := *doc
		next.Generation = generation
		return &next
	},
	Migrations: map[int64]jsonstore.Migration{1: migrateV1},
	Salvage:    shared.SalvageDocument,
	Records:    func(doc *shared.Document) int { return len(doc.Drafts) },
}

func migrateV1(old []byte) ([]byte, string, error) {
	doc, report, err := shared.MigrateV1(old)
	if err != nil {
		return nil, "", err
	}
	next, err := shared.EncodeDocument(doc)
	return next, report.String(), err
}

// Close waits for the change under way and ends the store.
func (s *Store) Close() error { return s.file.Close() }

// State is how the file is, as of the last time it was looked at.
func (s *Store) State() State { return stateOf(s.file.State()) }

func stateOf(state jsonstore.State) State {
	message := state.Message
	if message == "" {
		message = state.Note
	}
	return State{Path: state.Path, Generation: state.Generation, Code: state.Code, Message: message, MigratedFrom: state.Backup}
}

// Refresh looks at the file now instead of at the next poll. It returns why the
// snapshot is not what the file holds, nil if it is.
func (s *Store) Refresh(ctx context.Context) error { return s.file.Refresh(ctx) }

// Snapshot is the newest document known, never nil. It must not be changed.
func (s *Store) Snapshot() *shared.Document { return s.file.Snapshot() }

// Get is one draft of the snapshot; DRAFT_NOT_FOUND.
func (s *Store) Get(id string) (shared.DraftRecord, error) {
	doc := s.Snapshot()
	if i := indexOf(doc.Drafts, id); i >= 0 {
		return doc.Drafts[i], nil
	}
	return shared.DraftRecord{}, notFound()
}

// Subscribe has fn called after each commit of this or another process, and
// when the state changes (then before and after are the same document), in
// commit order, from one goroutine, when the change is durable and before the
// call that made it returns. fn must be quick and must not wait for the store.
func (s *Store) Subscribe(fn func(before, after *shared.Document)) (cancel func()) {
	return s.file.Subscribe(func(c jsonstore.Change[*shared.Document]) { fn(c.Before, c.After) })
}

// update runs one all-or-nothing change of the document.
func (s *Store) update(ctx context.Context, change func(*tx) error) error {
	_, err := s.file.Update(ctx, func(doc *shared.Document) (*shared.Document, error) {
		t := newTx(doc, s.now().UnixMilli(), s.limit)
		if err := change(t); err != nil {
			return nil, err
		}
		return t.result()
	})
	return err
}

// updateRecord is update for a change whose result is one record. The record is
// returned when it is in the file, with DRAFT_STORAGE_UNCERTAIN too.
func (s *Store) updateRecord(ctx context.Context, change func(*tx) (shared.DraftRecord, error)) (shared.DraftRecord, error) {
	var record shared.DraftRecord
	err := s.update(ctx, func(t *tx) (err error) {
		record, err = change(t)
		return err
	})
	if err != nil && shared.CodeOf(err) != shared.StorageUncertain {
		return shared.DraftRecord{}, err
	}
	return record, err
}

func notFound() error {
	return shared.Errorf(shared.DraftNotFound, "no such draft: it was sent or deleted, or never was")
}

func stale(found, expected int64) error {
	return shared.Errorf(shared.DraftStaleRevision, "the draft is at revision %d, not %d", found, expected)
}

// isNoChange tells a change's "nothing to do" from a failure.
func isNoChange(err error) bool { return errors.Is(err, ErrNoChange) }
