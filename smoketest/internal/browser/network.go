package browser

import (
	"context"
	"fmt"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// Block lets every later request whose address fits one of the URL patterns
// fail, as a broken network does; without patterns nothing is blocked any more.
// Addresses of WebSockets and open streams are not affected.
func (p *Page) Block(patterns ...string) error {
	blocked := []*network.BlockPattern{}
	for _, pattern := range patterns {
		blocked = append(blocked, &network.BlockPattern{URLPattern: pattern, Block: true})
	}
	return p.call(func(ctx context.Context) error {
		if _, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}); err != nil {
			return fmt.Errorf("block requests: %w", err)
		}
		if _, err := chromedp.Call(ctx, network.SetBlockedURLs, network.SetBlockedURLsParams{URLPatterns: blocked}); err != nil {
			return fmt.Errorf("block requests: %w", err)
		}
		return nil
	})
}
