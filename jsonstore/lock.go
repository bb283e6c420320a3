package jsonstore

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// turnstile is the lock of one file among processes, and among stores of one
// process: two lock files, both of which stay, since removing one would let two
// holders in. Whoever wants the main lock waits for it while holding the queue
// lock, so at most one process waits for the main one, and the kernel wakes that
// one: nobody polls, and nobody is overtaken twice.
//
// A wait inside the kernel cannot be interrupted. So it is a goroutine's, which
// hands the lock over when there is somebody to take it; where nobody waits there
// is none. It is used by one goroutine at a time.
type turnstile struct {
	path string // of the main lock file

	mu     sync.Mutex
	signed fs.FileInfo // the lock file as we signed it last; guarded by mu

	got     chan holding  // nil while nothing is asked for
	unasked chan struct{} // closed when nobody will take the lock any more
	waiting sync.WaitGroup
}

// holding is the lock, or why there is none.
type holding struct {
	release func()
	err     error
}

func newTurnstile(file string) *turnstile { return &turnstile{path: file + ".lock"} }

func (t *turnstile) queuePath() string { return strings.TrimSuffix(t.path, ".lock") + ".queue.lock" }

// ask asks for the lock, unless it is asked for already, and returns where it
// will come. Whoever receives it calls received.
func (t *turnstile) ask() <-chan holding {
	if t.got == nil {
		got, unasked := make(chan holding), make(chan struct{})
		t.got, t.unasked = got, unasked
		t.waiting.Go(func() {
			h := t.take(unasked)
			select {
			case got <- h:
			case <-unasked:
				if h.err == nil {
					h.release()
				}
			}
		})
	}
	return t.got
}

// asked is where a lock comes that was asked for, nil if none was.
func (t *turnstile) asked() <-chan holding { return t.got }

func (t *turnstile) received() { t.got, t.unasked = nil, nil }

// within is the lock for one use, waited for no longer than patience.
func (t *turnstile) within(ctx context.Context, patience time.Duration) (release func(), err error) {
	overdue := time.NewTimer(patience)
	defer overdue.Stop()
	if h, ok := t.try(); ok {
		return h.release, nil
	}
	select {
	case h := <-t.ask():
		t.received()
		return h.release, h.err
	case <-overdue.C:
		err = shared.Errorf(shared.StorageBusy, "the draft file is locked by %s", t.holder())
	case <-ctx.Done():
		err = shared.Errorf(shared.StorageBusy, "waiting for the lock of %s: %w", t.holder(), ctx.Err())
	}
	t.end(0)
	return nil, err
}

// end gives up what is asked for. It waits for the goroutines, but not for longer
// than patience: while another process keeps the lock, one of them stays behind.
func (t *turnstile) end(patience time.Duration) {
	if t.got != nil {
		close(t.unasked)
		t.received()
	}
	over := make(chan struct{})
	go func() { t.waiting.Wait(); close(over) }() // Ends with the last one it waits for.
	select {
	case <-over:
	case <-time.After(patience):
	}
}

// try takes the lock if nobody holds it and nobody waits for it.
func (t *turnstile) try() (holding, bool) {
	if t.got != nil {
		return holding{}, false // Ours is on its way.
	}
	queue, _, err := lockFile(t.queuePath(), (*flock.Flock).TryLock)
	if err != nil || queue == nil {
		return holding{}, false // The wait will tell.
	}
	defer unlock(queue)
	main, info, err := lockFile(t.path, (*flock.Flock).TryLock)
	if err != nil || main == nil {
		return holding{}, false
	}
	t.sign(main, info)
	return holding{release: func() { unlock(main) }}, true
}

