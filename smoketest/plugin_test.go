package smoketest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Invariant 8: the plugin is killed while the page is open. The harness lives,
// the page says that drafts are paused, what is typed meanwhile stays in the
// composer and is saved when the plugin is back.
func TestPluginKilledWhileTyping(t *testing.T) {
	h := startHome(t)
	p := h.open()
	other := p.newDraftWith("other")
	draft := p.newDraftWith("before")
	harness := h.Pid()
	h.must(p.FocusComposer())

	for _, pid := range h.PluginPids() {
		h.must(syscall.Kill(pid, syscall.SIGKILL))
	}
	h.must(p.Type(" typed while it was down", keyPause))
	if got := p.composer().Text; got != "before typed while it was down" {
		t.Errorf("the composer holds %q", got)
	}
	p.says("paused")
	h.awaitMode("full")
	p.holds("before typed while it was down")
	p.saved(draft.ID)
	h.onDisk(draft.ID, "before typed while it was down")
	if !h.Running() || h.Pid() != harness {
		t.Error("the harness did not live on")
	}
	if pids := h.PluginPids(); len(pids) != 1 {
		t.Errorf("plugin processes %v, want one", pids)
	}
	if got := h.draft(draft.ID); len(got.Conflicts) != 0 {
		t.Errorf("%d conflict copies", len(got.Conflicts))
	}
	p.write(", and after")
	p.saved(draft.ID)
	h.onDisk(draft.ID, "before typed while it was down, and after")
	p.shows(other.ID, "other")
}

// Invariant 8, a plugin that stays away: the page stays usable as stock, typing
// is possible, and nothing that was saved is lost.
func TestPluginThatNeverComesBack(t *testing.T) {
	h := startHome(t)
	p := h.open()
	draft := p.newDraftWith("kept on disk")
	binary := h.pluginBinary()
	h.must(os.Rename(binary, binary+".away"))
	for _, pid := range h.PluginPids() {
		h.must(syscall.Kill(pid, syscall.SIGKILL))
	}
	h.eventually("the bundle has noticed", func() error {
		status, err := h.API.Status(h.ctx)
		if err != nil {
			return err
		}
		if status.Mode == "full" {
			return errors.New("still full")
		}
		return nil
	})
	h.must(p.FocusComposer())
	h.must(p.Type(" still typing", keyPause))
	if got := p.composer().Text; got != "kept on disk still typing" {
		t.Errorf("the composer holds %q", got)
	}
	h.must(h.checkDisk(draft.ID, "kept on disk"))
	session, err := h.API.CreateSession(h.ctx, h.work.ID, "")
	h.must(err)
	h.must(h.API.Prompt(h.ctx, session, "the harness works"))
	h.awaitSent("the harness works")
}

// Invariant 12: removing the bundle leaves the stock page, every ordinary
// session and the draft file.
func TestRemovingTheBundleLeavesStock(t *testing.T) {
	h := startHome(t)
	p := h.open()
	draft := p.newDraftWith("stays in the file")
	sentDraft := p.newDraftWith("was sent")
	h.must(p.Enter())
	h.awaitSent("was sent")
	p.hasNoRow(sentDraft.ID)
	p.Close()
	h.must(h.Stop())
	before, err := os.ReadFile(h.DraftFile())
	h.must(err)
	h.must(h.Uninstall(h.ctx))
	h.start()

	p = h.open()
	h.must(p.AwaitStock(patience))
	after, err := os.ReadFile(h.DraftFile())
	h.must(err)
	if string(before) != string(after) {
		t.Error("the draft file changed")
	}
	if got := h.awaitSent("was sent"); got != sentDraft.SessionID {
		t.Errorf("the sent session is %s, was %s", got, sentDraft.SessionID)
	}
	if status, err := h.API.Status(h.ctx); err == nil {
		t.Errorf("the remote methods are still there: %+v", status)
	}
	if errors := p.Errors(); len(errors) > 0 {
		t.Errorf("the page threw %q", errors)
	}

	// And back again.
	h.must(h.Stop())
	h.install()
	h.start()
	h.awaitMode("full")
	p = h.open()
	p.shows(draft.ID, "stays in the file")
}

// pluginBinary is the path of the plugin in the home's profile.
func (h *home) pluginBinary() string {
	h.t.Helper()
	path := filepath.Join(h.bundleDir(), "bin", "draft-sessions")
	if _, err := os.Stat(path); err != nil {
		h.t.Fatal(fmt.Errorf("find the installed plugin: %w", err))
	}
	return path
}

// bundleDir is the folder of the installed bundle in the home's profile.
func (h *home) bundleDir() string {
	return filepath.Join(h.Dir, "profiles", "web", "node_modules", "draft-sessions-dsh")
}
