package jsonstore

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/gofrs/flock"
	"golang.org/x/sys/unix"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// Report is what [Inspect] found. It holds no content of any file.
type Report struct {
	// Path is the file, links resolved.
	Path string `json:"path"`
	// Missing is set when there is no file. It is no fault by itself.
	Missing bool `json:"missing,omitempty"`
	// Code is "" when the file is good or missing, else DRAFT_STORAGE_INVALID,
	// _UNSUPPORTED or _IO; Message says where and what.
	Code    shared.Code `json:"code,omitempty"`
	Message string      `json:"message,omitempty"`
	// Note is what taking over an older version will change, "" if it is of ours.
	Note string `json:"note,omitempty"`
	// Size is in bytes, Mode as in "-rw-------".
	Size     int64     `json:"size,omitzero"`
	Mode     string    `json:"mode,omitempty"`
	Modified time.Time `json:"modified,omitzero"`
	// Version and Generation are what the file says, 0 where it says none.
	Version    int64 `json:"version,omitzero"`
	Generation int64 `json:"generation,omitzero"`
	// Salvage is what can be read of a malformed file, nil when nothing can.
	Salvage *Salvage `json:"salvage,omitempty"`
	// Lock is nil when nobody holds the lock right now.
	Lock *Holder `json:"lock,omitempty"`
	// Users are the processes that have the file open. Linux tells only those of
	// the same user.
	Users []Holder `json:"users,omitempty"`
	// Backups are the good generations kept by time, newest first.
	Backups []BackupReport `json:"backups"`
	// OldVersions are files that were taken over, SetAside those that a repair
	// replaced, Temporary those that killed processes left (the next start sweeps them).
	OldVersions []string `json:"oldVersions,omitempty"`
	SetAside    []string `json:"setAside,omitempty"`
	Temporary   []string `json:"temporary,omitempty"`
	// Unwritable is why this process may not write into the folder, "" if it may, or
	// there is none yet.
	Unwritable string `json:"unwritable,omitempty"`
	// Watch is why the folder cannot be watched, "" if it can: then changes of
	// other processes are noticed by looking every two seconds only.
	Watch string `json:"watch,omitempty"`
	// MaxWatches and MaxWatchers are this user's limits on Linux, 0 where unknown.
	MaxWatches  int `json:"maxWatches,omitzero"`
	MaxWatchers int `json:"maxWatchers,omitzero"`
}

// Salvage is what can be read of a malformed file.
type Salvage struct {
	// Records are whole, Lost are not.
	Records int `json:"records"`
	Lost    int `json:"lost"`
	// At is when the file was written last.
	At time.Time `json:"at"`
}

// BackupReport is one backup. Code is "" when it is good.
type BackupReport struct {
	Path       string    `json:"path"`
	At         time.Time `json:"at"`
	Generation int64     `json:"generation"`
	Size       int64     `json:"size"`
	// Records are how many it holds, 0 when it is not good.
	Records int         `json:"records"`
	Code    shared.Code `json:"code,omitempty"`
	Message string      `json:"message,omitempty"`
}

// Inspect looks at a document and everything beside it. It creates and changes
// nothing, and works while other processes use the file. The document is that of
// the file, or the empty one. The error is DRAFT_STORAGE_IO when the folder
// cannot be looked at; what is wrong with the file is in the report.
func Inspect[D any](format Format[D], o Options) (Report, D, error) {
	s, err := lookAt(format, o)
	if err != nil {
		return Report{}, format.Empty(), err
	}
	defer s.disk.forget()
	report := Report{Path: s.disk.path, Backups: []BackupReport{}}
	_ = s.refresh() // The state tells.
	state := s.State()
	report.Code, report.Message, report.Note = state.Code, state.Message, state.Note
	report.describe(s.disk)
	if state.Code == shared.StorageInvalid {
		if _, salvage, ok := s.salvage(); ok {
			report.Salvage = &salvage
		}
	}
	report.Lock = s.lock.heldBy()
	report.Users = usersOf(s.disk.path)
	if err := report.list(s.disk, format.Migrations); err != nil {
		return report, s.Snapshot(), shared.Errorf(shared.StorageIO, "look at the draft folder: %w", err)
	}
	backups, err := s.keeper.list()
	if err != nil {
		return report, s.Snapshot(), shared.Errorf(shared.StorageIO, "look at the backups: %w", err)
	}
	for _, b := range backups {
		entry := BackupReport{Path: b.path, At: b.at, Generation: b.generation, Size: b.size}
		if doc, err := s.readBackup(b); err != nil {
			entry.Code, entry.Message = shared.CodeOf(err), messageOf(err)
		} else {
			entry.Records = format.records(doc)
		}
		report.Backups = append(report.Backups, entry)
	}
	report.watchers(s.disk.dir)
	if err := unix.Faccessat(unix.AT_FDCWD, s.disk.dir, unix.W_OK|unix.X_OK, unix.AT_EACCESS); err != nil && !errors.Is(err, fs.ErrNotExist) {
		report.Unwritable = err.Error()
	}
	return report, s.Snapshot(), nil
}

