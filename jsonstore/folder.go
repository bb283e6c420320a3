package jsonstore

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"
)

func (d *disk) syncDir() error { return syncDir(d.fs, d.dir) }

func syncDir(fsys FS, dir string) error {
	f, err := fsys.Open(dir)
	if err != nil {
		return fmt.Errorf("open the folder: %w", err)
	}
	err = f.Sync()
	_ = f.Close() // Only its entries matter, and they are synced or err says so.
	if err != nil {
		return fmt.Errorf("sync the folder: %w", err)
	}
	return nil
}

// makeDir creates the folder with mode 0700 if there is none, and syncs its
// parent then, or a power cut could take the folder with all that is in it.
func makeDir(fsys FS, dir string) error {
	if _, err := fsys.Stat(dir); err == nil {
		return nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	parent := filepath.Dir(dir)
	if parent != dir {
		if err := makeDir(fsys, parent); err != nil {
			return err
		}
	}
	if err := fsys.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return syncDir(fsys, parent)
}

// syncFolders makes the folders certain in which a new file will be: who made one
// of them may have died before it was synced, or failed to sync it. A folder of
// another file system was there before, and so was one in a folder that we may
// not read.
func (d *disk) syncFolders() error {
	info, err := d.fs.Stat(d.dir)
	for dir := d.dir; err == nil && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		var above fs.FileInfo
		if above, err = d.fs.Stat(filepath.Dir(dir)); err != nil || !sameDevice(info, above) {
			break
		}
		info, err = above, syncDir(d.fs, filepath.Dir(dir))
	}
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return err
}

// sameDevice tells whether two folders are known to be of one file system.
func sameDevice(a, b fs.FileInfo) bool {
	left, known := a.Sys().(*syscall.Stat_t)
	right, knownToo := b.Sys().(*syscall.Stat_t)
	return known && knownToo && left.Dev == right.Dev
}
