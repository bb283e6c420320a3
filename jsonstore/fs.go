package jsonstore

import (
	"io"
	"io/fs"
	"os"
)

// FS are the file-system calls of a store, so that a test can make any of them
// fail. [OS] is the real one.
type FS interface {
	// MkdirAll creates a directory and its parents.
	MkdirAll(dir string, perm fs.FileMode) error
	// Chmod sets the permission bits of a file or directory.
	Chmod(name string, perm fs.FileMode) error
	// Stat follows symbolic links.
	Stat(name string) (fs.FileInfo, error)
	// Open opens a file or directory for reading.
	Open(name string) (File, error)
	// Create opens a new file for writing; it must not exist yet.
	Create(name string, perm fs.FileMode) (File, error)
	// Rename puts one file in the place of another, atomically.
	Rename(from, to string) error
	// Link gives a file a second name, which must not exist yet.
	Link(name, second string) error
	// Remove deletes a file.
	Remove(name string) error
	// ReadDir lists the names in a directory.
	ReadDir(dir string) ([]string, error)
}

// File is an open file or directory of an [FS].
type File interface {
	io.Reader
	io.ReaderAt
	io.Writer
	Stat() (fs.FileInfo, error)
	Sync() error
	Close() error
}

// OS is the file system of the machine.
type OS struct{}

// MkdirAll implements [FS].
func (OS) MkdirAll(dir string, perm fs.FileMode) error { return os.MkdirAll(dir, perm) }

// Chmod implements [FS].
func (OS) Chmod(name string, perm fs.FileMode) error { return os.Chmod(name, perm) }

// Stat implements [FS].
func (OS) Stat(name string) (fs.FileInfo, error) { return os.Stat(name) }

// Open implements [FS].
func (OS) Open(name string) (File, error) { return opened(os.Open(name)) }

// Create implements [FS].
func (OS) Create(name string, perm fs.FileMode) (File, error) {
	return opened(os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR, perm))
}

// osFile adds to *os.File what only some systems have.
type osFile struct{ *os.File }

// opened keeps a nil *os.File from becoming a non-nil File.
func opened(f *os.File, err error) (File, error) {
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

// Rename implements [FS].
func (OS) Rename(from, to string) error { return os.Rename(from, to) }

// Link implements [FS].
func (OS) Link(name, second string) error { return os.Link(name, second) }

// Remove implements [FS].
func (OS) Remove(name string) error { return os.Remove(name) }

// ReadDir implements [FS].
func (OS) ReadDir(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	names := make([]string, 0, len(entries))
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names, err
}
