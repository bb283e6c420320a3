package standalone_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/draft-sessions/dsh-draft-sessions/host/dsh"
	"github.com/draft-sessions/dsh-draft-sessions/internal/leaks"
	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/browser"
	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/standalone"
)

// pageSource is the page's folder in the source.
var pageSource = filepath.Join("host", "standalone", "web")

// gate is what all tests share; it is set once, before the first test.
var gate struct {
	tools  *dsh.Toolchain
	source string
	dir    string
	// leaks searches all hosts' logs for the texts of the flows' drafts.
	leaks leaks.Suite
}

// built and chromium are made by the first test that needs them.
var (
	built    = sync.OnceValues(func() (string, error) { return standalone.Build(context.Background(), gate.source, gate.dir) })
	chromium = sync.OnceValues(func() (*browser.Browser, error) { return browser.Start(filepath.Join(gate.dir, "chromium")) })
	started  atomic.Bool
)

func theBrowser(t testing.TB) *browser.Browser {
	t.Helper()
	started.Store(true)
	b, err := chromium()
	must(t, err)
	return b
}

func TestMain(m *testing.M) {
	code, err := runGate(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "smoketest/standalone:", err)
		code = 1
	}
	os.Exit(code)
}

func runGate(m *testing.M) (code int, err error) {
	if gate.dir, err = os.MkdirTemp("", "ds-page-"); err != nil {
		return 1, err
	}
	defer func() { _ = os.RemoveAll(gate.dir) }()
	ctx := context.Background()
	if gate.source, err = filepath.Abs(filepath.Join("..", "..")); err != nil {
		return 1, err
	}
	if gate.tools, err = dsh.Prepare(ctx, dsh.Options{Progress: os.Stderr}); err != nil {
		return 1, err
	}
	if err := gate.tools.Dependencies(ctx, pageSource); err != nil {
		return 1, err
	}
	code = m.Run()
	seen := []string{"drafts are on"}
	if flag.Lookup("test.run").Value.String() != "" {
		seen = nil // only some of the tests
	}
	leaked := gate.leaks.Check(seen...)
	fmt.Println(gate.leaks.String())
	if !started.Load() {
		return code, leaked
	}
	b, err := chromium()
	if err != nil {
		return 1, err
	}
	return code, errors.Join(leaked, b.Close())
}
