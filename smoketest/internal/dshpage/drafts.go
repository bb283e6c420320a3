package dshpage

import (
	"fmt"
	"time"

	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/browser"
)

// Row is one of our rows, as it is shown.
type Row struct {
	ID       string `json:"id"`
	Title    string `json:"title"`
	Selected bool   `json:"selected"`
}

// StockRow is a session row of the page itself.
type StockRow struct {
	Title    string `json:"title"`
	Selected bool   `json:"selected"`
}

// Notice is one of our notices, as it is shown.
type Notice struct {
	Kind string `json:"kind"`
	Text string `json:"text"`
}

// Rows are our rows in the order in which they are shown.
func (p *Page) Rows() ([]Row, error) { return browser.Eval[[]Row](p.Page, `probe.rows()`) }

// StockRows are the ordinary session rows of all workspaces.
func (p *Page) StockRows() ([]StockRow, error) {
	return browser.Eval[[]StockRow](p.Page, `probe.stockRows()`)
}

// Notices are our visible notices.
func (p *Page) Notices() ([]Notice, error) { return browser.Eval[[]Notice](p.Page, `probe.notices()`) }

// NoticesSeen are the kinds of all notices that were visible since the page was
// loaded, in the order in which they first appeared.
func (p *Page) NoticesSeen() ([]string, error) {
	return browser.Eval[[]string](p.Page, `probe.noticesSeen()`)
}

// RowSelector is the CSS selector of what one clicks to open a draft.
func RowSelector(draftID string) string {
	return fmt.Sprintf(`li[data-draft-id=%s] button`, quote(draftID))
}

// OpenRow clicks a draft's row.
func (p *Page) OpenRow(draftID string) error { return p.ClickOn(RowSelector(draftID)) }

// DeleteRow deletes a draft by its row's menu.
func (p *Page) DeleteRow(draftID string) error {
	if err := p.hover(RowSelector(draftID), ""); err != nil {
		return err
	}
	if err := p.ClickOn(fmt.Sprintf(`li[data-draft-id=%s] button[aria-haspopup=menu]`, quote(draftID))); err != nil {
		return err
	}
	return p.ClickOn(`[data-drafts-action=delete]`)
}

// Undo clicks "Undo" in our toast.
func (p *Page) Undo() error { return p.ClickOn(`[data-drafts-toast] button`) }

// PressNewDraft clicks the "New draft" button.
func (p *Page) PressNewDraft() error { return p.ClickOn(`[data-drafts-new]`) }

// SaveState is what the page says about a draft: saved, saving, not_saved; "" for nothing.
func (p *Page) SaveState(draftID string) (string, error) {
	return browser.Eval[string](p.Page, `probe.saveState(`+quote(draftID)+`)`)
}

// Complaints are what the page says of drafts that are not saved.
func (p *Page) Complaints() ([]string, error) {
	return browser.Eval[[]string](p.Page, `probe.complaints()`)
}

// AwaitSaved waits until the page says "saved", said after the last key.
func (p *Page) AwaitSaved(draftID string, limit time.Duration) error {
	return p.await("the page says that the draft is saved", `probe.savedSinceInput(`+quote(draftID)+`)`, limit)
}

// AwaitText waits until the composer holds exactly text.
func (p *Page) AwaitText(text string, limit time.Duration) error {
	if err := p.await("the composer shows the text", `probe.composer().text === `+quote(text), limit); err != nil {
		composer, readErr := p.Composer()
		if readErr != nil {
			return readErr
		}
		return fmt.Errorf("%w: it holds %s, wanted %s", err, brief(composer.Text), brief(text))
	}
	return nil
}

// brief is a text for a message: whole when short, else its ends and its length.
func brief(text string) string {
	runes := []rune(text)
	if len(runes) <= 80 {
		return fmt.Sprintf("%q", text)
	}
	return fmt.Sprintf("%q ... %q (%d characters)", string(runes[:30]), string(runes[len(runes)-30:]), len(runes))
}

// TimeRow clicks a draft's row and measures the time until the composer holds text.
func (p *Page) TimeRow(draftID, text string) (time.Duration, error) {
	return p.timeSwitch(`document.querySelector(`+quote(RowSelector(draftID))+`)`, text)
}

// TimeStockRow does the same for the page's own row with that title.
func (p *Page) TimeStockRow(title, text string) (time.Duration, error) {
	return p.timeSwitch(`probe.stockRow(`+quote(title)+`)`, text)
}

func (p *Page) timeSwitch(element, text string) (time.Duration, error) {
	took, err := browser.Eval[float64](p.Page, `probe.timeSwitch(`+element+`, `+quote(text)+`)`)
	if err != nil {
		return 0, fmt.Errorf("time a switch: %w", err)
	}
	if took < 0 {
		return 0, fmt.Errorf("time a switch: the composer never held %s", brief(text))
	}
	return time.Duration(took * float64(time.Millisecond)), nil
}
