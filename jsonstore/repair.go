package jsonstore

import (
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

// Repaired is what [Repair] did.
type Repaired struct {
	// Restored is the backup whose content the file has now, made At.
	Restored string    `json:"restored"`
	At       time.Time `json:"at"`
	// Generation is the file's now: later than both, so that every process sees it.
	Generation int64 `json:"generation"`
	// SetAside is where the malformed file is kept, "" when there was none.
	SetAside string `json:"setAside,omitempty"`
}

// setAsidePrefix starts the names of files that a repair replaced.
func setAsidePrefix(path string) string {
	return strings.TrimSuffix(path, filepath.Ext(path)) + ".bad-"
}

// Repair puts the newest good backup in the place of a file that is malformed or
// missing, under the lock, and keeps the malformed one beside it. Both are on
// disk when it returns nil. Nothing but a person's wish may call it.
//
// It changes nothing and fails with DRAFT_INVALID_INPUT when the file is good,
// DRAFT_STORAGE_UNSUPPORTED when it is of a later version, DRAFT_STORAGE_IO when
// it cannot be read, DRAFT_STORAGE_BUSY when another process holds the lock for
// too long, and DRAFT_STORAGE_INVALID when there is no good backup.
func Repair[D any](ctx context.Context, format Format[D], o Options) (Repaired, error) {
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
		return Repaired{}, shared.Errorf(shared.DraftInvalidInput, "the draft file is good; nothing was changed")
	case err != nil && shared.CodeOf(err) != shared.StorageInvalid:
		return Repaired{}, err
	}
	backups, err := s.keeper.list()
	if err != nil {
		return Repaired{}, shared.Errorf(shared.StorageIO, "look at the backups: %w", err)
	}
	for _, b := range backups {
		if doc, err := s.readBackup(b); err == nil {
			return s.restore(b, doc)
		}
	}
	return Repaired{}, shared.Errorf(shared.StorageInvalid, "there is no good backup in %s; nothing was changed", s.keeper.disk.dir)
}

// restore writes doc in the place of the file.
func (s *Store[D]) restore(b keptBackup, doc D) (Repaired, error) {
	s.highest = s.format.Generation(doc)
	if lines, err := (&disk{fs: s.disk.fs, dir: s.disk.dir, path: s.disk.path, maxBytes: s.disk.maxBytes}).readOnce(); err == nil {
		if generation, ok := peekLines(lines, "generation"); ok && generation < 1<<53-1 {
			s.highest = max(s.highest, generation)
		}
	}
	next, err := s.encode(doc, Encoded[D]{})
	if err != nil {
		return Repaired{}, err
	}
	aside, err := s.setAside()
	if err != nil {
		return Repaired{}, err
	}
	done := Repaired{Restored: b.path, At: b.at, Generation: s.format.Generation(next.Doc), SetAside: aside}
	return done, s.disk.replace(next.Lines)
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
