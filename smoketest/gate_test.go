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
	draft := h.newDraft("waits in the file")
	h.must(h.Stop())
	before, err := os.ReadFile(h.DraftFile())
	h.must(err)

	// The profile's own copy is found before the host's, and says another version.
	from, err := filepath.EvalSymlinks(filepath.Join(h.Dir, "profiles", "node_modules", pinnedPackage))
	h.must(err)
	to := filepath.Join(h.Dir, "profiles", "web", "node_modules", pinnedPackage)
	h.must(os.CopyFS(to, os.DirFS(from)))
	manifest := filepath.Join(to, "package.json")
	raw, err := os.ReadFile(manifest)
	h.must(err)
	edited := strings.Replace(string(raw), `"version": "`+gate.tools.DSHVersion+`"`, `"version": "0.1.1-rc.2"`, 1)
	if edited == string(raw) {
		t.Fatalf("%s does not say the pinned version", manifest)
	}
	h.must(os.WriteFile(manifest, []byte(edited), 0o644))

	// Nobody says that another release is to be run all the same.
	h.Env = append(h.Env, dsh.EnvOverride+"=")
	h.start()
	h.awaitMode("stock")
	h.staysStock()
	h.logSays(pinnedPackage)
	after, err := os.ReadFile(h.DraftFile())
	h.must(err)
	if string(before) != string(after) {
		t.Error("the draft file changed in stock mode")
	}

	h.must(h.Stop())
	h.must(os.RemoveAll(to))
	h.Env = h.Env[:len(h.Env)-1]
	h.start()
	h.awaitMode("full")
	h.open().shows(draft.ID, "waits in the file")
}

// Invariant 8: the plugin's binary is not there.
func TestMissingBinaryMeansStock(t *testing.T) {
	h := newHome(t)
	h.install()
	h.must(os.Remove(h.pluginBinary()))
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
		{"ours first", func(h *home) { h.install(); h.must(h.Plugin(h.ctx, "add", "file:"+stranger)) }},
		{"theirs first", func(h *home) { h.must(h.Plugin(h.ctx, "add", "file:"+stranger)); h.install() }},
	} {
		t.Run(order.name, func(t *testing.T) {
			h := newHome(t)
			order.install(h)
			file := []byte("{\n  \"version\": 1,\n  \"drafts\": []\n}\n")
			h.must(os.MkdirAll(filepath.Dir(h.DraftFile()), 0o700))
			h.must(os.WriteFile(h.DraftFile(), file, 0o600))
			h.start()
			h.addWork()
			h.staysStock()
			var answer struct {
				From string `json:"from"`
			}
			h.must(dsh.Call(h.ctx, h.URL(), "draftSessions/list", map[string]any{"args": map[string]any{"request": map[string]any{}}}, &answer))
			if answer.From != standInAnswer {
				t.Errorf("draftSessions.list is answered by %q", answer.From)
			}
			h.logSays(standIn)
			if pids := h.PluginPids(); len(pids) != 0 {
				t.Errorf("plugin processes %v beside the public plugin", pids)
			}
			after, err := os.ReadFile(h.DraftFile())
			h.must(err)
			if string(after) != string(file) {
				t.Error("the draft file changed")
			}
		})
	}
}

// staysStock checks that a page shows nothing of ours and works as stock.
func (h *home) staysStock() {
	h.t.Helper()
	p := h.open()
	h.must(p.AwaitStock(patience))
	p.write("in stock mode")
	h.must(p.Enter())
	h.awaitSent("in stock mode")
	h.must(p.AwaitStock(patience))
	if errors := p.Errors(); len(errors) > 0 {
		h.t.Errorf("the page threw %q", errors)
	}
}

// logSays checks that our own log names the reason.
func (h *home) logSays(reason string) {
	h.t.Helper()
	raw, err := os.ReadFile(filepath.Join(filepath.Dir(h.DraftFile()), "host.log"))
	h.must(err)
	if !strings.Contains(string(raw), reason) {
		h.t.Errorf("our log does not name %s:\n%s", reason, raw)
	}
}
