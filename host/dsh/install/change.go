package install

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

const (
	// pluginWithin bounds one `dsh plugin`; pnpm may have to fetch what a profile lacks.
	pluginWithin = 5 * time.Minute
	// lockWithin is how long one install waits for another, lockAgain how often it asks.
	lockWithin = time.Minute
	lockAgain  = 50 * time.Millisecond
)

// Options say which profile of which home is changed, with which DSH.
type Options struct {
	DSH *DSH
	// Home is the DSH_HOME, as an absolute path; it is made when needed.
	Home string
	// Profile is the profile's name, such as "web".
	Profile string
	// Progress gets a line before each step that takes time; nil for silence.
	Progress func(line string)
}

func (o Options) say(format string, args ...any) {
	if o.Progress != nil {
		o.Progress(fmt.Sprintf(format, args...))
	}
}

// change holds what Add and Remove have in common.
type change struct {
	Options
	before snapshot
	unlock func()
}

// begin checks the options, takes the home's lock and remembers the profile.
func begin(ctx context.Context, o Options) (*change, error) {
	if err := knownProfile(o.Home, o.Profile); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(storage(o.Home), 0o700); err != nil {
		return nil, shared.Errorf(shared.StorageIO, "make the home: %w", err)
	}
	lock := flock.New(filepath.Join(storage(o.Home), "install.lock"))
	waiting, cancel := context.WithTimeout(ctx, lockWithin)
	defer cancel()
	if _, err := lock.TryLockContext(waiting, lockAgain); errors.Is(err, context.DeadlineExceeded) {
		return nil, shared.Errorf(shared.StorageBusy, "another install or uninstall of this home is at work; try again")
	} else if err != nil {
		return nil, shared.Errorf(shared.StorageIO, "lock the home: %w", err)
	}
	c := &change{Options: o, unlock: func() { _ = lock.Unlock() }}
	var err error
	if c.before, err = take(o.Home, o.Profile); err != nil {
		c.unlock()
		return nil, err
	}
	return c, nil
}

// plugin runs DSH's own command on the profile.
func (c *change) plugin(ctx context.Context, args ...string) error {
	if _, err := exec.LookPath("pnpm"); err != nil {
		return shared.Errorf(PnpmMissing, "DSH changes its profiles with pnpm, and there is none on the PATH; install it (npm install -g pnpm@10) and try again")
	}
	argv := append([]string{}, c.DSH.Command...)
	argv = append(append(argv, "plugin", "--profile", c.Profile), args...)
	out, err := run(ctx, pluginWithin, c.Home, []string{"DSH_HOME=" + c.Home}, argv...)
	if err != nil {
		return shared.Errorf(DSHFailed, "dsh plugin --profile %s %s: %w\n%s", c.Profile, args[0], err, out)
	}
	return nil
}

// undo brings the profile back to what it was and gives the error that says so.
func (c *change) undo(ctx context.Context, cause error) error {
	code := shared.CodeOf(cause)
	c.say("that failed; putting the profile back")
	err := c.before.restore()
	if err == nil && c.before.existed {
		err = c.settle(context.WithoutCancel(ctx))
		// What pnpm has just installed it has also written down in its own way.
		err = errors.Join(err, c.before.restore(), c.dropMissing())
	}
	if err != nil {
		return shared.Errorf(code, "%w\nPutting the profile back failed too: %v. Run `dsh plugin --profile %s install`. Drafts are kept in %s.",
			cause, err, c.Profile, storage(c.Home))
	}
	return shared.Errorf(code, "%w\nNothing was changed: the profile %s is as it was, drafts are kept in %s.", cause, c.Profile, storage(c.Home))
}

// settle makes what is installed in the profile fit its files again.
func (c *change) settle(ctx context.Context) error {
	s, err := look(c.Home, c.Profile)
	if err != nil {
		return err
	}
	if s.mentions() == (s.installed != "") && sameBundle(s) {
		return nil
	}
	return c.plugin(ctx, "install", "--prefer-offline")
}

// dropMissing takes the bundle out of a profile that names one which is not there:
// DSH would not start.
func (c *change) dropMissing() error {
	s, err := look(c.Home, c.Profile)
	if err == nil && s.listed && s.installed == "" {
		err = unlist(c.Home, c.Profile)
	}
	return err
}

// sameBundle tells whether what is installed is what the profile depends on, as far
// as that is a folder.
func sameBundle(s state) bool {
	from, ok := strings.CutPrefix(s.dependency, "file:")
	if !ok || s.installed == "" {
		return true
	}
	wanted, err := readFolder(from)
	if err != nil {
		return true // nothing to compare with
	}
	there, err := readFolder(s.installed)
	return err == nil && wanted.digest() == there.digest()
}
