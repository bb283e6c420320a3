package smoketest

import (
	"fmt"
	"slices"

	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/dshpage"
	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/flows"
)

type flowPage = flows.Page

// page is a tab of a home's harness; its methods end the test on an error.
type page struct {
	*dshpage.Page
	*flowPage
	h *home
}

// open opens the harness in a new browser profile.
func (h *home) open() *page {
	h.T.Helper()
	return h.page(h.Open())
}

// opened is a page of a tab that was opened in another way.
func (h *home) opened(opened *dshpage.Page, err error) *page {
	h.T.Helper()
	if opened != nil {
		h.pages = append(h.pages, opened)
	}
	h.Must(err)
	return h.page(&flowPage{Tab: &tab{opened, h.driver}, H: h.flowHome})
}

func (h *home) page(of *flowPage) *page { return &page{Page: of.Tab.(*tab).Page, flowPage: of, h: h} }

// composer reads the input.
func (p *page) composer() dshpage.Composer {
	p.h.T.Helper()
	composer, err := p.Composer()
	p.h.Must(err)
	return composer
}

// current is the session that the page shows.
func (p *page) current() string {
	p.h.T.Helper()
	current, err := p.Current()
	p.h.Must(err)
	return current
}

// onBlankSession waits until the page shows a blank session that belongs to no
// draft (invariant 4).
func (p *page) onBlankSession() {
	p.h.T.Helper()
	p.h.Eventually("the page shows a blank session that belongs to no draft", func() error {
		current, err := p.Current()
		if err != nil {
			return err
		}
		for _, draft := range p.h.AllDrafts() {
			if draft.SessionID == current {
				return fmt.Errorf("it shows the session of draft %s", draft.ID)
			}
		}
		sessions, err := p.h.API.Sessions(p.h.Ctx)
		if err != nil {
			return err
		}
		for _, session := range sessions {
			if session.ID == current && session.Blank {
				return nil
			}
		}
		return fmt.Errorf("it shows %q", current)
	})
}

// hasNoGroup waits until the page shows no workspace of that name.
func (p *page) hasNoGroup(workspace string) {
	p.h.T.Helper()
	p.h.Eventually("the workspace "+workspace+" is gone from the page", func() error {
		groups, err := p.Groups()
		if err == nil && slices.Contains(groups, workspace) {
			err = fmt.Errorf("groups %q", groups)
		}
		return err
	})
}
