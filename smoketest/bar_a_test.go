package smoketest

import (
	"fmt"
	"strings"
	"testing"
)

// Bar A, invariant 5: text written in one draft shows in that draft alone,
// however fast one switches between them, and after a reload.
func TestSwitchingKeepsEachDraftsOwnText(t *testing.T) {
	h := startHome(t)
	p := h.open()
	texts := map[string]string{}
	a := p.newDraft().ID
	p.write("AAA")
	texts[a] = "AAA"
	b := p.newDraft().ID
	p.write("BBB")
	texts[b] = "BBB"

	for i := range 20 {
		id, letter := a, "a"
		if i%2 == 1 {
			id, letter = b, "b"
		}
		p.shows(id, texts[id])
		more := fmt.Sprintf(" %s%d", letter, i)
		p.write(more)
		texts[id] += more
	}
	p.saved(b)
	h.onDisk(a, texts[a])
	h.onDisk(b, texts[b])

	p.reload()
	p.shows(a, texts[a])
	p.shows(b, texts[b])
	p.shows(a, texts[a])
	if errors := p.Errors(); len(errors) > 0 {
		t.Errorf("the page threw %q", errors)
	}
}

// Bar A with what is hard to keep: every text comes back exactly, after a
// switch, after a reload and in another browser.
func TestTextsComeBackExactly(t *testing.T) {
	h := startHome(t)
	p := h.open()
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
		ids[i] = p.newDraft().ID
		p.paste(c.text)
		p.saved(ids[i])
		h.onDisk(ids[i], c.text)
	}
	check := func(p *page, when string) {
		t.Helper()
		for i, c := range texts {
			t.Logf("%s, %s: %s", when, c.name, ids[i])
			p.shows(ids[i], c.text)
		}
	}
	check(p, "after a switch")
	p.reload()
	check(p, "after a reload")
	check(h.open(), "in another browser")
	for i, c := range texts {
		h.onDisk(ids[i], c.text)
	}
}

// Bar A, CRLF: a textarea makes line feeds of them, so they come from elsewhere
// (a terminal, an import); looking at such a draft must not rewrite it.
func TestCarriageReturnsSurviveLooking(t *testing.T) {
	h := startHome(t)
	const crlf = "first\r\nsecond\r\n\r\nlast\r"
	windows, other := h.newDraft(crlf), h.newDraft("other")
	p := h.open()
	p.showsRow(windows.ID)
	for range 2 {
		p.shows(windows.ID, crlf)
		p.shows(other.ID, "other")
	}
	p.reload()
	p.shows(windows.ID, crlf)
	h.must(h.API.Flush(h.ctx))
	h.onDisk(windows.ID, crlf)
	if got := h.draft(windows.ID); got.TextRevision != windows.TextRevision || len(got.Conflicts) != 0 {
		t.Errorf("looking at the draft changed it: text revision %d -> %d, %d conflict copies",
			windows.TextRevision, got.TextRevision, len(got.Conflicts))
	}
}

// The purpose itself: two tasks written, everything closed, both found again,
// one edited and sent, the other still a draft (invariants 1, 2 and 12).
func TestWriteLeaveComeBackAndSend(t *testing.T) {
	h := startHome(t)
	p := h.open()
	first := p.newDraftWith("fix the parser")
	second := p.newDraftWith("write the changelog")
	p.Close()
	h.restart()
	h.awaitMode("full")

	p = h.open()
	p.shows(second.ID, "write the changelog")
	p.shows(first.ID, "fix the parser")
	p.write(" and test it")
	p.saved(first.ID)
	h.must(p.Enter())
	session := h.awaitSent("fix the parser and test it")
	p.hasNoRow(first.ID)
	if session != first.SessionID {
		t.Errorf("sent in session %s, the draft's was %s", session, first.SessionID)
	}
	p.shows(second.ID, "write the changelog")
}
