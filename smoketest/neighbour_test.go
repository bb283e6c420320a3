package smoketest

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/browser"
)

// Invariant 8: beside another plugin in the same slot both have their rows, in
// whichever order they load, when it comes and goes and around ours; when it
// throws, or wants the place at any price, it or ours steps aside. DSH's own rows
// are always there, and nobody registers for ever.
func TestBesideAPluginInTheSameSlot(t *testing.T) {
	neighbour, err := filepath.Abs(filepath.Join("testdata", "shadow-sidebar"))
	if err != nil {
		t.Fatal(err)
	}
	for name, install := range map[string]func(h *home){
		"ours first":   func(h *home) { h.install(); h.Must(h.Plugin(h.Ctx, "add", "file:"+neighbour)) },
		"theirs first": func(h *home) { h.Must(h.Plugin(h.Ctx, "add", "file:"+neighbour)); h.install() },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			install(h)
			h.start()
			h.addWork()
			h.awaitMode("full")
			p := h.open()
			draft := p.NewDraftWith("beside a neighbour")
			p.hasRows(true, "plain")
			for range 2 {
				h.Must(p.Do(`shadow.go()`))
				p.hasRows(true, "")
				h.Must(p.Do(`shadow.come('plain')`))
				p.hasRows(true, "plain")
			}
			// Around ours, which then need not be around it.
			h.Must(p.Do(`shadow.go()`))
			p.hasRows(true, "")
			h.Must(p.Do(`shadow.come('outer')`))
			p.hasRows(true, "outer")
			// One that holds on to what ours was before shows ours twice, and the rows once.
			h.Must(p.Do(`shadow.come('plain')`))
			p.hasRows(true, "plain")
			h.Must(p.Do(`shadow.come('outer')`))
			p.hasRows(true, "outer,plain")
			h.Must(p.Do(`shadow.go()`))
			p.hasRows(true, "")
			h.Must(p.Do(`shadow.come('throws')`))
			p.hasRows(true, "")
			p.Shows(draft.ID, "beside a neighbour")

			// Both cannot be lowest: ours leaves, and the page is stock beside the neighbour.
			h.Must(p.Do(`shadow.come('greedy')`))
			status, err := h.API.Status(h.Ctx)
			for until := time.Now().Add(6 * patience); err == nil && len(status.Pages) == 0 && time.Now().Before(until); {
				time.Sleep(100 * time.Millisecond)
				status, err = h.API.Status(h.Ctx)
			}
			h.Must(err)
			p.hasRows(false, "greedy")
			p.registersNoMore()
			h.Must(p.AwaitStock(patience))
			if len(status.Pages) != 1 || status.Pages[0].Code != "PAGE_FAULT" || status.Pages[0].Found != "PlaceTaken" {
				t.Errorf("pages %+v", status.Pages)
			}
			p.Reloads()
			p.hasRows(true, "plain")
			p.Shows(draft.ID, "beside a neighbour")
		})
	}
}

// hasRows waits until our rows are there or not, the neighbour's are those of that
// kind ("" for none), and DSH's own browser is there.
func (p *page) hasRows(ours bool, neighbour string) {
	p.h.T.Helper()
	p.h.Eventually(fmt.Sprintf("our rows %t, the neighbour's %q, DSH's", ours, neighbour), func() error {
		seen, err := browser.Eval[struct {
			Ours      int    `json:"ours"`
			Neighbour string `json:"neighbour"`
			Trees     int    `json:"trees"`
		}](p.Page.Page, `({ ours: document.querySelectorAll('[data-drafts-new]').length,
			neighbour: [...document.querySelectorAll('[data-shadow-row]')].map(row => row.dataset.shadowRow).join(), trees: document.querySelectorAll('[role=tree]').length })`)
		if err != nil {
			return err
		}
		want := 0
		if ours {
			want = 1
		}
		if seen.Ours != want || seen.Neighbour != neighbour || seen.Trees != 1 {
			return fmt.Errorf("seen %+v", seen)
		}
		return nil
	})
}

// registersNoMore waits for a while in which the neighbour need not register again.
func (p *page) registersNoMore() {
	p.h.T.Helper()
	last, since := -1, time.Now()
	p.h.Eventually("nobody registers any more", func() error {
		now, err := browser.Eval[int](p.Page.Page, `shadow.registrations`)
		if err != nil {
			return err
		}
		if now != last {
			last, since = now, time.Now()
		}
		if time.Since(since) < time.Second {
			return fmt.Errorf("%d registrations", now)
		}
		return nil
	})
}
