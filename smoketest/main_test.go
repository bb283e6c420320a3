package smoketest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/draft-sessions/dsh-draft-sessions/host/dsh"
	"github.com/draft-sessions/dsh-draft-sessions/internal/leaks"
	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/browser"
)

// envArtifacts names a folder for screenshots and logs of failed tests; without
// it they go to a new temporary folder.
const envArtifacts = "DRAFT_SESSIONS_ARTIFACTS"

// gate is what all tests share; it is set once, before the first test.
var gate struct {
	tools *dsh.Toolchain
	// bundle is the staged bundle, built from this checkout.
	bundle  string
	browser *browser.Browser
	// leaks searches all logs of all tests for the texts of their drafts.
	leaks leaks.Suite
	// artifacts exists once a test has failed.
	artifacts string
}

func TestMain(m *testing.M) {
	code, err := runGate(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "smoketest:", err)
		code = 1
	}
	os.Exit(code)
}

func runGate(m *testing.M) (code int, err error) {
	dir, err := os.MkdirTemp("", "ds-gate-")
	if err != nil {
		return 1, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	gate.artifacts = os.Getenv(envArtifacts)
	if gate.artifacts == "" {
		gate.artifacts = filepath.Join(os.TempDir(), fmt.Sprintf("draft-sessions-failed-%d", os.Getpid()))
	}
	ctx := context.Background()
	if gate.tools, err = dsh.Prepare(ctx, dsh.Options{Progress: os.Stderr, DSH: os.Getenv(dsh.EnvSmoke)}); err != nil {
		return 1, err
	}
	gate.bundle = filepath.Join(dir, "bundle")
	if err := gate.tools.Stage(ctx, gate.bundle); err != nil {
		return 1, err
	}
	if gate.browser, err = browser.Start(filepath.Join(dir, "chromium")); err != nil {
		return 1, err
	}
	code = m.Run()
	seen := []string{"drafts are on", "drafts are off", "dsh web:"}
	if f := flag.Lookup("test.run"); f.Value.String() != "" {
		seen = nil // only some of the tests
	}
	leaked := gate.leaks.Check(seen...)
	fmt.Println(gate.leaks.String())
	return code, errors.Join(leaked, gate.browser.Close())
}
