package smoketest

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// The draft file is replaced by an older one while drafts are open: the page says
// what happened instead of "saved", and no text goes. One draft went back: its newer
// text is a copy, which a person can keep as a draft of its own; then nothing more is
// said. The other one is not in that file: it becomes a draft again.
func TestAnOlderFileIsPutInPlace(t *testing.T) {
	h := startHome(t)
	p := h.open()
	draft := p.newDraftWith("old")
	old, err := os.ReadFile(h.DraftFile())
	h.must(err)
	p.newDraftWith("only in the newer file")
	p.shows(draft.ID, "old")
	p.write(" and newer")
	p.saved(draft.ID)

	beside := h.DraftFile() + ".backup"
	h.must(os.WriteFile(beside, old, 0o600))
	h.must(os.Rename(beside, h.DraftFile()))
	p.says("conflict")
	p.says("lost")
	p.seesText("this draft went back to an older text")
	h.eventually("both texts are drafts or copies on disk", func() error {
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

	h.must(p.ClickOn(`[data-drafts-action=versions]`))
	h.must(p.ClickOn(`[data-drafts-dialog] [data-drafts-action=keep]`))
	h.must(p.ClickOn(`[data-drafts-dialog] .dss-close`))
	p.holds("old")
	h.eventually("nothing more is said of the copy", func() error {
		notices, err := p.Notices()
		if err != nil {
			return err
		}
		for _, notice := range notices {
			if notice.Kind == "conflict" || notice.Kind == "elsewhere" {
				return fmt.Errorf("it says %+v", notice)
			}
		}
		return nil
	})
	p.write("!")
	p.saved(draft.ID)
	h.onDisk(draft.ID, "old!")
	if got := h.draft(draft.ID); len(got.Conflicts) != 0 {
		t.Errorf("%d conflict copies", len(got.Conflicts))
	}
}
