package smoketest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/draft-sessions/dsh-draft-sessions/host/dsh/install"
)

// A draft of a terminal beside the page: new shows a row at once, edit shows in
// the open composer, a page's draft can be listed, send sends once, and asking
// again sends nothing (invariants 2 and 14).
func TestTerminal(t *testing.T) {
	h := startHome(t)
	p := h.open()
	mine := p.NewDraftWith("from the page")

	id := h.terminal("", "new", "from the terminal")
	p.ShowsRow(id)
	p.Shows(id, "from the terminal") // Opening it binds it.
	if session := h.Bound(id); session == mine.SessionID {
		t.Error("two drafts share a session")
	}
	h.terminal("from both sides", "edit", id, "-")
	p.Holds("from both sides")
	p.Writes("!")
	p.Saved(id)
	if got := h.terminal("", "show", "--text", id); got != "from both sides!" {
		t.Errorf("the terminal shows %q", got)
	}
	if list := h.terminal("", "list"); !strings.Contains(list, "from the page") || !strings.Contains(list, "from both sides!") {
		t.Errorf("the terminal lists %q", list)
	}

	answer := h.terminal("", "send", "--wait", id)
	if answer != "echo: from both sides!" {
		t.Errorf("the answer is %q", answer)
	}
	h.AwaitSent("from both sides!")
	p.HasNoRow(id)
	p.Holds("")
	if again := h.terminal("", "send", id); !strings.HasPrefix(again, "sent "+id) {
		t.Errorf("sent again it says %q", again)
	}
	h.AwaitSent("from both sides!")
	if seen := h.Model.Seen("from both sides!"); seen < 1 || seen > 2 { // The title is a request of its own.
		t.Errorf("the model has seen it %d times", seen)
	}
	p.ShowsRow(mine.ID)

	// A draft whose page is elsewhere is sent as well.
	p.Shows(mine.ID, "from the page")
	other := h.terminal("", "new", "sent unseen")
	h.terminal("", "send", other)
	h.AwaitSent("sent unseen")
	p.HasNoRow(other)
	p.Holds("from the page")
}

// terminal runs the command in the workspace's folder and gives its output, trimmed.
func (h *home) terminal(stdin string, args ...string) string {
	h.T.Helper()
	cmd := exec.CommandContext(h.Ctx, filepath.Join(gate.bundle, "bin", install.BinaryName), append(args, "--home", h.Dir)...)
	cmd.Dir = h.work.Path
	cmd.Env = append(os.Environ(), h.Env...)
	cmd.Stdin = strings.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		h.Must(fmt.Errorf("draft-sessions %s: %w\n%s", strings.Join(args, " "), err, stderr.String()))
	}
	return strings.TrimSpace(string(out))
}
