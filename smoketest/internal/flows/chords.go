package flows

import (
	"testing"

	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/desktop"
)

// The chords, pressed by the X server in a window that a person would see:
// Ctrl+Shift+N where the window delivers it, Alt+Shift+N in an ordinary tab. The
// new draft takes the very next keys.
func chordsMakeADraft(t *testing.T, h *Home) {
	screen, err := desktop.Start(h.Ctx)
	h.Must(err)
	t.Cleanup(func() {
		if err := screen.Close(); err != nil {
			t.Error(err)
		}
	})
	press := func(window *desktop.Window, chord, text string) {
		t.Helper()
		p := h.opened(h.Attach(window.Page))
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
	link, shown, err := h.Entry(h.Ctx)
	h.Must(err)
	app, err := screen.OpenApp(h.Ctx, t.TempDir(), link, shown)
	h.Must(err)
	press(app, "ctrl+shift+n", "first task")
	press(app, "alt+shift+n", "second task")
	// The keys go to the one window that there is.
	h.Must(app.Close())
	link, shown, err = h.Entry(h.Ctx)
	h.Must(err)
	tab, err := screen.OpenTab(h.Ctx, t.TempDir(), link, shown)
	h.Must(err)
	press(tab, "alt+shift+n", "third task")
}
