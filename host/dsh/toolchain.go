package dsh

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// EnvCache overrides the cache folder of [Prepare].
const EnvCache = "DRAFT_SESSIONS_CACHE"

// lockPoll is how often a process that waits for another's install asks again.
const lockPoll = 200 * time.Millisecond

// Options configure [Prepare]; the zero value is usable.
type Options struct {
	// CacheDir holds what is installed (about 500 MB): $DRAFT_SESSIONS_CACHE, or
	// draft-sessions in the user's cache folder, when empty.
	CacheDir string
	// Source is the folder of this project's go.mod; found above the working
	// directory when empty.
	Source string
	// Progress gets a line for each step that takes time; nil for silence.
	Progress io.Writer
	// DSH is the folder of an installed DSH to use as it is: the package's own, that
	// of a project that depends on it, or npm's prefix. "" installs one.
	DSH string
	// DSHVersion is the release to install; the newest tested one when empty.
	DSHVersion string
}

// Toolchain is a Node, a pnpm and a DSH that work together.
// It is immutable after [Prepare] and safe for concurrent use.
type Toolchain struct {
	// CacheDir is where everything lies.
	CacheDir string
	// Node is the Node binary that DSH runs on.
	Node string
	// DSH is the JavaScript entry of DSH's command, to be run with Node.
	DSH string
	// DSHVersion is the version of that DSH.
	DSHVersion string

	source   string
	path     string
	progress io.Writer
}

// Prepare makes the toolchain ready: nothing is downloaded when it already is.
// Several processes may prepare one cache folder at once, one of them installs;
// an install that was interrupted is done again. It needs npm on the PATH.
func Prepare(ctx context.Context, opts Options) (*Toolchain, error) {
	last := (*Toolchain).prepareDSH
	if opts.DSH != "" {
		last = useDSH(opts.DSH)
	}
	return prepare(ctx, opts, (*Toolchain).prepareNode, (*Toolchain).preparePnpm, last)
}

// PrepareBuild is [Prepare] for building only ([Toolchain.Stage], [Toolchain.Package]):
// it brings no DSH and no pnpm.
func PrepareBuild(ctx context.Context, opts Options) (*Toolchain, error) {
	return prepare(ctx, opts, (*Toolchain).prepareNode)
}

func prepare(ctx context.Context, opts Options, steps ...func(*Toolchain, context.Context) error) (*Toolchain, error) {
	t := &Toolchain{CacheDir: opts.CacheDir, source: opts.Source, progress: opts.Progress}
	if t.progress == nil {
		t.progress = io.Discard
	}
	var err error
	if t.CacheDir == "" {
		if t.CacheDir, err = defaultCacheDir(); err != nil {
			return nil, err
		}
	}
	if t.source == "" {
		if t.source, err = findSource(); err != nil {
			return nil, err
		}
	}
	if t.DSHVersion = opts.DSHVersion; t.DSHVersion == "" {
		if t.DSHVersion, err = pinnedDSH(); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(t.CacheDir, 0o755); err != nil {
		return nil, fmt.Errorf("create the cache folder: %w", err)
	}
	unlock, err := t.lock(ctx, "toolchain")
	if err != nil {
		return nil, err
	}
	defer unlock()
	for _, step := range steps {
		if err := step(t, ctx); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func defaultCacheDir() (string, error) {
	if dir := os.Getenv(EnvCache); dir != "" {
		return filepath.Abs(dir)
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the cache folder (set %s): %w", EnvCache, err)
	}
	return filepath.Join(dir, "draft-sessions"), nil
}

func findSource() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the source folder: %w", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "compatibility.json")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("find the source folder: not inside a checkout of draft-sessions")
		}
		dir = parent
	}
}

// pinnedDSH is the newest tested version in compatibility.json.
func pinnedDSH() (string, error) {
	tested, err := testedDSH()
	if err != nil {
		return "", err
	}
	if len(tested) == 0 {
		return "", errors.New("compatibility.json names no tested version of dsh")
	}
	return tested[len(tested)-1], nil
}

// lock holds the named lock of the cache folder, across processes, until unlock.
func (t *Toolchain) lock(ctx context.Context, name string) (unlock func(), err error) {
	l := flock.New(filepath.Join(t.CacheDir, name+".lock"))
	held, err := l.TryLock()
	if err == nil && !held {
		t.say("waiting for another process that installs into %s", t.CacheDir)
		_, err = l.TryLockContext(ctx, lockPoll)
	}
	if err != nil {
		return nil, fmt.Errorf("lock the cache folder: %w", err)
	}
	return func() { _ = l.Unlock() }, nil
}

func (t *Toolchain) say(format string, args ...any) {
	_, _ = fmt.Fprintf(t.progress, format+"\n", args...)
}
