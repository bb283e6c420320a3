// Package eventlog keeps an append-only list of events in one file, one JSON
// object a line:
//
//	{"sum":"9ae0daaf","event":{"seq":1,"at":1790000000000,"type":"x","data":{}}}
//
// sum is the CRC-32C of the event's bytes, in hex. Start with [Open], add with
// [Log.Append], read with [Log.Read].
//
// # What is durable when a call returns
//
//   - Append returned nil: the event is on disk (fsync), and so is the file's name.
//   - Append returned an error: the event is not in the log. The next Append first
//     takes away what may have reached the file. After a crash in between, the event
//     may be found there all the same: whoever must know asks the log, not its memory.
//
// A crash in the middle of an append leaves a last line without its end. Open
// moves such a torn tail into a file beside the log ("<file>.torn-<time>") and
// cuts it off: it was never acknowledged. Any other line that is not as written
// is damage: what stands before it can be read, and the file is never written
// again (invariant 7).
//
// One process writes a log; package home's lock sees to that.
package eventlog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxEventBytes bounds one event, in bytes of its JSON.
const MaxEventBytes = 8 << 20

// Event is one event. Seq counts from 1 without a gap; At is in milliseconds
// since the Unix epoch. Data is a JSON object.
type Event struct {
	Seq  int64          `json:"seq"`
	At   int64          `json:"at"`
	Type string         `json:"type"`
	Data jsontext.Value `json:"data"`
}

// Damage is a line that is not as it was written. It quotes nothing of it.
type Damage struct {
	// Line counts from 1, Offset is the line's first byte.
	Line, Offset int64
	Reason       string
}

func (d *Damage) Error() string {
	return fmt.Sprintf("line %d (byte %d): %s", d.Line, d.Offset, d.Reason)
}

// ErrTooLarge: an event is larger than [MaxEventBytes]; nothing was written.
var ErrTooLarge = errors.New("the event is too large")

// handle is the part of *os.File that writing needs.
type handle interface {
	io.Writer
	Sync() error
	Truncate(size int64) error
	Stat() (fs.FileInfo, error)
	Close() error
}

// Log is an open log. Its methods may be called from any goroutine. It holds no
// file open between calls, so a host may have thousands.
type Log struct {
	path string
	now  func() time.Time
	open func(path string) (handle, error)

	mu     sync.Mutex // guards what follows
	size   int64      // of the acknowledged part
	last   int64
	damage *Damage
	// dirty: an append failed, and its bytes may still be behind size.
	dirty bool
}

// Open opens the log of that path, creating an empty one (mode 0600) when there
// is none, and gives its events. Damage does not fail it: see [Log.Damage].
func Open(path string, now func() time.Time) (*Log, []Event, error) {
	l := &Log{path: path, now: now, open: openFile}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil, l.create()
	}
	if err != nil {
		return nil, nil, fmt.Errorf("reading the log: %w", err)
	}
	whole := bytes.LastIndexByte(data, '\n') + 1
	events, damage := parse(data[:whole])
	l.size, l.damage = int64(whole), damage
	if len(events) > 0 {
		l.last = events[len(events)-1].Seq
	}
	if damage != nil {
		return l, events, nil // nothing of a damaged file is moved
	}
	if torn := data[whole:]; len(torn) > 0 {
		if err := l.heal(torn); err != nil {
			return nil, nil, fmt.Errorf("setting a torn end aside: %w", err)
		}
	}
	return l, events, nil
}

func (l *Log) create() error {
	file, err := os.OpenFile(l.path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("creating the log: %w", err)
	}
	if err := errors.Join(file.Sync(), file.Close()); err != nil {
		return fmt.Errorf("creating the log: %w", err)
	}
	return syncFolder(filepath.Dir(l.path))
}

// heal keeps the torn tail beside the log, then cuts it off.
func (l *Log) heal(torn []byte) error {
	beside := fmt.Sprintf("%s.torn-%d", l.path, l.now().UnixMilli())
	file, err := os.OpenFile(beside, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(torn)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := syncFolder(filepath.Dir(l.path)); err != nil {
		return err
	}
	opened, err := l.open(l.path)
	if err != nil {
		return err
	}
	return errors.Join(opened.Truncate(l.size), opened.Sync(), opened.Close())
}

// Damage is nil for a log that is as it was written.
func (l *Log) Damage() *Damage {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.damage
}

// Last is the number of the last event, 0 when there is none.
func (l *Log) Last() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}

// Append adds an event and returns it when it is on disk. data is a JSON object.
// Its error is a *[Damage] for a damaged log.
func (l *Log) Append(kind string, data jsontext.Value) (Event, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.damage != nil {
		return Event{}, l.damage
	}
	event := Event{Seq: l.last + 1, At: l.now().UnixMilli(), Type: kind, Data: data}
	line, err := encode(event)
	if err != nil {
		return Event{}, err
	}
	file, err := l.open(l.path)
	if err != nil {
		return Event{}, fmt.Errorf("opening the log: %w", err)
	}
	if err := errors.Join(l.write(file, line), file.Close()); err != nil {
		return Event{}, fmt.Errorf("writing the log: %w", err)
	}
	l.size += int64(len(line))
	l.last = event.Seq
	return event, nil
}

// errForeign: the file is not as this process left it.
var errForeign = errors.New("the file was changed by another program")

func (l *Log) write(file handle, line []byte) error {
	if l.dirty {
		if err := l.undo(file); err != nil {
			return err
		}
	}
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if info.Size() != l.size {
		return errForeign
	}
	if _, err = file.Write(line); err == nil {
		err = file.Sync()
	}
	if err == nil {
		return nil
	}
	l.dirty = true
	return errors.Join(err, l.undo(file))
}

// undo takes away what a failed append may have written.
func (l *Log) undo(file handle) error {
	if err := errors.Join(file.Truncate(l.size), file.Sync()); err != nil {
		return fmt.Errorf("taking back a failed write: %w", err)
	}
	l.dirty = false
	return nil
}

// Sync returns when every acknowledged event is on disk. They are already; this
// asks the disk once more.
func (l *Log) Sync() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	file, err := l.open(l.path)
	if err != nil {
		return fmt.Errorf("opening the log: %w", err)
	}
	if err := errors.Join(file.Sync(), file.Close()); err != nil {
		return fmt.Errorf("syncing the log: %w", err)
	}
	return nil
}

// Read reads the acknowledged events after that number, oldest first.
func (l *Log) Read(after int64) ([]Event, error) {
	l.mu.Lock()
	size := l.size
	l.mu.Unlock()
	file, err := os.Open(l.path)
	if err != nil {
		return nil, fmt.Errorf("opening the log: %w", err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, size))
	if err != nil {
		return nil, fmt.Errorf("reading the log: %w", err)
	}
	events, _ := parse(data) // a damaged log is read as far as it goes
	for i, e := range events {
		if e.Seq > after {
			return events[i:], nil
		}
	}
	return nil, nil
}

func openFile(path string) (handle, error) {
	return os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
}

func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
