package jsonstore

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// Defaults of [Options].
const (
	DefaultLockWait = 5 * time.Second
	DefaultPoll     = 2 * time.Second
	DefaultMaxBytes = 256 << 20
)

// Options say where a document lies and how long to wait.
type Options struct {
	// Path of the file; required. Symbolic links are followed once, at Open, also
	// to a file that is not there yet, but not into a folder that is not.
	Path string
	// PrivateFolder gives an existing folder of the file mode 0700 too. Set it
	// only for a folder that holds nothing else. A folder that Open creates has
	// that mode anyway.
	PrivateFolder bool
	// LockWait is how long an update waits for another process, at most; 0 is
	// [DefaultLockWait].
	LockWait time.Duration
	// Poll is how often the file is looked at beside watching its folder; 0 is
	// [DefaultPoll]. Below 0 it is neither watched nor polled, for a command that
	// ends at once: changes of other processes are then seen by updates and Refresh.
	Poll time.Duration
	// MaxBytes bounds the file, in bytes; 0 is [DefaultMaxBytes]. An update that
	// would pass it is refused with DRAFT_LIMIT_REACHED, a larger file is
	// DRAFT_STORAGE_INVALID. Above WarnBytes (0: never) one warning is logged.
	MaxBytes, WarnBytes int64
	// FS is the file system; nil is [OS].
	FS FS
	// Backups has good generations of the document kept in the folder "backups"
	// beside the file: one an hour for a day and one a day for a week, within
	// [MaxBackupBytes]. They are written after an update was answered.
	Backups bool
	// Now is the clock of backups; nil is time.Now.
	Now func() time.Time
	// Log gets what happened to the file, never what is in it; nil logs nothing.
	Log hclog.Logger
}

// State is how the file is.
type State struct {
	// Path is the file, links resolved.
	Path string
	// Generation is that of the snapshot.
	Generation int64
	// Code is "" when the snapshot is what the file holds, else why it is not:
	// DRAFT_STORAGE_INVALID, _UNSUPPORTED or _IO. Message is for people.
	Code    shared.Code
	Message string
	// Backup is where the newest file of an older version is kept, "" if none is.
	Backup string
	// Note is the note of the migration that the snapshot went through, "" if none.
	Note string
}

// err is the refusal that an update gets in this state.
func (s State) err() error {
	if s.Code == "" {
		return nil
	}
	return shared.Errorf(s.Code, "%s", s.Message)
}

// Change is what a subscriber is told. Before and After are the same document
// when only the state changed.
type Change[D any] struct {
	Before, After D
	State         State
}

// Store is an open document. All methods may be called from any goroutine.
//
// One goroutine, the committer, owns the file and is the only one that reads it,
// writes it, replaces the snapshot and calls subscribers. Updates reach it
// through a channel; those that wait go into one commit, in the order in which
// they came.
type Store[D any] struct {
	format   Format[D]
	log      hclog.Logger
	poll     time.Duration
	lockWait time.Duration
	warn     int64

	queue   chan *request[D]
	current atomic.Pointer[view[D]]

	// Owned by the committer.
	disk     *disk
	lock     *turnstile
	keeper   *keeper  // nil without backups
	lines    [][]byte // of the snapshot, nil when they are of no use
	old      *oldFile // set while the file is of an older version
	fromFile bool     // the snapshot was read from or written to the file once
	highest  int64    // generation ever seen: it never goes back while we run
	warned   bool
	// How many the last commit held and how long it took, for [Store.gather].
	lastBatch  int
	lastCommit time.Duration

	waiting atomic.Bool // the committer waits for the lock

	subscribers struct {
		sync.Mutex
		next int
		list []subscriber[D]
	}

	stop    context.CancelFunc
	stopped <-chan struct{}
	running sync.WaitGroup
	closing sync.Once
}

// view is what readers see: a document and the state that belongs to it.
type view[D any] struct {
	doc   D
	state State
}

// oldFile is a file of an older version, kept until it is backed up.
type oldFile struct {
	version int64
	data    []byte
}

type subscriber[D any] struct {
	id int
	fn func(Change[D])
}

// Open opens the document of o.Path and starts to watch it; end with
// [Store.Close]. It succeeds also when the file is missing, malformed or of a
// later version, see [Store.State]. It fails with DRAFT_STORAGE_IO when the
// folder cannot be created or a link leads to no folder. ctx bounds Open only.
func Open[D any](ctx context.Context, format Format[D], o Options) (*Store[D], error) {
	o.defaults()
	path, err := resolve(o.FS, o.Path)
	if err != nil {
		return nil, shared.Errorf(shared.StorageIO, "prepare the draft folder: %w", err)
	}
	if o.PrivateFolder {
		if err := o.FS.Chmod(filepath.Dir(path), 0o700); err != nil {
			o.Log.Warn("cannot make the draft folder private", "error", err)
		}
	}
	s := newStore(format, o, path)
	if o.Backups {
		s.keeper = newKeeper(o.FS, path, o.Now, o.Log)
	}
	run, stop := context.WithCancel(context.WithoutCancel(ctx)) // #nosec G118 -- Close calls it
	s.stop, s.stopped = stop, run.Done()
	s.sweep(ctx)
	_ = s.refresh() // State tells; the store is of use for reading all the same.
	if s.poll > 0 {
		s.keep()
	}
	s.running.Go(func() { s.commit(run) })
	if s.poll > 0 {
		s.running.Go(func() { s.watch(run) })
	}
	return s, nil
}

