package smoketest

import (
	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/dshapi"
)

func (h *home) history(sessionID string) dshapi.History {
	h.T.Helper()
	history, err := h.API.History(h.Ctx, sessionID)
	h.Must(err)
	return history
}
