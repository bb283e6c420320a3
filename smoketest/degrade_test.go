package smoketest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/draft-sessions/dsh-draft-sessions/host/dsh"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
	"github.com/draft-sessions/dsh-draft-sessions/shared/compat"
	"github.com/draft-sessions/dsh-draft-sessions/shared/manifest"
)

// Invariants 8 and 9: whatever is wrong with the binary, found before it is
// started: the page works as stock, the log and the status say why, nothing is
// started.
func TestBinaryThatIsNotTrustedMeansStock(t *testing.T) {
	h := newHome(t)
	h.install()
	binary := h.pluginBinary()
	whole, err := os.ReadFile(binary)
	h.Must(err)
	described := filepath.Join(filepath.Dir(binary), manifest.File)
	right, err := os.ReadFile(described)
	h.Must(err)
	edit := func(from, to string) {
		edited := strings.Replace(string(right), from, to, 1)
		if edited == string(right) {
			h.T.Fatalf("the manifest has no %s", from)
		}
		h.replaceFile(described, []byte(edited), 0o644)
	}
	var p *page
	for _, c := range []struct {
		name, code string
		spoil      func()
	}{
		{"no manifest", manifest.Missing, func() { h.Must(os.Remove(described)) }},
		{"a binary of another platform", manifest.BinaryPlatform, func() { edit(`"os": "`+runtime.GOOS+`"`, `"os": "plan9"`) }},
		{"no binary", manifest.BinaryMissing, func() { h.Must(os.Remove(binary)) }},
		{"a corrupt binary", manifest.ChecksumMismatch, func() { h.replaceFile(binary, whole[:len(whole)/2], 0o755) }},
		{"a wrong checksum", manifest.ChecksumMismatch, func() { edit(`"sha256": "`+string(right[sha(right):sha(right)+8]), `"sha256": "00000000`) }},
	} {
		h.replaceFile(binary, whole, 0o755)
		h.replaceFile(described, right, 0o644)
		c.spoil()
		p, _ = h.stockCase(p, c.name, c.code)
		if pids := h.PluginPids(); len(pids) != 0 {
			t.Errorf("%s: processes %v", c.name, pids)
		}
	}
}

// sha is where the checksum begins in a manifest.
func sha(described []byte) int {
	const member = `"sha256": "`
	return strings.Index(string(described), member) + len(member)
}

// oddBinary is the built testdata/oddplugin.
var oddBinary = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "ds-odd-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "odd")
	if out, err := exec.Command("go", "build", "-o", path, "./testdata/oddplugin").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the odd plugin: %w: %s", err, out)
	}
	return os.ReadFile(path)
})

// Invariants 8 and 9: a binary that its manifest describes and that misbehaves
// when it is started.
func TestPluginThatMisbehavesMeansStock(t *testing.T) {
	h := newHome(t)
	h.install()
	h.makeOdd()
	// Where it hangs, the deadline is what is waited for.
	h.Env = append(h.Env, "DRAFT_SESSIONS_START_SECONDS=2")
	var p *page
	for _, c := range []struct{ how, code string }{
		{"prints garbage", "HANDSHAKE_INVALID"},
		{"exits at once", "PLUGIN_START_FAILED"},
		{"never answers", "PLUGIN_START_FAILED"},
		{"speaks another protocol", compat.ProtocolMismatch},
		{"dies on every call", "PLUGIN_START_FAILED"},
		{"answers, then hangs", "PLUGIN_START_FAILED"},
	} {
		h.beOdd(c.how)
		var found string
		p, found = h.stockCase(p, c.how, c.code)
		if c.how == "exits at once" && !strings.Contains(found, "these are its last words") {
			t.Errorf("the reason has not its last words: %s", found)
		}
		h.Eventually("no process is left", func() error {
			if pids := h.PluginPids(); len(pids) != 0 {
				return fmt.Errorf("%s: processes %v", c.how, pids)
			}
			return nil
		})
	}
}

