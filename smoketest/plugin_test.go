package smoketest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/dshpage"
)

// Invariant 8, a plugin that stays away: the page stays usable as stock, typing
// is possible, and nothing that was saved is lost.
func TestPluginThatNeverComesBack(t *testing.T) {
	h := startHome(t)
	p := h.open()
	draft := p.NewDraftWith("kept on disk")
	binary := h.pluginBinary()
	h.Must(os.Rename(binary, binary+".away"))
	for _, pid := range h.PluginPids() {
		h.Must(syscall.Kill(pid, syscall.SIGKILL))
	}
	h.Eventually("the bundle has noticed", func() error {
		status, err := h.API.Status(h.Ctx)
		if err != nil {
			return err
		}
		if status.Mode == "full" {
			return errors.New("still full")
		}
		return nil
	})
	h.Must(p.FocusComposer())
	h.Must(p.Page.Type(" still typing", dshpage.TypePause))
	if got := p.composer().Text; got != "kept on disk still typing" {
		t.Errorf("the composer holds %q", got)
	}
	h.Must(h.CheckDisk(draft.ID, "kept on disk"))
	session, err := h.API.CreateSession(h.Ctx, h.work.ID, "")
	h.Must(err)
	h.Must(h.API.Prompt(h.Ctx, session, "the harness works"))
	h.AwaitSent("the harness works")
}

// Invariant 12: removing the bundle leaves the stock page, every ordinary
// session and the draft file.
func TestRemovingTheBundleLeavesStock(t *testing.T) {
	h := startHome(t)
	p := h.open()
	draft := p.NewDraftWith("stays in the file")
	sentDraft := p.NewDraftWith("was sent")
	h.Must(p.Enter())
	h.AwaitSent("was sent")
	p.HasNoRow(sentDraft.ID)
	p.Close()
	h.Must(h.Stop())
	before, err := os.ReadFile(h.DraftFile())
	h.Must(err)
	h.Must(h.Uninstall(h.Ctx))
	h.start()

	p = h.open()
	h.Must(p.AwaitStock(patience))
	after, err := os.ReadFile(h.DraftFile())
	h.Must(err)
	if string(before) != string(after) {
		t.Error("the draft file changed")
	}
	if got := h.AwaitSent("was sent"); got != sentDraft.SessionID {
		t.Errorf("the sent session is %s, was %s", got, sentDraft.SessionID)
	}
	if status, err := h.API.Status(h.Ctx); err == nil {
		t.Errorf("the remote methods are still there: %+v", status)
	}
	if errors := p.Errors(); len(errors) > 0 {
		t.Errorf("the page threw %q", errors)
	}

	// And back again.
	h.Must(h.Stop())
	h.install()
	h.start()
	h.awaitMode("full")
	p = h.open()
	p.Shows(draft.ID, "stays in the file")
}

// pluginBinary is the path of the plugin in the home's profile.
func (h *home) pluginBinary() string {
	h.T.Helper()
	path := filepath.Join(h.bundleDir(), "bin", "draft-sessions")
	if _, err := os.Stat(path); err != nil {
		h.T.Fatal(fmt.Errorf("find the installed plugin: %w", err))
	}
	return path
}

// bundleDir is the folder of the installed bundle in the home's profile.
func (h *home) bundleDir() string {
	return filepath.Join(h.Dir, "profiles", "web", "node_modules", "draft-sessions-dsh")
}
