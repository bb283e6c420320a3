package flows

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/contract"
)

// Home is a running host and what a test does with it. Every method ends the test on
// an error.
type Home struct {
	Host
	T   *testing.T
	Ctx context.Context
	// Patience is how long the test waits for something to become true.
	Patience time.Duration
	// Secret is told every text that is written.
	Secret func(texts ...string)
	// Opened is told every tab.
	Opened func(Tab)
}

// Must ends the test on an error.
func (h *Home) Must(err error) {
	h.T.Helper()
	if err != nil {
		h.T.Fatal(err)
	}
}

// Eventually polls until check succeeds; what says what is waited for.
func (h *Home) Eventually(what string, check func() error) {
	h.T.Helper()
	deadline := time.Now().Add(h.Patience)
	for {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			h.T.Fatalf("after %v not true that %s: %v", h.Patience, what, err)
		}
		time.Sleep(40 * time.Millisecond)
	}
}

// Open opens the host's page in a new browser profile.
func (h *Home) Open() *Page {
	h.T.Helper()
	tab, err := h.Host.Open()
	return h.opened(tab, err)
}

func (h *Home) opened(tab Tab, err error) *Page {
	h.T.Helper()
	if tab != nil {
		h.Opened(tab)
	}
	h.Must(err)
	return &Page{Tab: tab, H: h}
}

// Terminal runs draft-sessions for this home and gives what it prints, trimmed.
func (h *Home) Terminal(stdin string, args ...string) string {
	h.T.Helper()
	out, err := h.Command(h.Ctx, stdin, args...)
	h.Must(err)
	return strings.TrimSpace(out)
}

// Restart ends the host as a person does and starts it again, Crash after a power cut.
func (h *Home) Restart() {
	h.T.Helper()
	h.Must(h.Stop())
	h.Must(h.Start(h.Ctx))
}

func (h *Home) Crash() {
	h.T.Helper()
	h.Kill()
	h.Must(h.Start(h.Ctx))
}

// AllDrafts lists all drafts.
func (h *Home) AllDrafts() []contract.Draft {
	h.T.Helper()
	drafts, err := h.Drafts(h.Ctx)
	h.Must(err)
	return drafts
}

// Draft gets one draft, which must exist.
func (h *Home) Draft(id string) contract.Draft {
	h.T.Helper()
	for _, draft := range h.AllDrafts() {
		if draft.ID == id {
			return draft
		}
	}
	h.T.Fatalf("there is no draft %s", id)
	return contract.Draft{}
}

// MakeDraft makes a bound draft without a page.
func (h *Home) MakeDraft(text string) contract.Draft {
	h.T.Helper()
	h.Secret(text)
	draft, err := h.NewDraft(h.Ctx, text)
	h.Must(err)
	if draft.SessionID == "" {
		h.T.Fatalf("the new draft has no session: state %s, %s", draft.State, draft.LastError)
	}
	return draft
}

// OnDisk waits until the draft file holds exactly text for the draft (invariant 1).
func (h *Home) OnDisk(draftID, text string) {
	h.T.Helper()
	h.Eventually("the file holds the draft's text", func() error { return h.CheckDisk(draftID, text) })
}

