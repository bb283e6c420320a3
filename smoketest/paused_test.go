package smoketest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/draft-sessions/dsh-draft-sessions/shared/manifest"
	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/dshpage"
)

// Invariant 6: a draft that is opened while the plugin is down cannot be shown, and
// the page says so; what is written there meanwhile is that draft's edit.
func TestDraftOpenedWhilePausedKeepsBothTexts(t *testing.T) {
	h := newHome(t)
	h.install()
	// The process that takes the killed one's place hangs until the test lets it go.
	h.Env = append(h.Env, "DRAFT_SESSIONS_START_SECONDS=600")
	h.start()
	h.addWork()
	h.awaitMode("full")
	draft := h.MakeDraft("kept words")
	p := h.open()
	p.ShowsRow(draft.ID)
	restore := h.keepPaused()
	p.Says("paused")

	h.Must(p.OpenRow(draft.ID))
	p.Says("unseen")
	p.Writes("typed blindly")
	restore()
	p.Holds("kept words\n\ntyped blindly")
	p.Saved(draft.ID)
	h.OnDisk(draft.ID, "kept words\n\ntyped blindly")
	if got := h.Draft(draft.ID); len(got.Conflicts) != 0 {
		t.Errorf("%d conflict copies", len(got.Conflicts))
	}
}

// A plugin that cannot be started is told in DSH's list of plugins, where it is
// started again by hand; nothing else of ours is in the page. Under that dialog the
// chord for a new draft does nothing.
func TestLineInTheListOfPlugins(t *testing.T) {
	h := newHome(t)
	h.install()
	restore := h.setBinaryAside()
	h.makeOdd()
	h.beOdd("exits at once")
	h.start()
	h.addWork()
	h.awaitMode("stock")
	p := h.open()
	h.Must(p.AwaitStock(patience))
	h.Must(p.OpenPluginLine())
	p.Sees("PLUGIN_START_FAILED")
	restore()
	h.Must(p.ClickOn(`[data-drafts-action=rearm]`))
	h.awaitMode("full")
	h.Eventually("the line is gone", func() error {
		sees, err := p.SeesText("PLUGIN_START_FAILED")
		if err == nil && sees {
			err = errors.New("it is there")
		}
		return err
	})
	before := len(h.AllDrafts())
	h.Must(p.Keys(dshpage.KeyNewDraft, dshpage.KeyEscape))
	p.NewDraftWith("after it was started by hand")
	if drafts := h.AllDrafts(); len(drafts) != before+1 {
		t.Errorf("the chord made a draft under a dialog: %+v", drafts)
	}

	// Gone again, and dismissed for good.
	h.makeOdd()
	h.beOdd("exits at once")
	h.restart()
	h.awaitMode("stock")
	h.Must(p.AwaitStock(patience))
	h.Must(p.OpenPluginLine())
	h.Must(p.ClickOn(`[data-drafts-action=dismiss-line]`))
	p.Reloads()
	h.Must(p.AwaitStock(patience))
	if err := p.OpenPluginLine(); err == nil {
		t.Error("a line that was dismissed is there again")
	}
}

// keepPaused kills the plugin and lets its successor hang; what it returns lets the
// real one start.
func (h *home) keepPaused() (restore func()) {
	h.T.Helper()
	killed := h.PluginPids()
	real := h.setBinaryAside()
	h.makeOdd()
	h.beOdd("never answers")
	for _, pid := range killed {
		h.Must(syscall.Kill(pid, syscall.SIGKILL))
	}
	var odd []int
	h.Eventually("the successor hangs", func() error {
		odd = h.PluginPids()
		if len(odd) != 1 || odd[0] == killed[0] {
			return fmt.Errorf("processes %v", odd)
		}
		return nil
	})
	return func() {
		real()
		h.Must(syscall.Kill(odd[0], syscall.SIGKILL))
		h.awaitMode("full")
	}
}

// setBinaryAside keeps the real plugin and its manifest; what it returns puts them back.
func (h *home) setBinaryAside() (restore func()) {
	h.T.Helper()
	binary := h.pluginBinary()
	described := filepath.Join(filepath.Dir(binary), manifest.File)
	program, err := os.ReadFile(binary)
	h.Must(err)
	description, err := os.ReadFile(described)
	h.Must(err)
	return func() {
		h.replaceFile(described, description, 0o644)
		h.replaceFile(binary, program, 0o755)
	}
}