// Invariant 8: the page waits for no plugin. With one that hangs for ever, it is
// usable long before the plugin is given up.
func TestPageDoesNotWaitForAPluginThatHangs(t *testing.T) {
	h := newHome(t)
	h.install()
	h.makeOdd()
	h.beOdd("never answers")
	h.Env = append(h.Env, "DRAFT_SESSIONS_START_SECONDS=600")
	h.start()
	h.addWork()
	p := h.open()
	p.worksAsStock("while it hangs")
	status, err := h.API.Status(h.Ctx)
	h.Must(err)
	if status.Mode != "starting" || len(h.PluginPids()) != 1 {
		t.Errorf("mode %s, processes %v: the page was to be used while the plugin hangs", status.Mode, h.PluginPids())
	}
	h.Must(h.Stop())
	h.Eventually("no process is left", func() error {
		if pids := h.PluginPids(); len(pids) != 0 {
			return fmt.Errorf("processes %v", pids)
		}
		return nil
	})
}

// Invariants 8 and 9: a plugin that worked and is stopped. DSH goes on, the health
// checks end the process, and another one takes its place.
func TestPluginThatIsStoppedIsReplaced(t *testing.T) {
	h := startHome(t)
	p := h.open()
	draft := p.NewDraftWith("before")
	stopped := h.PluginPids()
	if len(stopped) != 1 {
		t.Fatalf("plugin processes %v", stopped)
	}
	h.Must(syscall.Kill(stopped[0], syscall.SIGSTOP))
	session, err := h.API.CreateSession(h.Ctx, h.work.ID, "")
	h.Must(err)
	h.Must(h.API.Prompt(h.Ctx, session, "sent while it was stopped"))
	h.AwaitSent("sent while it was stopped")
	// Three checks, five seconds apart, and their deadlines.
	for until := time.Now().Add(6 * patience); slices.Contains(h.PluginPids(), stopped[0]); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("the stopped process is still there")
		}
	}
	h.awaitMode("full")
	h.logSays("the plugin does not answer")
	p.Holds("before")
	p.Writes(", and after")
	p.Saved(draft.ID)
	h.OnDisk(draft.ID, "before, and after")
}

// Invariant 8: a page in which something that drafts need is missing or fails is
// DSH's alone; the host half logs it once and tells it in its status.
func TestPageWithoutASeamIsStock(t *testing.T) {
	h := newHome(t)
	h.install()
	client := filepath.Join(h.bundleDir(), "lib", "client.js")
	right, err := os.ReadFile(client)
	h.Must(err)
	var p *page
	for _, c := range []struct{ name, from, to, code, about string }{
		{"a row component that throws", "function Drafts({", `function Drafts({ odd = (() => { throw new RangeError("odd"); })(), `, "PAGE_FAULT", "rows"},
		{"no slot", `"sidebar.workspaces.directoryFlow"`, `"sidebar.of.another.DSH"`, compat.FeatureMissing, "page.sidebar"},
		{"no composer seam", `get("conversation")`, `get("conversation of another DSH")`, compat.FeatureMissing, "page.composer"},
		{"no React", `require("react-dom")`, `require("react-of-another-DSH")`, "PAGE_FAULT", "page"},
	} {
		edited := strings.ReplaceAll(string(right), c.from, c.to)
		if edited == string(right) {
			t.Fatalf("%s: the page's half has no %s", c.name, c.from)
		}
		h.replaceFile(client, []byte(edited), 0o644)
		p = h.boot(p)
		h.awaitMode("full")
		p.worksAsStock(c.name)
		h.Eventually("the status tells what the page lacks", func() error {
			status, err := h.API.Status(h.Ctx)
			if err != nil {
				return err
			}
			if !slices.ContainsFunc(status.Pages, func(r dsh.Reason) bool { return r.Code == c.code && (r.Subject == c.about || r.Expected == c.about) }) {
				return fmt.Errorf("%s: pages %+v", c.name, status.Pages)
			}
			return nil
		})
		if lines := h.logLines(c.code); len(lines) != 1 {
			t.Errorf("%s: %d lines in the log, want one: %q", c.name, len(lines), lines)
		}
		h.Must(h.Stop())
		h.Must(os.Remove(h.logFile()))
	}
}