// CheckDisk is whether the draft file holds exactly text for the draft now.
func (h *Home) CheckDisk(draftID, text string) error {
	h.Secret(text)
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

// FileHolds is whether the draft file contains text in a draft, a conflict copy or the trash.
func (h *Home) FileHolds(text string) bool {
	h.T.Helper()
	document, err := h.Document()
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	h.Must(err)
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

// Sent counts the user messages with exactly that text in the whole histories of
// all sessions, and gives the session of the last one.
func (h *Home) Sent(text string) (count int, sessionID string) {
	h.T.Helper()
	sessions, err := h.Sessions(h.Ctx)
	h.Must(err)
	for _, session := range sessions {
		for _, message := range h.HistoryOf(session.ID).Messages {
			if message == text {
				count++
				sessionID = session.ID
			}
		}
	}
	return count, sessionID
}

// HistoryOf reads a session's history.
func (h *Home) HistoryOf(sessionID string) History {
	h.T.Helper()
	history, err := h.History(h.Ctx, sessionID)
	h.Must(err)
	return history
}

// AwaitSent waits until exactly one user message has that text and gives its session.
func (h *Home) AwaitSent(text string) string {
	h.T.Helper()
	var sessionID string
	h.Eventually("the message is in a history, once", func() error {
		count, id := h.Sent(text)
		sessionID = id
		if count != 1 {
			return fmt.Errorf("it is there %d times", count)
		}
		return nil
	})
	return sessionID
}

// Bound checks that a draft has a session of its own in its workspace's list
// (invariant 4) and gives that session's id.
func (h *Home) Bound(draftID string) string {
	h.T.Helper()
	var sessionID string
	h.Eventually("the draft has a session of its own", func() error {
		draft := h.Draft(draftID)
		if draft.SessionID == "" || draft.State != "ready" {
			return fmt.Errorf("state %s, session %q, %s", draft.State, draft.SessionID, draft.LastError)
		}
		for _, other := range h.AllDrafts() {
			if other.ID != draftID && other.SessionID == draft.SessionID {
				return fmt.Errorf("draft %s has the same one", other.ID)
			}
		}
		sessions, err := h.Sessions(h.Ctx)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(sessions, func(s Session) bool { return s.ID == draft.SessionID })
		if at < 0 {
			return fmt.Errorf("there is no session %s", draft.SessionID)
		}
		if s := sessions[at]; s.Archived || s.WorkspaceID != draft.WorkspaceID {
			return fmt.Errorf("session %+v is not one of workspace %s", s, draft.WorkspaceID)
		}
		sessionID = draft.SessionID
		return nil
	})
	return sessionID
}

// Detached waits until a draft has left its session with its text and that is said.
func (h *Home) Detached(draftID, oldSession, text string) {
	h.T.Helper()
	h.Eventually("the draft has a fresh session and its text", func() error {
		now := h.Draft(draftID)
		if now.SessionID == oldSession || now.SessionID == "" || now.Text != text {
			return fmt.Errorf("session %q, state %s, text %q", now.SessionID, now.State, now.Text)
		}
		if messages := h.HistoryOf(now.SessionID).Messages; len(messages) != 0 {
			return fmt.Errorf("the fresh session has %d messages", len(messages))
		}
		return nil
	})
	h.Bound(draftID)
	notices, err := h.Notices(h.Ctx)
	h.Must(err)
	if !slices.ContainsFunc(notices, func(n contract.Notice) bool { return n.Kind == "detached" && n.DraftID == draftID }) {
		h.T.Errorf("notices %+v do not say that it was detached", notices)
	}
}

// DraftsWith counts the drafts and conflict copies with exactly that text.
func (h *Home) DraftsWith(text string) int {
	h.T.Helper()
	count := 0
	for _, draft := range h.AllDrafts() {
		if draft.Text == text {
			count++
		}
		for _, conflict := range draft.Conflicts {
			if conflict.Text == text {
				count++
			}
		}
	}
	return count
}

// SentOrDraft waits until exactly one holds: one message in a history, or one draft
// with the text.
func (h *Home) SentOrDraft(draftID, text string) (isSent bool) {
	h.T.Helper()
	h.Eventually("the text is a message or a draft", func() error {
		messages, _ := h.Sent(text)
		drafts := h.DraftsWith(text)
		if messages+drafts != 1 {
			return fmt.Errorf("%d messages, %d drafts", messages, drafts)
		}
		isSent = messages == 1
		return nil
	})
	if !isSent {
		h.Must(h.CheckDisk(draftID, text))
		h.Bound(draftID)
	}
	return isSent
}

// Unchanged checks that a text is still what it was: a message, or a draft.
func (h *Home) Unchanged(text string, wasSent bool) {
	h.T.Helper()
	messages, _ := h.Sent(text)
	drafts := h.DraftsWith(text)
	if wasSent != (messages == 1) || wasSent == (drafts == 1) || messages+drafts != 1 {
		h.T.Errorf("%q: sent %t before, now %d messages and %d drafts", text, wasSent, messages, drafts)
	}
}

// UnchangedSince waits until a draft is as it was, apart from its bookkeeping.
func (h *Home) UnchangedSince(before contract.Draft) {
	h.T.Helper()
	h.Eventually("the draft is as it was", func() error {
		after := h.Draft(before.ID)
		if after.Text != before.Text || after.TextRevision != before.TextRevision || after.SessionID != before.SessionID || after.State != "ready" {
			return fmt.Errorf("before %+v, after %+v", before, after)
		}
		return nil
	})
	h.OnDisk(before.ID, before.Text)
}

// brief is a text for a message: whole when short, else its ends and its length.
func brief(text string) string {
	if runes := []rune(text); len(runes) > 80 {
		return fmt.Sprintf("%q ... %q (%d characters)", string(runes[:30]), string(runes[len(runes)-30:]), len(runes))
	}
	return fmt.Sprintf("%q", text)
}
