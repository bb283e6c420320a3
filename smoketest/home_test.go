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
	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/rig"
)

// patience is how long a test waits for something to become true.
const patience = 30 * time.Second

// home is a running harness with our bundle, and what a test does with it. Every
// method ends the test on an error.
type home struct {
	*rig.Home
	t   *testing.T
	ctx context.Context
	// work is the workspace that every home begins with.
	work dshapi.Workspace
	// patience is how long this home's test waits; patience when nothing else is said.
	patience time.Duration
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
	h := &home{Home: made, t: t, ctx: t.Context(), patience: patience}
	made.BeforeRemove = h.collect
	t.Cleanup(h.close)
	return h
}

func (h *home) close() {
	if h.t.Failed() {
		h.keepArtifacts()
	}
	for _, page := range h.pages {
		// What a page's console says is a log, too. One that hangs says nothing.
		_, _ = fmt.Fprintln(gate.leaks.Log(h.t.Name()+" console"), strings.Join(page.Console(), "\n"))
		page.Close()
	}
	for _, closer := range slices.Backward(h.closers) {
		if err := closer(); err != nil {
			h.t.Error(err)
		}
	}
	if err := h.Close(); err != nil {
		h.t.Error(err)
	}
}

// collect hands the home's logs to the search for draft texts (invariant 11), and the
// texts that its draft file has at the end.
func (h *home) collect() error {
	_, err := gate.leaks.Folder(h.t.Name(), h.Dir)
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
	dir := filepath.Join(gate.artifacts, strings.ReplaceAll(h.t.Name(), "/", "_"))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		h.t.Log("keep artifacts:", err)
		return
	}
	for i, page := range h.pages {
		path := filepath.Join(dir, fmt.Sprintf("page-%d.png", i+1))
		if err := page.Screenshot(path); err != nil {
			h.t.Logf("page %d: %v", i+1, err)
		} else {
			h.t.Log("screenshot:", path)
		}
		// A page that is closed or hangs has nothing to say.
		complaints, _ := page.Complaints()
		h.t.Logf("page %d errors: %q, not saved: %q\nconsole: %s", i+1, page.Errors(), complaints, strings.Join(page.Console(), "\n"))
	}
	if drafts, err := h.API.Drafts(context.Background()); err == nil {
		for _, draft := range drafts {
			h.t.Logf("draft %+v", draft)
		}
	}
	if !h.Running() {
		h.t.Log("the harness is not running: " + h.Ended())
	}
	h.t.Log("logs:\n" + h.Logs(60))
}

func (h *home) install() {
	h.t.Helper()
	if err := h.Install(h.ctx, gate.bundle); err != nil {
		h.t.Fatal(err)
	}
}

func (h *home) start() {
	h.t.Helper()
	if err := h.Start(h.ctx); err != nil {
		h.t.Fatal(err)
	}
}

// restart ends the harness with SIGTERM and starts it again on the same address.
func (h *home) restart() {
	h.t.Helper()
	if err := h.Stop(); err != nil {
		h.t.Fatal(err)
	}
	h.start()
}

// crash ends the harness with SIGKILL and starts it again on the same address.
func (h *home) crash() {
	h.t.Helper()
	h.Kill()
	h.start()
}

func (h *home) addWork() {
	h.t.Helper()
	h.work = h.workspace("work")
}

func (h *home) workspace(name string) dshapi.Workspace {
	h.t.Helper()
	workspace, err := h.NewWorkspace(h.ctx, name)
	if err != nil {
		h.t.Fatal(err)
	}
	return workspace
}

// awaitMode waits until the bundle is in that mode (full, paused or stock).
func (h *home) awaitMode(mode string) {
	h.t.Helper()
	h.eventually("the bundle is in mode "+mode, func() error {
		status, err := h.API.Status(h.ctx)
		if err != nil {
			return err
		}
		if status.Mode != mode {
			return fmt.Errorf("mode %s, reasons %+v", status.Mode, status.Reasons)
		}
		return nil
	})
}

// eventually polls until check succeeds; what says what is waited for.
func (h *home) eventually(what string, check func() error) {
	h.t.Helper()
	deadline := time.Now().Add(h.patience)
	for {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			h.t.Fatalf("after %v not true that %s: %v", h.patience, what, err)
		}
		time.Sleep(40 * time.Millisecond)
	}
}

// must ends the test on an error.
func (h *home) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}