// stockCase boots the harness, checks that it works as stock and that the status
// and exactly one line of the log give the reason, and stops it.
func (h *home) stockCase(p *page, name, code string) (_ *page, found string) {
	h.T.Helper()
	p = h.boot(p)
	p.worksAsStock(name)
	h.awaitMode("stock")
	status, err := h.API.Status(h.Ctx)
	h.Must(err)
	if len(status.Reasons) != 1 || status.Reasons[0].Code != code || status.Reasons[0].Found == "" || status.Reasons[0].Message == "" {
		h.T.Fatalf("%s: reasons %+v, want %s", name, status.Reasons, code)
	}
	if lines := h.logLines(code); len(lines) != 1 {
		h.T.Errorf("%s: %d lines in the log, want one: %q", name, len(lines), lines)
	}
	h.Must(h.Stop())
	h.Must(os.Remove(h.logFile()))
	return p, status.Reasons[0].Found
}

// boot starts the harness and shows its page, in p when there is one already.
func (h *home) boot(p *page) *page {
	h.T.Helper()
	h.start()
	if h.work.ID == "" {
		h.addWork()
	}
	if p == nil {
		return h.open()
	}
	p.Reloads()
	return p
}

// worksAsStock sends in a page that shows nothing of ours, makes a session and
// switches back.
func (p *page) worksAsStock(text string) {
	h := p.h
	h.T.Helper()
	h.Must(p.AwaitStock(patience))
	h.Must(p.PressNewSession())
	p.Pastes(text)
	h.Must(p.Enter())
	session := h.AwaitSent(text)
	h.Must(h.API.RenameSession(h.Ctx, session, text))
	h.Must(p.PressNewSession())
	p.isOn("a new session", func(current string) bool { return current != "" && current != session })
	h.Eventually("the sent session has a row", func() error { return p.OpenStockRow(text) })
	p.isOn("the sent session", func(current string) bool { return current == session })
	if errs := p.Errors(); len(errs) > 0 {
		h.T.Errorf("%s: the page threw %q", text, errs)
	}
}

func (p *page) isOn(what string, right func(current string) bool) {
	p.h.T.Helper()
	p.h.Eventually("the page shows "+what, func() error {
		current, err := p.Current()
		if err == nil && !right(current) {
			err = fmt.Errorf("it shows %q", current)
		}
		return err
	})
}

// makeOdd puts testdata/oddplugin in the place of the plugin, described as it is.
func (h *home) makeOdd() {
	h.T.Helper()
	odd, err := oddBinary()
	h.Must(err)
	binary := h.pluginBinary()
	h.replaceFile(binary, odd, 0o755)
	described := filepath.Join(filepath.Dir(binary), manifest.File)
	h.Must(os.Remove(described))
	_, err = manifest.Write(binary, "0.0.0", []int{shared.ProtocolVersion}, runtime.GOOS, runtime.GOARCH)
	h.Must(err)
}

// beOdd tells the odd plugin how to misbehave.
func (h *home) beOdd(how string) {
	h.T.Helper()
	h.replaceFile(filepath.Join(filepath.Dir(h.pluginBinary()), "odd"), []byte(how), 0o644)
}

// replaceFile makes a new file: the installed one may be a link to the staged one.
func (h *home) replaceFile(path string, data []byte, mode os.FileMode) {
	h.T.Helper()
	h.Must(errors.Join(os.WriteFile(path+".new", data, mode), os.Rename(path+".new", path)))
}

// logFile is our own log.
func (h *home) logFile() string { return filepath.Join(filepath.Dir(h.DraftFile()), "host.log") }

// logLines are the lines of our own log that hold text.
func (h *home) logLines(text string) []string {
	h.T.Helper()
	raw, err := os.ReadFile(h.logFile())
	h.Must(err)
	return slices.DeleteFunc(strings.Split(string(raw), "\n"), func(line string) bool { return !strings.Contains(line, text) })
}
