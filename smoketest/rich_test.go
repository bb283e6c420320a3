package smoketest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A picked file is a reference with a path behind a short label: the path is
// saved, comes back after a reload and in another browser, and is what is sent.
func TestPickedFileKeepsItsPath(t *testing.T) {
	const path = "src/deep/settings_reader.ts"
	h := startHome(t)
	h.Must(os.MkdirAll(filepath.Join(h.work.Path, filepath.Dir(path)), 0o755))
	h.Must(os.WriteFile(filepath.Join(h.work.Path, path), []byte("export {}\n"), 0o644))
	p := h.open()
	other := p.NewDraftWith("other")
	draft := p.NewDraft()
	h.Must(p.Write("look at @settings_re"))
	h.Must(p.PickSuggestion("settings_reader.ts"))
	h.Must(p.Write("please"))
	p.Saved(draft.ID)
	saved := h.Draft(draft.ID)
	if !strings.Contains(saved.Text, "@"+path) || !strings.HasSuffix(saved.Text, "please") {
		t.Fatalf("the saved text %q does not hold the path", saved.Text)
	}
	label := p.composer().Text
	if strings.Contains(label, path) {
		t.Logf("the composer shows the whole path: %q", label)
	}

	p.Reloads()
	p.Shows(other.ID, "other")
	p.Shows(draft.ID, label)
	another := h.open()
	another.Shows(draft.ID, label)
	if got := h.Draft(draft.ID); got.Text != saved.Text || got.ContentJSON != saved.ContentJSON || len(got.Conflicts) != 0 {
		t.Errorf("looking changed the draft: %+v, was %+v", got, saved)
	}
	another.Writes(" now")
	another.Saved(draft.ID)
	h.OnDisk(draft.ID, saved.Text+" now")
	h.Must(another.Enter())
	h.AwaitSent(saved.Text + " now")
	another.HasNoRow(draft.ID)
}

// Images are not kept yet, and the page says so while the composer holds one;
// the text beside it is kept.
func TestImagesAreSaidNotToBeKept(t *testing.T) {
	h := startHome(t)
	h.Must(h.API.UpdateSettings(h.Ctx, "llm-deepseek", map[string]any{"models": []any{
		map[string]any{"id": "deepseek-v4-flash", "inputModalities": []any{"text", "image"}}}}))
	p := h.open()
	draft := p.NewDraftWith("with a picture")
	h.Must(p.PasteImage())
	p.Sees("Images are not kept yet")
	p.Writes(" of it")
	p.Saved(draft.ID)
	h.OnDisk(draft.ID, "with a picture of it")
	p.Sees("Images are not kept yet")
	p.Reloads()
	p.Shows(draft.ID, "with a picture of it")
}