// lookAt is a store that is not started: it reads, and nothing else happens.
func lookAt[D any](format Format[D], o Options) (*Store[D], error) {
	o.defaults()
	path, err := filepath.Abs(o.Path)
	if err != nil {
		return nil, shared.Errorf(shared.StorageIO, "find the draft file: %w", err)
	}
	if target, err := follow(path); err == nil {
		path = target
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, shared.Errorf(shared.StorageIO, "find the draft file: %w", err)
	}
	s := newStore(format, o, path)
	s.keeper = newKeeper(o.FS, path, o.Now, o.Log)
	return s, nil
}

func (r *Report) describe(d *disk) {
	info, err := d.fs.Stat(d.path)
	if errors.Is(err, fs.ErrNotExist) {
		r.Missing = true
	}
	if err != nil {
		return
	}
	r.Size, r.Mode, r.Modified = info.Size(), info.Mode().String(), info.ModTime()
	if lines, err := (&disk{fs: d.fs, dir: d.dir, path: d.path, maxBytes: d.maxBytes}).readOnce(); err == nil {
		r.Version, _ = peekLines(lines, "version")
		r.Generation, _ = peekLines(lines, "generation")
	}
}

// readOnce is read for a disk of which nothing else is wanted.
func (d *disk) readOnce() ([][]byte, error) {
	defer d.forget()
	return d.read(nil)
}

// list sorts what lies beside the file.
func (r *Report) list(d *disk, versions map[int64]Migration) error {
	names, err := d.fs.ReadDir(d.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	old := map[string]bool{}
	for version := range versions {
		for n := 1; ; n++ {
			name := filepath.Base(backupName(d.path, version, n))
			if !slices.Contains(names, name) {
				break
			}
			old[name] = true
		}
	}
	for _, name := range names {
		path := filepath.Join(d.dir, name)
		switch {
		case d.isTemp(name):
			r.Temporary = append(r.Temporary, path)
		case old[name]:
			r.OldVersions = append(r.OldVersions, path)
		case strings.HasPrefix(name, filepath.Base(setAsidePrefix(d.path))):
			r.SetAside = append(r.SetAside, path)
		}
	}
	return err
}

// watchers tries whether the folder can be watched, and tells the limits.
func (r *Report) watchers(dir string) {
	watcher, err := fsnotify.NewWatcher()
	if err == nil {
		if err = watcher.Add(dir); errors.Is(err, fs.ErrNotExist) {
			err = nil // It is watched when there is one.
		}
		err = cmp.Or(err, watcher.Close())
	}
	if err != nil {
		r.Watch = err.Error()
	}
	r.MaxWatches = limit("max_user_watches")
	r.MaxWatchers = limit("max_user_instances")
}

func limit(name string) int {
	data, err := os.ReadFile("/proc/sys/fs/inotify/" + name)
	if err != nil {
		return 0
	}
	n, _ := strconv.Atoi(strings.TrimSpace(string(data))) // 0 is unknown.
	return n
}

// heldBy is who holds the lock right now, nil if nobody does. It creates nothing.
func (t *turnstile) heldBy() *Holder {
	if _, err := os.Stat(t.path); err != nil {
		return nil
	}
	lock := flock.New(t.path, flock.SetFlag(os.O_RDWR))
	if free, err := lock.TryLock(); free || err != nil {
		_ = lock.Unlock() // Closing the file frees it even when this fails.
		return nil
	}
	h := t.holder()
	return &h
}

// usersOf are the processes that have a file open, as far as the system tells.
func usersOf(path string) []Holder {
	var users []Holder
	links, _ := filepath.Glob("/proc/[0-9]*/fd/*") // No pattern error, and none elsewhere than on Linux.
	seen := map[int]bool{os.Getpid(): true}
	for _, link := range links {
		target, err := os.Readlink(link)
		if err != nil || target != path {
			continue
		}
		pid, err := strconv.Atoi(strings.Split(link, "/")[2])
		if err == nil && !seen[pid] {
			seen[pid] = true
			users = append(users, holderOf(pid))
		}
	}
	return users
}
