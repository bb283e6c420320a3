// Package browser drives a real Chromium for the gate. [Start] starts one
// process; [Browser.NewPage] opens a page in a profile of its own (a browser
// context: own storage, own connections), [Page.NewTab] another tab of the same
// profile. dsh.go knows the harness' page: its composer, its rows, our rows.
package browser

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	cdpruntime "github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// callTimeout bounds one step in the page; a renderer that hangs fails the test
// instead of the whole run.
const callTimeout = 30 * time.Second

// Names are the commands that are looked for on PATH, the first found wins.
var Names = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"}

// Find is the path of the machine's Chromium or Chrome.
func Find() (string, error) {
	for _, name := range Names {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("no Chromium on PATH (looked for %s)", strings.Join(Names, ", "))
}

// Browser is a running Chromium.
type Browser struct {
	ctx    context.Context
	cancel context.CancelFunc
	stop   context.CancelFunc
}

// Start starts a headless Chromium whose profile lies in dir.
func Start(dir string) (*Browser, error) {
	path, err := Find()
	if err != nil {
		return nil, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path),
		chromedp.UserDataDir(dir),
		// The pages are our own, and root and containers have no sandbox.
		chromedp.NoSandbox,
		chromedp.DisableGPU,
		chromedp.WindowSize(1280, 900),
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("lang", "en-US"),
		chromedp.Env("LANGUAGE=en"),
	)
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	// chromedp logs events that it does not know; they are not ours to judge.
	ctx, cancel := chromedp.NewContext(allocator, chromedp.WithErrorf(func(string, ...any) {}))
	if err := chromedp.Do(ctx); err != nil {
		cancel()
		stop()
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	return &Browser{ctx: ctx, cancel: cancel, stop: stop}, nil
}

// Close ends Chromium and waits for it.
func (b *Browser) Close() error {
	ctx, cancel := context.WithTimeout(b.ctx, 10*time.Second)
	defer cancel()
	err := chromedp.Cancel(ctx)
	b.cancel()
	b.stop()
	if err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("close Chromium: %w", err)
	}
	return nil
}

// Look is how a page presents itself to the site.
type Look struct {
	// Language is a BCP 47 tag, "en-US" when empty.
	Language string
	Dark     bool
	// Width and Height in CSS pixels, 1280 x 900 when zero.
	Width, Height int64
	// Scale is the device pixel ratio, 1 when zero.
	Scale float64
}

// Page is one tab. It must not be used from two goroutines at once.
type Page struct {
	ctx    context.Context
	cancel context.CancelFunc
	look   Look
	log    *pageLog
}

// NewPage opens a page in a new profile.
func (b *Browser) NewPage(look Look) (*Page, error) {
	return newPage(b.ctx, look, chromedp.WithNewBrowserContext())
}

// NewTab opens another tab of p's profile.
func (p *Page) NewTab() (*Page, error) { return newPage(p.ctx, p.look) }

func newPage(parent context.Context, look Look, options ...chromedp.ContextOption) (*Page, error) {
	if look.Language == "" {
		look.Language = "en-US"
	}
	if look.Width == 0 {
		look.Width, look.Height = 1280, 900
	}
	if look.Scale == 0 {
		look.Scale = 1
	}
	log := &pageLog{}
	options = append(options, chromedp.WithListener(log.add))
	ctx, cancel := chromedp.NewContext(parent, options...)
	p := &Page{ctx: ctx, cancel: cancel, look: look, log: log}
	scheme := "light"
	if look.Dark {
		scheme = "dark"
	}
	err := chromedp.Do(ctx, chromedp.Func(func(context.Context, *chromedp.Target) error { return nil }))
	if err == nil {
		err = p.call(func(ctx context.Context) error {
			if _, err := chromedp.Call(ctx, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
				Width: look.Width, Height: look.Height, DeviceScaleFactor: look.Scale}); err != nil {
				return err
			}
			if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
				Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}); err != nil {
				return err
			}
			// navigator.language decides the harness' language on a first visit.
			script := fmt.Sprintf("Object.defineProperty(navigator,'language',{get:()=>%q});Object.defineProperty(navigator,'languages',{get:()=>[%q]});",
				look.Language, look.Language)
			_, err := chromedp.Call(ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script})
			return err
		})
	}
	if err != nil {
		cancel()
		return nil, fmt.Errorf("open a page: %w", err)
	}
	return p, nil
}

// call runs steps of the page under the step limit.
func (p *Page) call(step func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(p.ctx, callTimeout)
	defer cancel()
	return step(ctx)
}

// Close closes the tab; with its last tab a profile is gone.
func (p *Page) Close() { p.cancel() }

// Closed is whether Close was called.
func (p *Page) Closed() bool { return p.ctx.Err() != nil }

// Resize changes the size of the viewport, in CSS pixels.
func (p *Page) Resize(width, height int64) error {
	return p.call(func(ctx context.Context) error {
		_, err := chromedp.Call(ctx, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
			Width: width, Height: height, DeviceScaleFactor: p.look.Scale})
		return err
	})
}

// Goto opens url and waits for its load event.
func (p *Page) Goto(url string) error {
	return p.call(func(ctx context.Context) error { return chromedp.Do(ctx, chromedp.Navigate(url)) })
}

// Reload reloads the page, as a person does: what is not saved is lost.
func (p *Page) Reload() error {
	return p.call(func(ctx context.Context) error { return chromedp.Do(ctx, chromedp.Reload()) })
}

// AddScript runs script in every later document of the tab, before its own code.
func (p *Page) AddScript(script string) error {
	return p.call(func(ctx context.Context) error {
		_, err := chromedp.Call(ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script})
		return err
	})
}

// Eval evaluates a JavaScript expression, awaiting a promise, and decodes its value.
func Eval[T any](p *Page, expression string) (T, error) {
	return EvalFor[T](p, expression, callTimeout)
}

// EvalFor is [Eval] with a limit of its own.
func EvalFor[T any](p *Page, expression string, limit time.Duration) (T, error) {
	ctx, cancel := context.WithTimeout(p.ctx, limit)
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// Do evaluates a JavaScript expression for its effect.
func (p *Page) Do(expression string) error {
	return p.call(func(ctx context.Context) error {
		_, err := chromedp.Run(ctx, chromedp.Evaluate[*cdpruntime.RemoteObject]("void ("+expression+")", chromedp.EvalAwaitPromise))
		return err
	})
}

// Screenshot writes a PNG of the viewport to path.
func (p *Page) Screenshot(path string) error {
	return p.call(func(ctx context.Context) error {
		image, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
		if err != nil {
			return fmt.Errorf("screenshot: %w", err)
		}
		return os.WriteFile(path, image, 0o644)
	})
}
