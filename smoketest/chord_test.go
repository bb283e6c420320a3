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
	screen, err := desktop.Start(h.Ctx)
	h.Must(err)
	h.closers = append(h.closers, screen.Close)
	press := func(window *desktop.Window, chord, text string) {
		t.Helper()
		p := h.opened(dshpage.Watch(window.Page))
		before := h.AllDrafts()
		h.Must(window.Press(h.Ctx, chord))
		draft := p.AwaitNewDraft(before)
		h.Must(window.Type(h.Ctx, text))
		p.Holds(text)
		h.OnDisk(draft.ID, text)
		if got := len(h.AllDrafts()); got != len(before)+1 {
			t.Errorf("%s made %d drafts", chord, got-len(before))
		}
	}
	app, err := screen.OpenApp(h.Ctx, h.profile("app"), h.URL())
	h.Must(err)
	press(app, "ctrl+shift+n", "first task")
	press(app, "alt+shift+n", "second task")
	// The keys go to the one window that there is.
	h.Must(app.Close())
	tab, err := screen.OpenTab(h.Ctx, h.profile("tab"), h.URL())
	h.Must(err)
	press(tab, "alt+shift+n", "third task")
}

// profile is a folder for a browser's profile.
func (h *home) profile(name string) string {
	h.T.Helper()
	dir := filepath.Join(h.Root, "profile-"+name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		h.T.Fatal(fmt.Errorf("make a profile: %w", err))
	}
	return dir
}
