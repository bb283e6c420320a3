package standalone_test

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/browser"
	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/standalone"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func mustGet[T any](t testing.TB) func(T, error) T {
	return func(value T, err error) T {
		t.Helper()
		must(t, err)
		return value
	}
}

// newHost makes a host on a new home that ends with the test; it is not started.
func newHost(t *testing.T) *standalone.Host {
	t.Helper()
	binary, err := built()
	must(t, err)
	host, err := standalone.New(binary, t.TempDir())
	must(t, err)
	t.Cleanup(func() {
		if err := host.Stop(); err != nil {
			t.Error(err)
		}
		// Invariant 11.
		if _, err := gate.leaks.Folder(t.Name(), host.Dir); err != nil {
			t.Error(err)
		}
	})
	return host
}

// startHost runs a host on a new home until the test ends.
func startHost(t *testing.T) *standalone.Host {
	t.Helper()
	host := newHost(t)
	must(t, host.Start(t.Context()))
	return host
}

// program builds a command, such as the example agent of the Agent Client Protocol's
// Go SDK.
func program(t *testing.T, pkg string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "agent")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", path, pkg)
	build.Dir = gate.source
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// open opens the page in a profile of its own; when the test ends it must not have
// thrown anything or violated its content security policy.
func open(t *testing.T, host *standalone.Host, look browser.Look) *standalone.Page {
	t.Helper()
	page, err := standalone.Open(t.Context(), theBrowser(t), host, look)
	must(t, err)
	clean(t, page)
	return page
}

func clean(t *testing.T, page *standalone.Page) {
	t.Helper()
	t.Cleanup(func() {
		defer page.Close()
		for _, thrown := range page.Errors() {
			t.Error("the page threw:", thrown)
		}
		if page.Closed() {
			return
		}
		violations, err := page.Violations()
		if err != nil || len(violations) > 0 {
			t.Error("content security policy:", violations, err)
		}
		if t.Failed() {
			picture := filepath.Join(t.ArtifactDir(), "page.png")
			t.Log("the page at the end:", picture, page.Screenshot(picture))
		}
	})
}

var (
	down   = browser.Key{Key: "ArrowDown", Code: "ArrowDown", VirtualKey: 40}
	enter  = browser.Key{Key: "Enter", Code: "Enter", VirtualKey: 13, Text: "\r"}
	remove = browser.Key{Key: "Delete", Code: "Delete", VirtualKey: 46}
	escape = browser.Key{Key: "Escape", Code: "Escape", VirtualKey: 27}
	undo   = browser.Key{Key: "z", Code: "KeyZ", VirtualKey: 'Z', Ctrl: true}
	send   = browser.Key{Key: "Enter", Code: "Enter", VirtualKey: 13, Ctrl: true}
	toList = browser.Key{Key: "F6", Code: "F6", VirtualKey: 117}
)

func alt(key browser.Key) browser.Key {
	key.Alt = true
	return key
}
