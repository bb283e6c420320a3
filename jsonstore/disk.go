package jsonstore

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// disk is the file as bytes. It is used by one goroutine at a time.
//
// The file last read or written is kept open: as long as it is, its inode is not
// given to another file, so the same device and inode mean the same file. Size,
// time and the first bytes, which hold version and generation, tell whether
// somebody changed it in place.
type disk struct {
	fs       FS
	dir      string
	path     string
	maxBytes int64

	held     File        // nil when the identity is unknown
	identity fs.FileInfo // of held
	head     []byte      // the first bytes of held, at most headBytes
	// retired is the file before held. Closing it frees its blocks, which takes
	// as long as a good part of a save: see bury.
	retired File
	// unsynced is set while held may be lost in a power cut: another process
	// wrote it and may not have synced it, or our directory sync failed.
	unsynced bool
	// unsafe is set when a sync failed of a file that was in place already. The
	// kernel reports such a failure once and may forget the data: only writing
	// everything again makes it certain, never another sync of the same file.
	unsafe bool
}

// headBytes hold version and generation of any file that we wrote.
const headBytes = 64

// state of the path against the file last seen.
type presence int

const (
	missing presence = iota
	same
	changed
)

// look compares the path with the file last seen.
func (d *disk) look() (presence, error) {
	info, err := d.fs.Stat(d.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return missing, nil
	case err != nil:
		return changed, shared.Errorf(shared.StorageIO, "look at the draft file: %w", err)
	case !info.Mode().IsRegular():
		return changed, shared.Errorf(shared.StorageInvalid, "the draft file is not a regular file")
	case d.held != nil && os.SameFile(info, d.identity) && info.Size() == d.identity.Size() && info.ModTime().Equal(d.identity.ModTime()):
		head := make([]byte, len(d.head))
		if _, err := d.held.ReadAt(head, 0); err == nil && bytes.Equal(head, d.head) {
			return same, nil
		}
	}
	return changed, nil
}

// read gives the file's lines, those that known holds as the same slices, and
// takes the file as the one last seen. The error is fs.ErrNotExist when it is
// gone, else DRAFT_STORAGE_IO, or DRAFT_STORAGE_INVALID when it is larger than
// maxBytes.
func (d *disk) read(known [][]byte) ([][]byte, error) {
	d.forget()
	f, err := d.fs.Open(d.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fs.ErrNotExist
	}
	if err != nil {
		return nil, shared.Errorf(shared.StorageIO, "open the draft file: %w", err)
	}
	// Before the bytes: a file that is changed in place meanwhile then looks
	// changed at the next look.
	info, err := f.Stat()
	var lines [][]byte
	if err == nil && info.Size() <= d.maxBytes {
		lines, err = readLines(io.LimitReader(f, d.maxBytes+1), info.Size(), known)
	}
	if err != nil {
		return nil, shared.Errorf(shared.StorageIO, "read the draft file: %w", errors.Join(err, f.Close()))
	}
	d.hold(f, info, lines)
	d.unsynced = true
	if max(info.Size(), sizeOf(lines)) > d.maxBytes {
		return nil, shared.Errorf(shared.StorageInvalid, "the draft file is larger than %d bytes", d.maxBytes)
	}
	return lines, nil
}

// hold takes f as the file last seen.
func (d *disk) hold(f File, info fs.FileInfo, lines [][]byte) {
	d.held, d.identity, d.head = f, info, make([]byte, 0, headBytes)
	for _, line := range lines {
		d.head = append(d.head, line[:min(len(line), headBytes-len(d.head))]...)
		if len(d.head) == headBytes {
			return
		}
	}
}

// forget drops the identity, so that the next look says changed.
func (d *disk) forget() {
	if d.held != nil {
		_ = d.held.Close() // Synced before it was renamed, or only read: nothing is left to fail.
	}
	d.held, d.identity, d.head = nil, nil, nil
}

// bury closes the file that was replaced; it is for after the answer.
func (d *disk) bury() {
	if d.retired != nil {
		_ = d.retired.Close() // It is gone from the directory; nothing of it matters any more.
	}
	d.retired = nil
}

// replace puts lines in the place of the file. DRAFT_STORAGE_IO: the old file is
// there with its old bytes and no temporary file is left.
// DRAFT_STORAGE_UNCERTAIN: the new one is there, see unsafe.
func (d *disk) replace(lines [][]byte) error {
	temp, f, err := d.writeTemp(lines)
	if err != nil {
		return shared.Errorf(shared.StorageIO, "write the draft file: %w", err)
	}
	info, err := f.Stat()
	if err == nil {
		err = d.fs.Rename(temp, d.path)
	}
	if err != nil {
		// A network file system may have renamed and lost the answer: look again.
		d.forget()
		return shared.Errorf(shared.StorageIO, "put the draft file in place: %w", d.discard(temp, f, err))
	}
	d.bury()
	d.retired = d.held
	d.hold(f, info, lines)
	if err := d.syncDir(); err != nil {
		d.unsafe = true
		d.forget()
		return shared.Errorf(shared.StorageUncertain, "the change is in place, but not yet safe from a power cut: %w", err)
	}
	d.unsynced, d.unsafe = false, false
	return nil
}

// settle makes the file last read or written safe from a power cut, if it may
// not be yet. Without it an unchanged document could be acknowledged that
// another process renamed into place and had no time to sync.
func (d *disk) settle() error {
	if !d.unsynced {
		return nil
	}
	var err error
	if d.held != nil {
		err = d.held.Sync()
	}
	if err == nil {
		err = d.syncDir()
	}
	if err != nil {
		d.unsafe = true
		return shared.Errorf(shared.StorageUncertain, "the draft file is not yet safe from a power cut: %w", err)
	}
	d.unsynced = false
	return nil
}

// writeTemp writes lines to a new synced file beside the path.
func (d *disk) writeTemp(lines [][]byte) (name string, f File, err error) {
	var random [8]byte
	if _, err := rand.Read(random[:]); err != nil {
		return "", nil, err
	}
	name = filepath.Join(d.dir, d.tempPrefix()+hex.EncodeToString(random[:])+tempSuffix)
	f, err = d.fs.Create(name, 0o600)
	if err != nil {
		return "", nil, err
	}
	if err = writeLines(f, lines); err == nil {
		err = f.Sync()
	}
	if err != nil {
		return "", nil, d.discard(name, f, err)
	}
	return name, f, nil
}

// discard removes a temporary file after cause.
func (d *disk) discard(name string, f File, cause error) error {
	return errors.Join(cause, f.Close(), d.fs.Remove(name))
}

const tempSuffix = ".tmp"

// tempPrefix starts the names of our temporary files.
func (d *disk) tempPrefix() string { return "." + filepath.Base(d.path) + "." }

func (d *disk) isTemp(name string) bool {
	return strings.HasPrefix(name, d.tempPrefix()) && strings.HasSuffix(name, tempSuffix)
}

// temps are the temporary files that there are.
func (d *disk) temps() ([]string, error) {
	names, err := d.fs.ReadDir(d.dir)
	if err != nil {
		return nil, fmt.Errorf("list the draft folder: %w", err)
	}
	return slices.DeleteFunc(names, func(name string) bool { return !d.isTemp(name) }), nil
}

// sweep removes temporary files that killed processes left. The lock must be
// held: then no process of ours is writing one.
func (d *disk) sweep() (removed int, err error) {
	names, err := d.temps()
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		if err = errors.Join(err, d.fs.Remove(filepath.Join(d.dir, name))); err == nil {
			removed++
		}
	}
	return removed, err
}
