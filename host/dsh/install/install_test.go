package install

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// used is a home that somebody works with: formatted by hand, other profiles, drafts.
func used(t *testing.T) (home string) {
	t.Helper()
	home = t.TempDir()
	web := profileFolder(home, "web")
	put(t, filepath.Join(web, "package.json"), "{\n\t\"dsh\": {\"profile\": {\"bundles\": [\"base\", \"mine\"]}},\n\t\"dependencies\": {},   \"name\":\"mine\"}")
	put(t, filepath.Join(web, "cordis.patch.yml"), "# mine\n[]\n")
	put(t, filepath.Join(web, "pnpm-workspace.yaml"), "packages: [.]\n")
	put(t, filepath.Join(profileFolder(home, "tui"), "package.json"), `{ "name": "tui" }`)
	put(t, filepath.Join(storage(home), "drafts.json"), "drafts")
	return home
}

func options(home string, dsh *DSH) Options { return Options{DSH: dsh, Home: home, Profile: "web"} }

func add(t *testing.T, o Options, b *Bundle) Result {
	t.Helper()
	r, err := Add(t.Context(), o, b)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func remove(t *testing.T, o Options) Result {
	t.Helper()
	r, err := Remove(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Invariant 12: installing and removing leaves everything that is not ours as it
// was, byte for byte, and the drafts; doing it again changes nothing.
func TestInstallUninstallInstall(t *testing.T) {
	home := used(t)
	o := options(home, with(t, "good"))
	b := load(t, release(t, "0.1.0"))
	before := tree(t, home)

	if r := add(t, o, b); !r.Changed || r.Version != "0.1.0" {
		t.Errorf("installing: %+v", r)
	}
	version, folder, err := Installed(home, "web")
	if err != nil || version != "0.1.0" || folder == "" {
		t.Fatalf("installed is %s in %s, %v", version, folder, err)
	}
	first := tree(t, home)
	for name, text := range before {
		if name != "profiles/web/package.json" && first[name] != text {
			t.Errorf("installing changed %s", name)
		}
	}
	declared, err := os.ReadFile(filepath.Join(folder, "package.json"))
	if err != nil || !strings.Contains(string(declared), "0.1.0") || strings.Contains(string(declared), "optionalDependencies") {
		t.Errorf("the installed bundle makes a package manager look for its binary elsewhere: %s, %v", declared, err)
	}
	if r := add(t, o, b); r.Changed {
		t.Errorf("installing again: %+v", r)
	}
	if again := tree(t, home); !maps.Equal(again, first) {
		t.Error("installing again changed a file")
	}

	if r := remove(t, o); !r.Changed || r.Version != "0.1.0" {
		t.Errorf("removing: %+v", r)
	}
	after := tree(t, home)
	delete(after, "storages/dsh-draft-sessions/install.lock")
	if !maps.Equal(after, before) {
		t.Errorf("after removing there is %v, before there was %v", after, before)
	}
	if r := remove(t, o); r.Changed {
		t.Errorf("removing again: %+v", r)
	}
	add(t, o, b)
	if again := tree(t, home); !maps.Equal(again, first) {
		t.Error("the second install is not as the first")
	}
}

func TestUninstallKeepsWhatChangedMeanwhile(t *testing.T) {
	home := used(t)
	o := options(home, with(t, "good"))
	add(t, o, load(t, release(t, "0.1.0")))
	path := filepath.Join(profileFolder(home, "web"), "package.json")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	put(t, path, strings.Replace(string(data), `"mine"`, `"theirs"`, 1))
	remove(t, o)
	if data, err = os.ReadFile(path); err != nil || !strings.Contains(string(data), "theirs") || strings.Contains(string(data), PackageName) {
		t.Errorf("%s, %v", data, err)
	}
}

// An upgrade replaces the bundle; one whose DSH fails leaves the old one whole.
func TestUpgrade(t *testing.T) {
	home := used(t)
	add(t, options(home, with(t, "good")), load(t, release(t, "0.1.0")))
	first := tree(t, home)
	next := load(t, release(t, "0.2.0"))
	for _, how := range []string{"fail", "half", "lie"} {
		if _, err := Add(t.Context(), options(home, with(t, how)), next); shared.CodeOf(err) != DSHFailed {
			t.Errorf("%s: %v", how, err)
		}
		if now := tree(t, home); !maps.Equal(now, first) {
			t.Errorf("%s left another home", how)
		}
	}
	add(t, options(home, with(t, "good")), next)
	bundles, err := os.ReadDir(bundlesFolder(home))
	if version, _, instErr := Installed(home, "web"); err != nil || instErr != nil || version != "0.2.0" || len(bundles) != 2 { // and before-web.json
		t.Errorf("version %s, bundles %v, %v, %v", version, bundles, err, instErr)
	}
	remove(t, options(home, with(t, "good")))
	if s, err := look(home, "web"); err != nil || s.mentions() {
		t.Errorf("%+v, %v", s, err)
	}
}

// A failing install or uninstall is undone, and says what was kept.
func TestFailuresAreUndone(t *testing.T) {
	for _, how := range []string{"fail", "half", "lie"} {
		for _, existing := range []bool{true, false} {
			home := t.TempDir()
			if existing {
				home = used(t)
			}
			before := tree(t, home)
			_, err := Add(t.Context(), options(home, with(t, how)), load(t, release(t, "0.1.0")))
			if shared.CodeOf(err) != DSHFailed || !strings.Contains(err.Error(), storage(home)) {
				t.Errorf("%s: %v", how, err)
			}
			after := tree(t, home)
			delete(after, "storages/dsh-draft-sessions/install.lock")
			if !maps.Equal(after, before) {
				t.Errorf("%s (existing profile: %v) left %v", how, existing, after)
			}
		}
	}
	home := used(t)
	add(t, options(home, with(t, "good")), load(t, release(t, "0.1.0")))
	before := tree(t, home)
	if _, err := Remove(t.Context(), options(home, with(t, "fail"))); shared.CodeOf(err) != DSHFailed {
		t.Errorf("a failing uninstall: %v", err)
	}
	if !maps.Equal(tree(t, home), before) {
		t.Error("a failing uninstall left another home")
	}
}

// Invariant 9: a DSH that hangs is ended when the caller gives up, and undone.
func TestHangingDSHIsEnded(t *testing.T) {
	home := used(t)
	before := tree(t, profileFolder(home, "web"))
	ctx, cancel := context.WithCancel(t.Context())
	o := options(home, with(t, "hang"))
	o.Progress = func(line string) {
		if strings.HasPrefix(line, "adding") {
			cancel()
		}
	}
	if _, err := Add(ctx, o, load(t, release(t, "0.1.0"))); shared.CodeOf(err) != DSHFailed {
		t.Errorf("%v", err)
	}
	if !maps.Equal(tree(t, profileFolder(home, "web")), before) {
		t.Error("the profile was changed")
	}
}

func TestWithoutPnpmNothingIsChanged(t *testing.T) {
	home := used(t)
	dsh := with(t, "good")
	t.Setenv("PATH", t.TempDir())
	before := tree(t, profileFolder(home, "web"))
	if _, err := Add(t.Context(), options(home, dsh), load(t, release(t, "0.1.0"))); shared.CodeOf(err) != PnpmMissing {
		t.Errorf("%v", err)
	}
	if !maps.Equal(tree(t, profileFolder(home, "web")), before) {
		t.Error("the profile was changed")
	}
}

// Installing again puts right what has become of the installed copy, although pnpm
// believes that it is there.
func TestDamagedBundleIsMended(t *testing.T) {
	o := options(t.TempDir(), with(t, "believes"))
	bundle := load(t, release(t, "1.0.0"))
	installed := add(t, o, bundle)
	for name, damage := range map[string]func() error{
		"a missing binary":  func() error { return os.Remove(installed.Command) },
		"a changed binary":  func() error { return os.WriteFile(installed.Command, []byte("x"), 0o755) },
		"a missing library": func() error { return os.RemoveAll(filepath.Join(filepath.Dir(installed.Command), "..", "lib")) },
	} {
		t.Run(name, func(t *testing.T) {
			if err := damage(); err != nil {
				t.Fatal(err)
			}
			if again := add(t, o, bundle); !again.Changed || !Holds(o.Home, o.Profile, again.Folder) {
				t.Errorf("%+v", again)
			}
		})
	}
}

// A profile that names a bundle which is not there keeps DSH from starting: both
// commands mend it.
func TestMissingBundleIsMended(t *testing.T) {
	b := load(t, release(t, "0.1.0"))
	broken := func(t *testing.T, manifest string) (home string) {
		home = t.TempDir()
		put(t, filepath.Join(profileFolder(home, "web"), "package.json"), manifest)
		if _, _, err := Installed(home, "web"); shared.CodeOf(err) != ProfileInvalid {
			t.Errorf("the broken profile is told as %v", err)
		}
		return home
	}
	const listed = `{"name":"p","dsh":{"profile":{"bundles":["base","draft-sessions-dsh"]}}}`
	const depended = `{"name":"p","dependencies":{"draft-sessions-dsh":"file:/gone"},"dsh":{"profile":{"bundles":["base","draft-sessions-dsh"]}}}`
	for _, text := range []string{listed, depended} {
		home := broken(t, text)
		add(t, options(home, with(t, "good")), b)
		if version, _, err := Installed(home, "web"); err != nil || version != "0.1.0" {
			t.Errorf("installed %s, %v", version, err)
		}
		home = broken(t, text)
		remove(t, options(home, with(t, "good")))
		if s, err := look(home, "web"); err != nil || s.mentions() {
			t.Errorf("removed %+v, %v", s, err)
		}
	}
}

func TestBundleOfAnotherProfileStays(t *testing.T) {
	home := used(t)
	o := options(home, with(t, "good"))
	b := load(t, release(t, "0.1.0"))
	r := add(t, o, b)
	other := o
	other.Profile = "tui2"
	if err := os.Mkdir(profileFolder(home, other.Profile), 0o755); err != nil {
		t.Fatal(err)
	}
	add(t, other, b)
	remove(t, o)
	if !b.whole(r.Folder) {
		t.Error("the other profile's bundle is gone")
	}
	remove(t, other)
	if _, err := os.Stat(r.Folder); err == nil {
		t.Error("nobody's bundle stays")
	}
}

func TestInstallsOfOneHomeWaitForEachOther(t *testing.T) {
	home := used(t)
	o := options(home, with(t, "good"))
	b := load(t, release(t, "0.1.0"))
	var wait sync.WaitGroup
	results := make(chan error, 4)
	changed := make(chan bool, 4)
	for range 4 {
		wait.Go(func() {
			r, err := Add(t.Context(), o, b)
			results <- err
			changed <- r.Changed
		})
	}
	wait.Wait()
	close(results)
	close(changed)
	count := 0
	for err := range results {
		if err != nil {
			t.Error(err)
		}
	}
	for did := range changed {
		if did {
			count++
		}
	}
	if count != 1 {
		t.Errorf("%d of them installed it", count)
	}
}

func TestProfileNames(t *testing.T) {
	o := options(t.TempDir(), with(t, "good"))
	for _, name := range []string{"", ".", "..", "node_modules", "a/b", `a\b`} {
		o.Profile = name
		if _, err := Remove(t.Context(), o); shared.CodeOf(err) != ProfileInvalid {
			t.Errorf("%q: %v", name, err)
		}
	}
	// A mistyped name would make a profile that nobody uses.
	o.Profile = "wbe"
	if _, err := Add(t.Context(), o, load(t, release(t, "0.1.0"))); shared.CodeOf(err) != ProfileInvalid || !strings.Contains(err.Error(), "there is: web") {
		t.Errorf("a profile that is not there: %v", err)
	}
	if _, _, err := Installed(used(t), "wbe"); shared.CodeOf(err) != ProfileInvalid || !strings.Contains(err.Error(), "tui, web") {
		t.Errorf("a profile that is not there, of some: %v", err)
	}
	o.Profile = "web"
	put(t, filepath.Join(profileFolder(o.Home, "web"), "package.json"), "{")
	if _, err := Remove(t.Context(), o); shared.CodeOf(err) != ProfileInvalid {
		t.Errorf("a broken package.json: %v", err)
	}
	o.Home = filepath.Join(o.Home, "none")
	if r, err := Remove(t.Context(), o); err != nil || r.Changed {
		t.Errorf("no home: %+v, %v", r, err)
	}
	if _, err := os.Stat(o.Home); err == nil {
		t.Error("removing made a home")
	}
}

func TestInstallSaysWhatTakesTime(t *testing.T) {
	home := used(t)
	var lines []string
	o := options(home, with(t, "fail"))
	o.Progress = func(line string) { lines = append(lines, line) }
	_, err := Add(t.Context(), o, load(t, release(t, "0.1.0")))
	if len(lines) != 2 || !strings.Contains(lines[0], "0.1.0") || !strings.Contains(lines[1], "putting") {
		t.Errorf("said %q", lines)
	}
	if !strings.Contains(fmt.Sprint(err), "the fake fails") {
		t.Errorf("DSH's own words are missing: %v", err)
	}
}