// take waits for the lock, however long it takes, but does not go on waiting when
// nobody asks for it any more.
func (t *turnstile) take(unasked <-chan struct{}) holding {
	wait := func(lock *flock.Flock) (bool, error) {
		select {
		case <-unasked:
			return false, nil
		default:
			return true, lock.Lock()
		}
	}
	queue, _, err := lockFile(t.queuePath(), wait)
	if err != nil || queue == nil {
		return holding{err: notLocked(err)}
	}
	defer unlock(queue)
	main, info, err := lockFile(t.path, wait)
	if err != nil || main == nil {
		return holding{err: notLocked(err)}
	}
	t.sign(main, info)
	return holding{release: func() { unlock(main) }}
}

func notLocked(cause error) error {
	return shared.Errorf(shared.StorageIO, "lock the draft file: %w", cmp.Or(cause, context.Canceled))
}

func unlock(lock *flock.Flock) {
	_ = lock.Unlock() // Closing the file frees the lock even when this fails.
}

// lockFile is the lock of the file that has that name when it has it, and that
// file: a removed lock file locks nothing. It is nil when get does not get it.
func lockFile(path string, get func(*flock.Flock) (bool, error)) (*flock.Flock, fs.FileInfo, error) {
	for {
		lock := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
		got, err := get(lock)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case err != nil:
			return nil, nil, err
		case !got:
			return nil, nil, lock.Close()
		}
		mine, err := lock.Stat()
		if err == nil {
			if named, errNamed := os.Stat(path); errNamed == nil && os.SameFile(mine, named) {
				return lock, mine, nil
			}
		}
		if unlockErr := lock.Unlock(); unlockErr != nil {
			return nil, nil, errors.Join(err, unlockErr)
		}
	}
}

// sign writes our process id into the lock file that is held, unless it is there,
// for where the system cannot tell who holds it. Failing to write it is no reason
// to refuse a save.
func (t *turnstile) sign(held *flock.Flock, now fs.FileInfo) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.signed != nil && os.SameFile(now, t.signed) && now.ModTime().Equal(t.signed.ModTime()) {
		return
	}
	t.signed = nil
	f, err := os.OpenFile(t.path, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return
	}
	_, err = f.WriteString(strconv.Itoa(os.Getpid()) + "\n")
	if errors.Join(err, f.Close()) == nil {
		t.signed, _ = held.Stat() // Nil is signed again next time.
	}
}

// Holder is a process that holds a lock. PID is 0 and Command "" where unknown.
type Holder struct {
	PID     int    `json:"pid,omitzero"`
	Command string `json:"command,omitempty"`
}

func (h Holder) String() string {
	if h.PID == 0 {
		return "an unknown process"
	}
	name := "process " + strconv.Itoa(h.PID)
	if h.Command != "" {
		name += " (" + h.Command + ")"
	}
	return name
}

// holder is who holds the main lock, else who holds the queue's, else who held
// the main lock last.
func (t *turnstile) holder() Holder {
	for _, path := range []string{t.path, t.queuePath()} {
		if pid := flockHolder(path); pid > 0 {
			return holderOf(pid)
		}
	}
	data, err := os.ReadFile(t.path)
	pid, bad := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil || bad != nil || pid <= 0 {
		return Holder{}
	}
	return holderOf(pid)
}

// holderOf names a process; the command is known on Linux only.
func holderOf(pid int) Holder {
	command, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/comm")
	if err != nil {
		return Holder{PID: pid}
	}
	return Holder{PID: pid, Command: strings.TrimSpace(string(command))}
}

// flockHolder is the process that holds the flock of a file, 0 where nobody does
// or the system does not tell: Linux lists it by inode.
func flockHolder(path string) int {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0
	}
	locks, err := os.ReadFile("/proc/locks")
	if err != nil {
		return 0
	}
	inode := ":" + strconv.FormatUint(stat.Ino, 10)
	for line := range strings.Lines(string(locks)) {
		// 1: FLOCK ADVISORY WRITE <pid> <major>:<minor>:<inode> 0 EOF
		fields := strings.Fields(line)
		if len(fields) >= 6 && fields[1] == "FLOCK" && strings.HasSuffix(fields[5], inode) {
			if pid, err := strconv.Atoi(fields[4]); err == nil {
				return pid
			}
		}
	}
	return 0
}
