package smoketest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/draft-sessions/dsh-draft-sessions/host/dsh"
)

const (
	pinnedPackage = "@deepseek-ai/dsh-client-ui-workspace"
	standIn       = "dsh-draft-sessions"
	standInAnswer = "stand-in"
)

// Invariant 8, any mismatch means stock: the host's workspace package has another
// version than the pinned one, so nothing of ours is in the page and our log says why.
func TestAnotherPinnedVersionMeansStock(t *testing.T) {
	h := startHome(t)
	draft := h.MakeDraft("waits in the file")
	h.Must(h.Stop())
	before, err := os.ReadFile(h.DraftFile())
	h.Must(err)

	// The profile's own copy is found before the host's, and says another version.
	from, err := filepath.EvalSymlinks(filepath.Join(h.Dir, "profiles", "node_modules", pinnedPackage))
	h.Must(err)
	to := filepath.Join(h.Dir, "profiles", "web", "node_modules", pinnedPackage)
	h.Must(os.CopyFS(to, os.DirFS(from)))
	manifest := filepath.Join(to, "package.json")
	raw, err := os.ReadFile(manifest)
	h.Must(err)
	edited := strings.Replace(string(raw), `"version": "`+gate.tools.DSHVersion+`"`, `"version": "0.1.1-rc.2"`, 1)
	if edited == string(raw) {
		t.Fatalf("%s does not say the pinned version", manifest)
	}
	h.Must(os.WriteFile(manifest, []byte(edited), 0o644))

	// Nobody says that another release is to be run all the same.
	h.Env = append(h.Env, dsh.EnvOverride+"=")
	h.start()
	h.awaitMode("stock")
	h.staysStock()
	h.logSays(pinnedPackage)
	after, err := os.ReadFile(h.DraftFile())
	h.Must(err)
	if string(before) != string(after) {
		t.Error("the draft file changed in stock mode")
	}

	h.Must(h.Stop())
	h.Must(os.RemoveAll(to))
	h.Env = h.Env[:len(h.Env)-1]
	h.start()
	h.awaitMode("full")
	h.open().Shows(draft.ID, "waits in the file")
}

// Invariant 8: the plugin's binary is not there.
func TestMissingBinaryMeansStock(t *testing.T) {
	h := newHome(t)
	h.install()
	h.Must(os.Remove(h.pluginBinary()))
	h.start()
	h.addWork()
	h.awaitMode("stock")
	h.staysStock()
	h.logSays("draft-sessions")
}

// The public plugin of the same namespace keeps the draft file in memory and
// would overwrite ours: beside it ours steps aside, whichever of the two the
// profile names first, and touches nothing.
func TestStepsAsideForThePublicPlugin(t *testing.T) {
	stranger, err := filepath.Abs(filepath.Join("testdata", standIn))
	if err != nil {
		t.Fatal(err)
	}
	for _, order := range []struct {
		name    string
		install func(h *home)
	}{
		{"ours first", func(h *home) { h.install(); h.Must(h.Plugin(h.Ctx, "add", "file:"+stranger)) }},
		{"theirs first", func(h *home) { h.Must(h.Plugin(h.Ctx, "add", "file:"+stranger)); h.install() }},
	} {
		t.Run(order.name, func(t *testing.T) {
			h := newHome(t)
			order.install(h)
			file := []byte("{\n  \"version\": 1,\n  \"drafts\": []\n}\n")
			h.Must(os.MkdirAll(filepath.Dir(h.DraftFile()), 0o700))
			h.Must(os.WriteFile(h.DraftFile(), file, 0o600))
			h.start()
			h.addWork()
			h.staysStock()
			var answer struct {
				From string `json:"from"`
			}
			h.Must(dsh.Call(h.Ctx, h.URL(), "draftSessions/list", map[string]any{"args": map[string]any{"request": map[string]any{}}}, &answer))
			if answer.From != standInAnswer {
				t.Errorf("draftSessions.list is answered by %q", answer.From)
			}
			h.logSays(standIn)
			if pids := h.PluginPids(); len(pids) != 0 {
				t.Errorf("plugin processes %v beside the public plugin", pids)
			}
			after, err := os.ReadFile(h.DraftFile())
			h.Must(err)
			if string(after) != string(file) {
				t.Error("the draft file changed")
			}
		})
	}
}

// staysStock checks that a page shows nothing of ours and works as stock.
func (h *home) staysStock() {
	h.T.Helper()
	p := h.open()
	h.Must(p.AwaitStock(patience))
	p.Writes("in stock mode")
	h.Must(p.Enter())
	h.AwaitSent("in stock mode")
	h.Must(p.AwaitStock(patience))
	if errors := p.Errors(); len(errors) > 0 {
		h.T.Errorf("the page threw %q", errors)
	}
}

// logSays checks that our own log names the reason.
func (h *home) logSays(reason string) {
	h.T.Helper()
	raw, err := os.ReadFile(filepath.Join(filepath.Dir(h.DraftFile()), "host.log"))
	h.Must(err)
	if !strings.Contains(string(raw), reason) {
		h.T.Errorf("our log does not name %s:\n%s", reason, raw)
	}
}
