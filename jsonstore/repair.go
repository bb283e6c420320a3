package jsonstore

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// Source is where [Repair] takes the content from.
type Source string

const (
	// FromBest: the malformed file itself when at least as many records of it are
	// whole as the newest good backup holds (it is the newer of the two), else that backup.
	FromBest Source = ""
	// FromBackup: the newest good backup.
	FromBackup Source = "backup"
	// FromFile: what is whole of the malformed file.
	FromFile Source = "file"
)

// ErrGood is the error of [Repair] when there is nothing to repair.
var ErrGood = shared.Errorf(shared.DraftInvalidInput, "the draft file is good; nothing was changed")

// Repaired is what [Repair] did.
type Repaired struct {
	// Restored is the file whose content the document has now, as it was At: a
	// backup, or when Salvaged the malformed file where it is kept now.
	Restored string    `json:"restored"`
	At       time.Time `json:"at"`
	Salvaged bool      `json:"salvaged,omitempty"`
	// Records are how many there are now; Lost are those of the malformed file that
	// were not whole, when Salvaged.
	Records int `json:"records"`
	Lost    int `json:"lost,omitempty"`
	// Generation is the file's now: later than all, so that every process sees it.
	Generation int64 `json:"generation"`
	// SetAside is where the malformed file is kept, "" when there was none.
	SetAside string `json:"setAside,omitempty"`
}

// setAsidePrefix starts the names of files that a repair replaced.
func setAsidePrefix(path string) string {
	return strings.TrimSuffix(path, filepath.Ext(path)) + ".bad-"
}

// Repair puts good content in the place of a file that is malformed or missing,
// under the lock, and keeps the malformed one beside it. Both are on disk when it
// returns nil. Nothing but a person's wish may call it.
//
// It changes nothing and fails with [ErrGood] (DRAFT_INVALID_INPUT) when the file
// is good, DRAFT_STORAGE_UNSUPPORTED when it is of a later version,
// DRAFT_STORAGE_IO when it cannot be read, DRAFT_STORAGE_BUSY when another process
// holds the lock for too long, and DRAFT_STORAGE_INVALID when there is nothing
// good to be had from the source.
func Repair[D any](ctx context.Context, format Format[D], o Options, from Source) (Repaired, error) {
	s, err := lookAt(format, o)
	if err != nil {
		return Repaired{}, err
	}
	defer s.disk.forget()
	release, err := s.lock.within(ctx, s.lockWait)
	if err != nil {
		return Repaired{}, err
	}
	defer release()
	switch err := s.refresh(); {
	case err == nil && s.disk.held != nil:
		return Repaired{}, ErrGood
	case err != nil && shared.CodeOf(err) != shared.StorageInvalid:
		return Repaired{}, err
	}
	backup, backupDoc, err := s.goodBackup()
	if err != nil {
		return Repaired{}, shared.Errorf(shared.StorageIO, "look at the backups: %w", err)
	}
	salvaged, salvage, whole := s.salvage()
	if from == FromFile || from == FromBest && whole && (backup == nil || salvage.Records >= format.records(backupDoc)) {
		if !whole {
			return Repaired{}, shared.Errorf(shared.StorageInvalid, "nothing of the file is whole; nothing was changed")
		}
		highest := int64(0)
		if backup != nil {
			highest = backup.generation
		}
		done := Repaired{At: salvage.At, Salvaged: true, Records: salvage.Records, Lost: salvage.Lost}
		err := s.restore(salvaged, highest, &done)
		done.Restored = done.SetAside
		return done, err
	}
	if backup == nil {
		return Repaired{}, shared.Errorf(shared.StorageInvalid, "there is no good backup in %s; nothing was changed", s.keeper.disk.dir)
	}
	done := Repaired{Restored: backup.path, At: backup.at, Records: format.records(backupDoc)}
	err = s.restore(backupDoc, 0, &done)
	return done, err
}

