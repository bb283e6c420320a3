package flows

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// Bar A, invariant 5: text written in one draft shows in that draft alone,
// however fast one switches between them, and after a reload.
func switchingKeepsEachDraftsOwnText(t *testing.T, h *Home) {
	p := h.Open()
	texts := map[string]string{}
	a := p.NewDraft().ID
	p.Writes("AAA")
	texts[a] = "AAA"
	b := p.NewDraft().ID
	p.Writes("BBB")
	texts[b] = "BBB"

	for i := range 20 {
		id, letter := a, "a"
		if i%2 == 1 {
			id, letter = b, "b"
		}
		p.Shows(id, texts[id])
		more := fmt.Sprintf(" %s%d", letter, i)
		p.Writes(more)
		texts[id] += more
	}
	p.Saved(b)
	h.OnDisk(a, texts[a])
	h.OnDisk(b, texts[b])

	p.Reloads()
	p.Shows(a, texts[a])
	p.Shows(b, texts[b])
	p.Shows(a, texts[a])
	p.ThrewNothing()
}

// Bar A with what is hard to keep: every text comes back exactly, after a
// switch, after a reload and in another browser.
func textsComeBackExactly(t *testing.T, h *Home) {
	p := h.Open()
	long := strings.Repeat("The quick brown fox jumps over the lazy dog. 0123456789\n", 3600)
	texts := []struct{ name, text string }{
		{"emoji", "ship it 🚀 family 👨‍👩‍👧‍👦 flag 🇪🇺 keycap 1️⃣"},
		{"CJK", "请重构解析器，然后写测试。日本語のテキストと한국어"},
		{"combining and right to left", "e\u0301 n\u0303 \u200d \u202eabc\u202c שלום مرحبا"},
		{"lines and spaces", "  first\n\n\tsecond  \n   \nlast line\n"},
		{"looks like markup", "<b>&amp;</b> \"quotes\" 'single' \\n ${x} `code` \u2028 end"},
		{"200 kB", long},
	}
	ids := make([]string, len(texts))
	for i, c := range texts {
		ids[i] = p.NewDraft().ID
		p.Pastes(c.text)
		p.Saved(ids[i])
		h.OnDisk(ids[i], c.text)
	}
	check := func(p *Page, when string) {
		t.Helper()
		for i, c := range texts {
			t.Logf("%s, %s: %s", when, c.name, ids[i])
			p.Shows(ids[i], c.text)
		}
	}
	check(p, "after a switch")
	p.Reloads()
	check(p, "after a reload")
	check(h.Open(), "in another browser")
	for i, c := range texts {
		h.OnDisk(ids[i], c.text)
	}
}

// Bar A, CRLF: a textarea makes line feeds of them, so they come from elsewhere
// (a terminal, an import); looking at such a draft must not rewrite it.
func carriageReturnsSurviveLooking(t *testing.T, h *Home) {
	const crlf = "first\r\nsecond\r\n\r\nlast\r"
	windows, other := h.MakeDraft(crlf), h.MakeDraft("other")
	p := h.Open()
	for range 2 {
		p.Shows(windows.ID, crlf)
		p.Shows(other.ID, "other")
	}
	p.Reloads()
	p.Shows(windows.ID, crlf)
	h.Must(h.Flush(h.Ctx))
	h.OnDisk(windows.ID, crlf)
	if got := h.Draft(windows.ID); got.TextRevision != windows.TextRevision || len(got.Conflicts) != 0 {
		t.Errorf("looking at the draft changed it: text revision %d -> %d, %d conflict copies",
			windows.TextRevision, got.TextRevision, len(got.Conflicts))
	}
}

// The purpose itself: two tasks written, everything closed, both found again,
// one edited and sent, the other still a draft (invariants 1, 2 and 12).
func writeLeaveComeBackAndSend(t *testing.T, h *Home) {
	p := h.Open()
	first := p.NewDraftWith("fix the parser")
	second := p.NewDraftWith("write the changelog")
	p.Look().Close()
	h.Restart()

	p = h.Open()
	p.Shows(second.ID, "write the changelog")
	p.Shows(first.ID, "fix the parser")
	p.Writes(" and test it")
	p.Saved(first.ID)
	h.Must(p.Send())
	session := h.AwaitSent("fix the parser and test it")
	p.HasNoRow(first.ID)
	if session != first.SessionID {
		t.Errorf("sent in session %s, the draft's was %s", session, first.SessionID)
	}
	p.Shows(second.ID, "write the changelog")
}

