package jsonstore

import (
	"context"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// The wait between two attempts at the lock: short at first, since a save takes
// a few milliseconds, then longer, since polling costs the holder.
const (
	firstLockRetry = time.Millisecond
	lastLockRetry  = 16 * time.Millisecond
)

// sidecar is the lock of one file among processes, and among stores of one
// process. The lock file stays: removing it would let two holders in.
type sidecar struct {
	path string
	wait time.Duration
}

// acquire waits for the lock until ctx ends or s.wait has passed; then the error
// is DRAFT_STORAGE_BUSY and names the process that took the lock last.
func (s sidecar) acquire(ctx context.Context) (release func(), err error) {
	lock := flock.New(s.path, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	deadline := time.NewTimer(s.wait)
	defer deadline.Stop()
	for retry := firstLockRetry; ; retry = min(2*retry, lastLockRetry) {
		locked, err := lock.TryLock()
		if err != nil {
			return nil, shared.Errorf(shared.StorageIO, "lock the draft file: %w", err)
		}
		if locked {
			s.sign()
			return func() { _ = lock.Unlock() }, nil // Closing the file frees the lock even when this fails.
		}
		select {
		case <-time.After(retry):
		case <-deadline.C:
			return nil, shared.Errorf(shared.StorageBusy, "the draft file is locked by %s", s.holder())
		case <-ctx.Done():
			return nil, shared.Errorf(shared.StorageBusy, "waiting for the lock of %s: %w", s.holder(), ctx.Err())
		}
	}
}

// sign writes our process id into the lock file, for [sidecar.holder]. It is
// information only: failing to write it is no reason to refuse a save.
func (s sidecar) sign() {
	pid := strconv.Itoa(os.Getpid()) + "\n"
	if old, err := os.ReadFile(s.path); err == nil && string(old) == pid {
		return
	}
	_ = os.WriteFile(s.path, []byte(pid), 0o600) // Information only, see above.
}

// holder names the process that took the lock last.
func (s sidecar) holder() string {
	data, err := os.ReadFile(s.path)
	pid, bad := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil || bad != nil {
		return "an unknown process"
	}
	return "process " + strconv.Itoa(pid)
}