// defaults resolves what was left out.
func (o *Options) defaults() {
	if o.FS == nil {
		o.FS = OS{}
	}
	if o.Log == nil {
		o.Log = hclog.NewNullLogger()
	}
	if o.LockWait == 0 {
		o.LockWait = DefaultLockWait
	}
	if o.Poll == 0 {
		o.Poll = DefaultPoll
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = DefaultMaxBytes
	}
	if o.Now == nil {
		o.Now = time.Now
	}
}

// newStore is a store of which nothing runs yet.
func newStore[D any](format Format[D], o Options, path string) *Store[D] {
	s := &Store[D]{
		format: format, log: o.Log, poll: o.Poll, lockWait: o.LockWait, warn: o.WarnBytes,
		queue: make(chan *request[D]),
		disk:  &disk{fs: o.FS, dir: filepath.Dir(path), path: path, maxBytes: o.MaxBytes},
		lock:  newTurnstile(path),
	}
	s.current.Store(&view[D]{doc: format.Empty(), state: State{Path: path, Backup: s.disk.lastBackup(format.Migrations)}})
	return s
}

// resolve is the absolute path with links followed; it creates the folder.
func resolve(fsys FS, path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if err := makeDir(fsys, filepath.Dir(path)); err != nil {
		return "", err
	}
	return follow(path)
}

// maxLinks bounds a chain of links, as systems do.
const maxLinks = 40

// follow is path with links followed. The file need not be there: then a link
// says where it will be, in a folder that must be there, since a missing one may
// be of a drive that is not, and another file would hide what it holds.
func follow(path string) (string, error) {
	for range maxLinks {
		target, err := filepath.EvalSymlinks(path)
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return target, err
		}
		dir, err := filepath.EvalSymlinks(filepath.Dir(path))
		if err != nil {
			return "", err
		}
		path = filepath.Join(dir, filepath.Base(path))
		link, err := os.Readlink(path)
		if err != nil {
			return path, nil // There is nothing: the file will be here.
		}
		if !filepath.IsAbs(link) {
			link = filepath.Join(dir, link)
		}
		path = link
	}
	return "", errors.New("too many links")
}

// sweep removes what killed savers left, if anything: a temporary file may also be
// that of a saver at work, and only the lock tells. A busy lock is no reason to
// wait: the next start sweeps.
func (s *Store[D]) sweep(ctx context.Context) {
	if stale, err := s.disk.temps(); err == nil && len(stale) == 0 {
		return
	}
	release, err := s.lock.within(ctx, min(s.lockWait, 100*time.Millisecond))
	if err != nil {
		s.log.Debug("stale temporary files are not swept", "error", err)
		return
	}
	defer release()
	if removed, err := s.disk.sweep(); removed > 0 || err != nil {
		s.log.Info("swept stale temporary files", "removed", removed, "error", err)
	}
}

// Snapshot is the newest document known. It must not be changed.
func (s *Store[D]) Snapshot() D { return s.current.Load().doc }

// State is how the file is, as of the last time it was looked at.
func (s *Store[D]) State() State { return s.current.Load().state }

// Subscribe has fn called after each change of the document or the state, in
// the order of the commits, from one goroutine, when the change is durable and
// before the update that made it returns. fn must be quick and must not wait for
// the store (Update, Refresh, Close). After cancel returns fn is not called
// again, but a call under way may not be over.
func (s *Store[D]) Subscribe(fn func(Change[D])) (cancel func()) {
	s.subscribers.Lock()
	defer s.subscribers.Unlock()
	s.subscribers.next++
	id := s.subscribers.next
	s.subscribers.list = append(s.subscribers.list, subscriber[D]{id, fn})
	return func() {
		s.subscribers.Lock()
		defer s.subscribers.Unlock()
		kept := make([]subscriber[D], 0, len(s.subscribers.list))
		for _, sub := range s.subscribers.list {
			if sub.id != id {
				kept = append(kept, sub)
			}
		}
		s.subscribers.list = kept
	}
}

// publish replaces the snapshot and tells subscribers.
func (s *Store[D]) publish(next view[D]) {
	before := s.current.Swap(&next)
	s.subscribers.Lock()
	list := s.subscribers.list
	s.subscribers.Unlock()
	for _, sub := range list {
		sub.fn(Change[D]{Before: before.doc, After: next.doc, State: next.state})
	}
}

// Close waits for the commit and the backup under way and ends the store; later
// updates are refused with DRAFT_STORAGE_IO, and so are those that wait for
// another process. It must not be called by a subscriber. While another process
// holds the lock, a goroutine that waits for it may stay behind until it is free.
func (s *Store[D]) Close() error {
	s.closing.Do(func() {
		s.stop()
		s.running.Wait()
		s.lock.end(min(s.lockWait, time.Second))
		s.disk.bury()
		s.disk.forget()
	})
	return nil
}
