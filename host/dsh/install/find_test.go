package install

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
	"github.com/draft-sessions/dsh-draft-sessions/shared/compat"
)

const pin = "@deepseek-ai/dsh-client-ui-workspace"

// installation is a DSH as a package manager lays it out: the pinned package is a
// dependency of a dependency.
func installation(t *testing.T) (dir, root string) {
	t.Helper()
	dir = t.TempDir()
	root = filepath.Join(dir, "node_modules", HostPackage)
	put(t, filepath.Join(root, "package.json"), `{"name":"@deepseek-ai/dsh","version":"0.1.0-rc.8","bin":{"dsh":"lib/bin.js"},"dependencies":{"web-app":"1"}}`)
	put(t, filepath.Join(root, "lib", "bin.js"), "")
	put(t, filepath.Join(dir, "node_modules", "web-app", "package.json"), `{"name":"web-app","bin":"x","peerDependencies":{"`+pin+`":"*","gone":"*"}}`)
	put(t, filepath.Join(dir, "node_modules", pin, "package.json"), `{"name":"`+pin+`","version":"0.1.0-rc.8"}`)
	return dir, root
}

func TestFind(t *testing.T) {
	dir, root := installation(t)
	for _, where := range []string{dir, root} {
		d, err := Find(where)
		if err != nil || d.Root != root || d.Version != "0.1.0-rc.8" || len(d.Command) != 2 || d.Command[1] != filepath.Join(root, "lib", "bin.js") {
			t.Errorf("%s: %+v, %v", where, d, err)
		}
	}
	script := filepath.Join(dir, "node_modules", ".bin", "dsh")
	put(t, script, "#!/bin/sh\nexport NODE_PATH=\"/x/@deepseek-ai/dsh/node_modules:/y\"\nexec node \"$basedir/../@deepseek-ai/dsh/lib/bin.js\" \"$@\"\n")
	linked := filepath.Join(dir, "bin", "dsh")
	if err := os.MkdirAll(filepath.Dir(linked), 0o755); err != nil {
		t.Fatal(err)
	}
	link(t, filepath.Join(root, "lib", "bin.js"), linked)
	for _, command := range []string{script, linked} {
		if err := os.Chmod(command, 0o755); err != nil {
			t.Fatal(err)
		}
		d, err := Find(command)
		if err != nil || d.Version != "0.1.0-rc.8" || len(d.Command) != 1 || d.Command[0] != command {
			t.Errorf("%s: %+v, %v", command, d, err)
		}
		t.Setenv("PATH", filepath.Dir(command))
		if d, err := Find(""); err != nil || d.Command[0] != command {
			t.Errorf("on the PATH: %+v, %v", d, err)
		}
	}
	foreign := filepath.Join(dir, "other")
	put(t, foreign, "#!/bin/sh\n")
	t.Setenv("PATH", t.TempDir())
	for _, where := range []string{"", foreign, filepath.Join(dir, "none"), t.TempDir()} {
		if d, err := Find(where); shared.CodeOf(err) != DSHNotFound {
			t.Errorf("%q: %+v, %v", where, d, err)
		}
	}
}

// factsOf gives the answers as "subject source version".
func factsOf(t *testing.T, d *DSH, home string) []string {
	t.Helper()
	host := compat.Host{Package: HostPackage, Pins: map[string]string{pin: "0.1.0-rc.8"}}
	f := d.Facts(t.Context(), home, "web", host)
	var out []string
	for _, a := range f.Answers {
		if a.Subject == compat.SubjectNode {
			continue // whatever this machine has
		}
		version := a.Version
		if a.Problem != "" {
			version = "problem: " + a.Problem
		}
		out = append(out, fmt.Sprintf("%s %s %s", a.Subject, a.Source, version))
	}
	return out
}

func TestFacts(t *testing.T) {
	dir, root := installation(t)
	home := t.TempDir()
	fake := with(t, "0.1.0-rc.8")
	d := &DSH{Command: fake.Command, Root: root, Version: "0.1.0-rc.8"}
	expect := func(name string, want ...string) {
		t.Helper()
		if got := factsOf(t, d, home); strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	const host, own = HostPackage + " installed 0.1.0-rc.8", HostPackage + " own 0.1.0-rc.8"
	expect("as installed", host, own, pin+" installed 0.1.0-rc.8")
	put(t, filepath.Join(profileFolder(home, "web"), "node_modules", pin, "package.json"), `{"version":"0.1.0-rc.9"}`)
	expect("with a copy in the profile", host, own, pin+" installed 0.1.0-rc.8", pin+" loaded 0.1.0-rc.9")
	put(t, filepath.Join(dir, "node_modules", "web-app", "node_modules", pin, "package.json"), `{"name":"`+pin+`","version":"0.1.0-rc.7"}`)
	expect("with another copy below", host, own, pin+" installed 0.1.0-rc.7", pin+" loaded 0.1.0-rc.9")
	put(t, filepath.Join(root, "package.json"), `{"name":"@deepseek-ai/dsh","dependencies":{"web-app":"1","`+pin+`":"1"}}`)
	expect("with two copies", host, own, pin+" installed 0.1.0-rc.8", pin+" installed 0.1.0-rc.7", pin+" loaded 0.1.0-rc.9")
	removeAll(t, dir, "node_modules/web-app")
	removeAll(t, dir, "node_modules/"+pin)
	removeAll(t, home, "profiles")
	expect("without it", host, own, pin+" installed ")
}

// Invariant 9: a version probe that hangs for ever is ended, and told.
func TestHangingProbeIsTold(t *testing.T) {
	_, root := installation(t)
	d := &DSH{Command: with(t, "hang").Command, Root: root, Version: "0.1.0-rc.8", ProbeWithin: 100 * time.Millisecond}
	got := strings.Join(factsOf(t, d, t.TempDir()), "\n")
	if !strings.Contains(got, "own problem: ") || !strings.Contains(got, "no answer within 100ms") || !strings.Contains(got, pin+" installed 0.1.0-rc.8") {
		t.Errorf("%s", got)
	}
}
