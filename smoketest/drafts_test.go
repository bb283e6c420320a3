package smoketest

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/dshapi"
)

// drafts lists all drafts as the bundle answers.
func (h *home) drafts() []dshapi.Draft {
	h.t.Helper()
	drafts, err := h.API.Drafts(h.ctx)
	h.must(err)
	return drafts
}

// draft gets one draft, which must exist.
func (h *home) draft(id string) dshapi.Draft {
	h.t.Helper()
	draft, err := h.API.Draft(h.ctx, id)
	h.must(err)
	return draft
}

// newDraft makes a bound draft without a page.
func (h *home) newDraft(text string) dshapi.Draft {
	h.t.Helper()
	gate.leaks.Secret(text)
	draft, err := h.API.NewDraft(h.ctx, h.work.ID, text)
	h.must(err)
	if draft.SessionID == "" {
		h.t.Fatalf("the new draft has no session: state %s, %s", draft.State, draft.LastError)
	}
	return draft
}

// onDisk waits until the draft file holds exactly text for the draft (invariant 1).
func (h *home) onDisk(draftID, text string) {
	h.t.Helper()
	h.eventually("the file holds the draft's text", func() error { return h.checkDisk(draftID, text) })
}

func (h *home) checkDisk(draftID, text string) error {
	gate.leaks.Secret(text)
	document, err := h.Document()
	if err != nil {
		return err
	}
	for _, draft := range document.Drafts {
		if draft.ID != draftID {
			continue
		}
		if draft.Text != text {
			return fmt.Errorf("the file holds %s for it, wanted %s", brief(draft.Text), brief(text))
		}
		return nil
	}
	return fmt.Errorf("the file has no draft %s", draftID)
}

// fileHolds is whether the draft file contains text in a draft or a conflict copy.
func (h *home) fileHolds(text string) bool {
	h.t.Helper()
	document, err := h.Document()
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	h.must(err)
	for _, draft := range document.Drafts {
		if strings.Contains(draft.Text, text) {
			return true
		}
		for _, conflict := range draft.Conflicts {
			if strings.Contains(conflict.Text, text) {
				return true
			}
		}
	}
	for _, entry := range document.Trash {
		if strings.Contains(entry.Record.Text, text) {
			return true
		}
	}
	return false
}

// sent counts the user messages with exactly that text in the whole histories of
// all sessions, and gives the session of the last one.
func (h *home) sent(text string) (count int, sessionID string) {
	h.t.Helper()
	sessions, err := h.API.Sessions(h.ctx)
	h.must(err)
	for _, session := range sessions {
		for _, message := range h.history(session.ID).Messages {
			if message.Text == text {
				count++
				sessionID = session.ID
			}
		}
	}
	return count, sessionID
}

func (h *home) history(sessionID string) dshapi.History {
	h.t.Helper()
	history, err := h.API.History(h.ctx, sessionID)
	h.must(err)
	return history
}

// awaitSent waits until exactly one user message has that text and gives its session.
func (h *home) awaitSent(text string) string {
	h.t.Helper()
	var sessionID string
	h.eventually("the message is in a history, once", func() error {
		count, id := h.sent(text)
		sessionID = id
		if count != 1 {
			return fmt.Errorf("it is there %d times", count)
		}
		return nil
	})
	return sessionID
}

// bound checks that a draft has a session of its own in its workspace's list
// (invariant 4) and gives that session's id.
func (h *home) bound(draftID string) string {
	h.t.Helper()
	var sessionID string
	h.eventually("the draft has a session of its own", func() error {
		draft := h.draft(draftID)
		if draft.SessionID == "" || draft.State != "ready" {
			return fmt.Errorf("state %s, session %q, %s", draft.State, draft.SessionID, draft.LastError)
		}
		for _, other := range h.drafts() {
			if other.ID != draftID && other.SessionID == draft.SessionID {
				return fmt.Errorf("draft %s has the same one", other.ID)
			}
		}
		workspaces, archived, err := h.API.Workspaces(h.ctx)
		if err != nil {
			return err
		}
		if slices.Contains(archived, draft.SessionID) {
			return fmt.Errorf("session %s is archived", draft.SessionID)
		}
		for _, workspace := range workspaces {
			if workspace.ID == draft.WorkspaceID && slices.Contains(workspace.SessionIDs, draft.SessionID) {
				sessionID = draft.SessionID
				return nil
			}
		}
		return fmt.Errorf("session %s is in no list of workspace %s", draft.SessionID, draft.WorkspaceID)
	})
	return sessionID
}

// brief is a text for a message: whole when short, else its ends and its length.
func brief(text string) string {
	if runes := []rune(text); len(runes) > 80 {
		return fmt.Sprintf("%q ... %q (%d characters)", string(runes[:30]), string(runes[len(runes)-30:]), len(runes))
	}
	return fmt.Sprintf("%q", text)
}

// sameSession is whether a session has that id.
func sameSession(id string) func(dshapi.Session) bool {
	return func(session dshapi.Session) bool { return session.ID == id }
}
