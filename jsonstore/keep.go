package jsonstore

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
)

// How backups are kept.
const (
	// keepEvery is the time between two backups.
	keepEvery = time.Hour
	// One an hour is kept for keepHours, one a day for keepDays.
	keepHours = 24 * time.Hour
	keepDays  = 7 * 24 * time.Hour
	// MaxBackupBytes bounds all backups together; the newest is kept anyway.
	MaxBackupBytes = 512 << 20
	// keepRetry is the time after a backup that failed.
	keepRetry = 10 * time.Minute
	// BackupFolder stands beside the file.
	// BackupFolder holds the backups, beside the file.
	BackupFolder = "backups"
	// backupTime is how a name tells when.
	backupTime = "20060102T150405Z"
)

// keptBackup is one good generation in the backup folder.
type keptBackup struct {
	path       string
	at         time.Time
	generation int64
	size       int64
}

// keeper writes backups. Its goroutine is the store's, one at a time.
type keeper struct {
	disk *disk // of the backup folder: its path is that of no file
	stem string
	ext  string
	now  func() time.Time
	log  hclog.Logger

	busy atomic.Bool
	due  atomic.Int64 // when to look again, in Unix nanoseconds
}

func newKeeper(fsys FS, path string, now func() time.Time, log hclog.Logger) *keeper {
	dir, ext := filepath.Join(filepath.Dir(path), BackupFolder), filepath.Ext(path)
	return &keeper{
		disk: &disk{fs: fsys, dir: dir, path: filepath.Join(dir, filepath.Base(path))},
		stem: strings.TrimSuffix(filepath.Base(path), ext), ext: ext, now: now, log: log,
	}
}

// keep has the snapshot's lines backed up if it is time. It is the committer's;
// the work is not.
func (s *Store[D]) keep() {
	k := s.keeper
	if k == nil || s.lines == nil || s.State().Code != "" || !k.isDue() || !k.busy.CompareAndSwap(false, true) {
		return
	}
	lines, generation := s.lines, s.State().Generation
	s.running.Go(func() {
		defer k.busy.Store(false)
		at := k.now()
		next, err := k.write(lines, generation, at)
		if err != nil {
			next = at.Add(keepRetry)
			k.log.Warn("cannot keep a backup of the drafts", "error", err)
		}
		k.due.Store(next.UnixNano())
	})
}

// isDue tells whether it is time. One that is further away than it ever is was
// set before the clock went back.
func (k *keeper) isDue() bool {
	wait := k.due.Load() - k.now().UnixNano()
	return wait <= 0 || wait > int64(keepEvery)
}

// write keeps lines if the newest backup is old enough, and returns when the
// next one is due. A backup is on disk when it returns.
func (k *keeper) write(lines [][]byte, generation int64, at time.Time) (next time.Time, err error) {
	if err := makeDir(k.disk.fs, k.disk.dir); err != nil {
		return at, err
	}
	kept, err := k.list()
	if err != nil {
		return at, err
	}
	if len(kept) > 0 {
		if age := at.Sub(kept[0].at); age >= 0 && age < keepEvery {
			return kept[0].at.Add(keepEvery), nil
		}
		if kept[0].generation == generation {
			return at.Add(keepEvery), nil
		}
	}
	temp, f, err := k.disk.writeTemp(lines)
	if err != nil {
		return at, err
	}
	name := filepath.Join(k.disk.dir, fmt.Sprintf("%s.%s.%d%s", k.stem, at.UTC().Format(backupTime), generation, k.ext))
	if err := k.disk.fs.Rename(temp, name); err != nil {
		return at, k.disk.discard(temp, f, err)
	}
	if err := errors.Join(f.Close(), k.disk.syncDir()); err != nil {
		return at, err
	}
	return at.Add(keepEvery), k.prune(at)
}

// list are the backups there are, newest first. Those of the future are last: the
// clock was wrong when they were made, and nobody knows by how much.
func (k *keeper) list() ([]keptBackup, error) {
	names, err := k.disk.fs.ReadDir(k.disk.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the backups: %w", err)
	}
	var kept []keptBackup
	for _, name := range names {
		if b, ok := k.parse(name); ok {
			if info, err := k.disk.fs.Stat(b.path); err == nil {
				b.size = info.Size()
				kept = append(kept, b)
			}
		}
	}
	now := k.now()
	future := func(b keptBackup) int {
		if b.at.After(now) {
			return 1
		}
		return 0
	}
	slices.SortFunc(kept, func(a, b keptBackup) int {
		return cmp.Or(cmp.Compare(future(a), future(b)), b.at.Compare(a.at), cmp.Compare(b.generation, a.generation))
	})
	return kept, nil
}

// parse reads a backup's name.
func (k *keeper) parse(name string) (keptBackup, bool) {
	rest, ok := strings.CutPrefix(name, k.stem+".")
	rest, okExt := strings.CutSuffix(rest, k.ext)
	stamp, number, okParts := strings.Cut(rest, ".")
	at, errTime := time.Parse(backupTime, stamp)
	generation, errNumber := strconv.ParseInt(number, 10, 64)
	if !ok || !okExt || !okParts || errTime != nil || errNumber != nil {
		return keptBackup{}, false
	}
	return keptBackup{path: filepath.Join(k.disk.dir, name), at: at, generation: generation}, true
}

// prune removes what need not be kept, and what a killed writer left.
func (k *keeper) prune(now time.Time) error {
	kept, err := k.list()
	if err != nil {
		return err
	}
	for _, b := range surplus(kept, now) {
		if removeErr := k.disk.fs.Remove(b.path); !errors.Is(removeErr, fs.ErrNotExist) {
			err = errors.Join(err, removeErr)
		}
	}
	names, errList := k.disk.fs.ReadDir(k.disk.dir)
	for _, name := range names {
		path := filepath.Join(k.disk.dir, name)
		// Another process may be writing one right now.
		if info, errStat := k.disk.fs.Stat(path); k.disk.isTemp(name) && errStat == nil && time.Since(info.ModTime()) > keepEvery {
			err = errors.Join(err, k.disk.fs.Remove(path))
		}
	}
	return errors.Join(err, errList)
}

// surplus are those of the backups, newest first, that need not be kept: of each
// hour of the last day, of each day of the last week, the newest one is. The
// newest of all is never among them, nor, for a clock that went back, what is of
// the future.
func surplus(kept []keptBackup, now time.Time) []keptBackup {
	var drop []keptBackup
	seen := map[time.Time]bool{}
	bytes := int64(0)
	for i, b := range kept {
		age, slot := now.Sub(b.at), b.at.Truncate(time.Hour)
		if age >= keepHours {
			// Half a second tells a day's slot from that of its first hour.
			slot = b.at.Truncate(24 * time.Hour).Add(time.Second / 2)
		}
		bytes += b.size
		if i > 0 && (age >= keepDays || seen[slot] || bytes > MaxBackupBytes) {
			drop = append(drop, b)
			bytes -= b.size
			continue
		}
		seen[slot] = true
	}
	return drop
}
