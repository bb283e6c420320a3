package smoketest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/dshapi"
	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/dshpage"
	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/flows"
	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/rig"
)

const (
	// patience is how long a test waits for something to become true.
	patience = 30 * time.Second
	poll     = 40 * time.Millisecond
)

type flowHome = flows.Home

// home is a running harness with our bundle, and what a test does with it. Every
// method ends the test on an error.
type home struct {
	*rig.Home
	*flowHome
	driver *driver
	// work is the workspace that every home begins with.
	work dshapi.Workspace
	// pages are closed with the home, before its harness.
	pages []*dshpage.Page
	// closers run after that, the last one first.
	closers []func() error
}

// startHome starts a home with our bundle and one workspace, in full mode.
func startHome(t *testing.T) *home {
	t.Helper()
	h := newHome(t)
	h.install()
	h.start()
	h.addWork()
	h.awaitMode("full")
	return h
}

// newHome makes a home without a bundle whose harness is not started. The test
// runs beside others, and is failed when a plugin process outlives the harness.
func newHome(t *testing.T) *home {
	t.Helper()
	t.Parallel()
	made, err := rig.New(gate.tools)
	if err != nil {
		t.Fatal(err)
	}
	h := &home{Home: made, driver: &driver{Home: made}}
	h.flowHome = &flowHome{Host: h.driver, T: t, Ctx: t.Context(), Patience: patience, Secret: gate.leaks.Secret,
		Opened: func(opened flows.Tab) { h.pages = append(h.pages, opened.(*tab).Page) }}
	made.BeforeRemove = h.collect
	t.Cleanup(h.close)
	return h
}

func (h *home) close() {
	if h.T.Failed() {
		h.keepArtifacts()
	}
	for _, page := range h.pages {
		// What a page's console says is a log, too. One that hangs says nothing.
		_, _ = fmt.Fprintln(gate.leaks.Log(h.T.Name()+" console"), strings.Join(page.Console(), "\n"))
		page.Close()
	}
	for _, closer := range slices.Backward(h.closers) {
		if err := closer(); err != nil {
			h.T.Error(err)
		}
	}
	if err := h.Close(); err != nil {
		h.T.Error(err)
	}
}

// collect hands the home's logs to the search for draft texts (invariant 11), and the
// texts that its draft file has at the end.
func (h *home) collect() error {
	_, err := gate.leaks.Folder(h.T.Name(), h.Dir)
	document, missing := h.Document()
	if missing != nil {
		return err // a test of a home without a whole draft file
	}
	for _, draft := range document.Drafts {
		gate.leaks.Secret(draft.Text)
		for _, conflict := range draft.Conflicts {
			gate.leaks.Secret(conflict.Text)
		}
	}
	for _, entry := range document.Trash {
		gate.leaks.Secret(entry.Record.Text)
	}
	return err
}

// keepArtifacts prints the logs and saves screenshots of the open pages.
func (h *home) keepArtifacts() {
	dir := filepath.Join(gate.artifacts, strings.ReplaceAll(h.T.Name(), "/", "_"))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		h.T.Log("keep artifacts:", err)
		return
	}
	for i, page := range h.pages {
		path := filepath.Join(dir, fmt.Sprintf("page-%d.png", i+1))
		if err := page.Screenshot(path); err != nil {
			h.T.Logf("page %d: %v", i+1, err)
		} else {
			h.T.Log("screenshot:", path)
		}
		// A page that is closed or hangs has nothing to say.
		complaints, _ := page.Complaints()
		h.T.Logf("page %d errors: %q, not saved: %q\nconsole: %s", i+1, page.Errors(), complaints, strings.Join(page.Console(), "\n"))
	}
	if drafts, err := h.API.Drafts(context.Background()); err == nil {
		for _, draft := range drafts {
			h.T.Logf("draft %+v", draft)
		}
	}
	if !h.Running() {
		h.T.Log("the harness is not running: " + h.Ended())
	}
	h.T.Log("logs:\n" + h.Logs(60))
}

func (h *home) install() {
	h.T.Helper()
	if err := h.Install(h.Ctx, gate.bundle); err != nil {
		h.T.Fatal(err)
	}
}

func (h *home) start() {
	h.T.Helper()
	if err := h.Start(h.Ctx); err != nil {
		h.T.Fatal(err)
	}
}

// restart ends the harness with SIGTERM and starts it again on the same address.
func (h *home) restart() {
	h.T.Helper()
	if err := h.Stop(); err != nil {
		h.T.Fatal(err)
	}
	h.start()
}

func (h *home) addWork() {
	h.T.Helper()
	h.work = h.workspace("work")
	h.driver.work = h.work
}

func (h *home) workspace(name string) dshapi.Workspace {
	h.T.Helper()
	workspace, err := h.NewWorkspace(h.Ctx, name)
	if err != nil {
		h.T.Fatal(err)
	}
	return workspace
}

// awaitMode waits until the bundle is in that mode (full, paused or stock).
func (h *home) awaitMode(mode string) {
	h.T.Helper()
	h.Eventually("the bundle is in mode "+mode, func() error {
		status, err := h.API.Status(h.Ctx)
		if err != nil {
			return err
		}
		if status.Mode != mode {
			return fmt.Errorf("mode %s, reasons %+v", status.Mode, status.Reasons)
		}
		return nil
	})
}
