package jsonstore

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// maxBackups bounds the search for a free backup name.
const maxBackups = 1000

// backupName is where the n-th different file of an old version is kept:
// drafts.v1.json, drafts.v1.2.json, and so on.
func backupName(path string, version int64, n int) string {
	ext := filepath.Ext(path)
	name := fmt.Sprintf("%s.v%d", strings.TrimSuffix(path, ext), version)
	if n > 1 {
		name += fmt.Sprintf(".%d", n)
	}
	return name + ext
}

// backup keeps data, a file of an old version, byte for byte beside the path and
// returns where. It is on disk when backup returns. An existing backup with other
// bytes is never overwritten. One with the same bytes is written again in its
// place: whoever wrote it may have died before it was synced, or failed to sync
// it, and then no later sync makes it certain. So a migration that was interrupted
// may be repeated. The lock must be held. Errors are DRAFT_STORAGE_IO.
func (d *disk) backup(data []byte, version int64) (string, error) {
	for n := 1; n <= maxBackups; n++ {
		name := backupName(d.path, version, n)
		other, err := d.holdsOther(name, data)
		if err == nil {
			if other {
				continue
			}
			err = d.writeBackup(name, data)
		}
		if err != nil {
			return "", shared.Errorf(shared.StorageIO, "keep the version-%d file: %w", version, err)
		}
		return name, nil
	}
	return "", shared.Errorf(shared.StorageIO, "keep the version-%d file: %d others are kept already", version, maxBackups)
}

// holdsOther tells whether there is a file of that name with other bytes.
func (d *disk) holdsOther(name string, data []byte) (bool, error) {
	f, err := d.fs.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }() // Only read.
	old, err := io.ReadAll(io.LimitReader(f, int64(len(data))+1))
	return !bytes.Equal(old, data), err
}

func (d *disk) writeBackup(name string, data []byte) error {
	temp, f, err := d.writeTemp([][]byte{data})
	if err != nil {
		return err
	}
	if err := d.fs.Rename(temp, name); err != nil {
		return d.discard(temp, f, err)
	}
	return errors.Join(f.Close(), d.syncDir())
}

// lastBackup is the newest backup that exists of any of the versions, or "".
func (d *disk) lastBackup(versions map[int64]Migration) string {
	last := ""
	for version := range versions {
		for n := 1; n <= maxBackups; n++ {
			name := backupName(d.path, version, n)
			if _, err := d.fs.Stat(name); err != nil {
				break
			}
			last = name
		}
	}
	return last
}