// goodBackup is the newest good one, nil if there is none.
func (s *Store[D]) goodBackup() (*keptBackup, D, error) {
	var none D
	backups, err := s.keeper.list()
	if err != nil {
		return nil, none, err
	}
	for _, b := range backups {
		if doc, err := s.readBackup(b); err == nil {
			return &b, doc, nil
		}
	}
	return nil, none, nil
}

// salvage reads what is whole of a malformed file. It is false when nothing is, or
// when the file says that it is of another version.
func (s *Store[D]) salvage() (D, Salvage, bool) {
	var none D
	if s.format.Salvage == nil {
		return none, Salvage{}, false
	}
	lines, err := (&disk{fs: s.disk.fs, dir: s.disk.dir, path: s.disk.path, maxBytes: s.disk.maxBytes}).readOnce()
	if err != nil {
		return none, Salvage{}, false
	}
	if version, ok := peekLines(lines, "version"); ok && version != s.format.Version {
		return none, Salvage{}, false
	}
	doc, lost := s.format.Salvage(bytes.Join(lines, nil))
	found := Salvage{Records: s.format.records(doc), Lost: lost}
	if info, err := s.disk.fs.Stat(s.disk.path); err == nil {
		found.At = info.ModTime()
	}
	return doc, found, found.Records > 0
}

// restore writes doc in the place of the file, with a generation after its own,
// that of the file and highest, and tells the generation and what was set aside.
func (s *Store[D]) restore(doc D, highest int64, done *Repaired) error {
	s.highest = max(s.format.Generation(doc), highest)
	if lines, err := (&disk{fs: s.disk.fs, dir: s.disk.dir, path: s.disk.path, maxBytes: s.disk.maxBytes}).readOnce(); err == nil {
		if generation, ok := peekLines(lines, "generation"); ok && generation < 1<<53-1 {
			s.highest = max(s.highest, generation)
		}
	}
	next, err := s.encode(doc, Encoded[D]{})
	if err != nil {
		return err
	}
	if done.SetAside, err = s.setAside(); err != nil {
		return err
	}
	done.Generation = s.format.Generation(next.Doc)
	return s.disk.replace(next.Lines)
}

// setAside gives the file a second name beside it, so that it is never missing.
func (s *Store[D]) setAside() (string, error) {
	stem := setAsidePrefix(s.disk.path) + s.keeper.now().UTC().Format(backupTime)
	for n := 1; n <= maxBackups; n++ {
		name := stem + filepath.Ext(s.disk.path)
		if n > 1 {
			name = fmt.Sprintf("%s.%d%s", stem, n, filepath.Ext(s.disk.path))
		}
		err := s.disk.fs.Link(s.disk.path, name)
		switch {
		case err == nil:
			return name, nil
		case errors.Is(err, fs.ErrExist):
			continue
		}
		if _, statErr := s.disk.fs.Stat(s.disk.path); errors.Is(statErr, fs.ErrNotExist) {
			return "", nil // There is none to keep.
		}
		return "", shared.Errorf(shared.StorageIO, "keep the malformed file: %w", err)
	}
	return "", shared.Errorf(shared.StorageIO, "keep the malformed file: too many are kept already")
}

// readBackup decodes a backup.
func (s *Store[D]) readBackup(b keptBackup) (D, error) {
	var none D
	lines, err := (&disk{fs: s.disk.fs, dir: s.keeper.disk.dir, path: b.path, maxBytes: s.disk.maxBytes}).readOnce()
	if err != nil {
		return none, shared.Errorf(cmp.Or(shared.CodeOf(err), shared.StorageIO), "%s", messageOf(err))
	}
	if version, ok := peekLines(lines, "version"); ok && version > s.format.Version {
		return none, shared.Errorf(shared.StorageUnsupported, "of version %d", version)
	}
	decoded, err := s.format.Decode(lines, Encoded[D]{})
	return decoded.Doc, err
}
