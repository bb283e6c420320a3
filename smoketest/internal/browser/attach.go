package browser

import (
	"context"
	"fmt"

	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/remote"
)

// Attach looks at a page of a browser that runs already and was started by
// somebody else. Closing the page leaves the browser as it is.
func Attach(address, targetID string) (*Page, error) {
	allocator, stop := remote.NewAllocator(context.Background(), address)
	log := &pageLog{}
	ctx, cancel := chromedp.NewContext(allocator, chromedp.WithTargetID(target.ID(targetID)),
		chromedp.WithListener(log.add), chromedp.WithErrorf(func(string, ...any) {}), chromedp.WithDetachOnCancel())
	if err := chromedp.Do(ctx); err != nil {
		cancel()
		stop()
		return nil, fmt.Errorf("attach to a page: %w", err)
	}
	return &Page{ctx: ctx, cancel: func() { cancel(); stop() }, log: log}, nil
}
