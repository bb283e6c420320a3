package flows

import (
	"os"
	"testing"
)

// Invariant 7: a malformed file, a file with a duplicate member (which the public
// plugin read as no drafts and then overwrote) and a file of the future are left
// alone, and the page says that nothing can be saved. The host is usable all the same
// (invariant 8).
func unreadableFilesAreLeftAlone(t *testing.T, h *Home) {
	for _, file := range []string{
		`{"version": 1, "drafts": [`,
		`{"version": 1, "drafts": [{"lost": true}], "drafts": []}`,
		`{"version": 99, "drafts": [], "somethingNew": 1}`,
	} {
		h.Must(h.Stop())
		h.Must(os.WriteFile(h.DraftFile(), []byte(file), 0o600))
		h.Must(h.Start(h.Ctx))
		p := h.Open()
		p.Says("DRAFT_STORAGE_INVALID", "DRAFT_STORAGE_UNSUPPORTED")
		h.Must(p.PressNewDraft())
		if _, err := h.NewDraft(h.Ctx, "must not be written"); err == nil {
			t.Error("a draft was made although the file cannot be read")
		}
		raw, err := os.ReadFile(h.DraftFile())
		h.Must(err)
		if string(raw) != file {
			t.Errorf("the file was changed to %d bytes", len(raw))
		}
		session, err := h.NewSession(h.Ctx)
		h.Must(err)
		h.Must(h.Prompt(h.Ctx, session, "still works beside "+file))
		h.AwaitSent("still works beside " + file)
	}
}

// longLog is how many changes of the permission make a session's compressed log
// outgrow what DSH reads of it when it decides whether it is blank.
const longLog = 40

// The false blank, invariant 2: a session whose log has grown long although nothing
// was ever sent is no sign of a send. The draft stays, and is sent when it is sent.
func longLogWithoutAPromptIsNoSend(t *testing.T, h *Home) {
	draft := h.MakeDraft("never sent")
	for i := range longLog {
		h.Must(h.SetPermission(h.Ctx, draft.SessionID, []string{"read-only", "workspace-write"}[i%2]))
	}
	h.Restart()
	h.Must(h.Reconcile(h.Ctx))
	h.OnDisk(draft.ID, "never sent")
	if got := h.Bound(draft.ID); got != draft.SessionID {
		t.Errorf("the session changed from %s to %s", draft.SessionID, got)
	}
	p := h.Open()
	p.Shows(draft.ID, "never sent")
	h.Must(p.FocusComposer())
	h.Must(p.Send())
	h.AwaitSent("never sent")
	p.HasNoRow(draft.ID)
}