// Reload: typing on without touching a row is saved to the draft that is shown
// (the public plugin lost such words).
func reloadThenTypeIsSaved(t *testing.T, h *Home) {
	p := h.Open()
	other := p.NewDraftWith("other")
	draft := p.NewDraftWith("before")
	p.Reloads()
	p.Holds("before")
	p.Writes(" after")
	p.Saved(draft.ID)
	h.OnDisk(draft.ID, "before after")

	// Again, with a reload that outruns the pause after which a draft is saved.
	p.Writes(" unsaved")
	p.Reloads()
	p.Holds("before after unsaved")
	p.Writes(" end")
	p.Saved(draft.ID)
	h.OnDisk(draft.ID, "before after unsaved end")
	if got := h.Draft(draft.ID); len(got.Conflicts) != 0 {
		t.Errorf("one browser alone made %d conflict copies", len(got.Conflicts))
	}
	p.Shows(other.ID, "other")
	p.Shows(draft.ID, "before after unsaved end")
}

// What cannot be saved is said, stays in the composer, and is saved once the
// reason is gone; the unreadable file is not touched (invariants 1 and 7).
func notSavedIsSaid(t *testing.T, h *Home) {
	p := h.Open()
	draft := p.NewDraftWith("on disk")
	good, err := os.ReadFile(h.DraftFile())
	h.Must(err)
	garbage := []byte("{ not JSON")
	h.Must(os.WriteFile(h.DraftFile(), garbage, 0o600))
	p.Writes(", not yet")
	h.Eventually("the page says that it is not saved", func() error {
		state, err := p.SaveState(draft.ID)
		if err == nil && state != "not_saved" {
			err = fmt.Errorf("it says %q", state)
		}
		return err
	})
	now, err := os.ReadFile(h.DraftFile())
	h.Must(err)
	if string(now) != string(garbage) {
		t.Error("the unreadable file was overwritten")
	}
	p.Holds("on disk, not yet")

	h.Must(os.WriteFile(h.DraftFile(), good, 0o600))
	p.Saved(draft.ID)
	h.OnDisk(draft.ID, "on disk, not yet")
	if got := h.Draft(draft.ID); len(got.Conflicts) != 0 {
		t.Errorf("%d conflict copies", len(got.Conflicts))
	}
}

// The draft file is replaced by an older one while drafts are open: the page says
// what happened instead of "saved", and no text goes. One draft went back: its newer
// text is a copy, which a person can keep as a draft of its own; then nothing more is
// said. The other one is not in that file: it becomes a draft again.
func anOlderFileIsPutInPlace(t *testing.T, h *Home) {
	p := h.Open()
	draft := p.NewDraftWith("old")
	old, err := os.ReadFile(h.DraftFile())
	h.Must(err)
	p.NewDraftWith("only in the newer file")
	p.Shows(draft.ID, "old")
	p.Writes(" and newer")
	p.Saved(draft.ID)

	beside := h.DraftFile() + ".backup"
	h.Must(os.WriteFile(beside, old, 0o600))
	h.Must(os.Rename(beside, h.DraftFile()))
	p.Says("conflict")
	p.Says("lost")
	h.Eventually("both texts are drafts or copies on disk", func() error {
		document, err := h.Document()
		if err != nil {
			return err
		}
		var found []string
		for _, record := range document.Drafts {
			found = append(found, record.Text)
			for _, c := range record.Conflicts {
				found = append(found, "copy: "+c.Text)
			}
		}
		if got := strings.Join(found, "|"); !strings.Contains(got, "copy: old and newer") || !strings.Contains(got, "only in the newer file") || !strings.HasPrefix(got, "old|") && !strings.Contains(got, "|old|") {
			return fmt.Errorf("it holds %s", got)
		}
		return nil
	})

	h.Must(p.KeepVersion())
	p.Holds("old")
	h.Eventually("nothing more is said of the copy", func() error {
		kinds, err := p.Notices()
		if err == nil && (slices.Contains(kinds, "conflict") || slices.Contains(kinds, "elsewhere")) {
			err = fmt.Errorf("it says %q", kinds)
		}
		return err
	})
	if h.DraftsWith("old and newer") != 1 {
		t.Errorf("the copy is there %d times", h.DraftsWith("old and newer"))
	}
	p.Writes("!")
	p.Saved(draft.ID)
	h.OnDisk(draft.ID, "old!")
	if got := h.Draft(draft.ID); len(got.Conflicts) != 0 {
		t.Errorf("%d conflict copies", len(got.Conflicts))
	}
}

// Deleting a draft leaves its session as it is (invariant 12), can be undone,
// and a deleted draft's text is in no composer afterwards.
func deleteAndUndo(t *testing.T, h *Home) {
	p := h.Open()
	other := p.NewDraftWith("other")
	draft := p.NewDraftWith("delete me")
	h.Must(p.DeleteRow(draft.ID))
	p.HasNoRow(draft.ID)
	h.Must(p.AwaitEmpty(h.Patience))
	h.hasSession(draft.SessionID)
	h.Must(p.Undo())
	p.Shows(draft.ID, "delete me")
	h.OnDisk(draft.ID, "delete me")
	h.Bound(draft.ID)
	p.Shows(other.ID, "other")
}
