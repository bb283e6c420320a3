package smoketest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/desktop"
	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/dshpage"
)

// The chords, pressed by the X server in a window that a person would see:
// Ctrl+Shift+N where the window delivers it, Alt+Shift+N in an ordinary tab. The
// new draft takes the very next keys.
func TestChordsMakeADraft(t *testing.T) {
	h := startHome(t)
	screen, err := desktop.Start(h.ctx)
	h.must(err)
	h.closers = append(h.closers, screen.Close)
	press := func(window *desktop.Window, chord, text string) {
		t.Helper()
		p := h.opened(dshpage.Watch(window.Page))
		before := h.drafts()
		h.must(window.Press(h.ctx, chord))
		draft := p.awaitNewDraft(before)
		h.must(window.Type(h.ctx, text))
		p.holds(text)
		h.onDisk(draft.ID, text)
		if got := len(h.drafts()); got != len(before)+1 {
			t.Errorf("%s made %d drafts", chord, got-len(before))
		}
	}
	app, err := screen.OpenApp(h.ctx, h.profile("app"), h.URL())
	h.must(err)
	press(app, "ctrl+shift+n", "first task")
	press(app, "alt+shift+n", "second task")
	// The keys go to the one window that there is.
	h.must(app.Close())
	tab, err := screen.OpenTab(h.ctx, h.profile("tab"), h.URL())
	h.must(err)
	press(tab, "alt+shift+n", "third task")
}

// profile is a folder for a browser's profile.
func (h *home) profile(name string) string {
	h.t.Helper()
	dir := filepath.Join(h.Root, "profile-"+name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		h.t.Fatal(fmt.Errorf("make a profile: %w", err))
	}
	return dir
}
