package dsh_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/draft-sessions/dsh-draft-sessions/host/dsh"
	"github.com/draft-sessions/dsh-draft-sessions/host/dsh/install"
)

// unpack puts an npm package where npm does.
func unpack(t *testing.T, archive, to string) {
	t.Helper()
	file, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	entries := tar.NewReader(unzipped)
	for {
		header, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(to, strings.TrimPrefix(header.Name, "package/"))
		data, err := io.ReadAll(entries)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(path), 0o755)
		}
		if err == nil {
			err = os.WriteFile(path, data, os.FileMode(header.Mode))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// command runs draft-sessions with the toolchain's DSH, without a network.
func command(t *testing.T, binary, home string, args ...string) string {
	t.Helper()
	tools := prepare(t).tools
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	args = append(args, "--dsh", filepath.Join(tools.CacheDir, "dsh-"+tools.DSHVersion), "--dsh-home", home)
	cmd := tools.Command(ctx, t.TempDir(), binary, args...)
	cmd.Env = append(cmd.Env, "npm_config_registry=http://127.0.0.1:1/", "npm_config_fetch_retries=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return string(out)
}

// profileFiles are the files of the home's web profile, without what pnpm keeps for itself.
func profileFiles(t *testing.T, home string) map[string]string {
	t.Helper()
	files := map[string]string{}
	entries, err := os.ReadDir(filepath.Join(home, "profiles", "web"))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if entry.Type().IsRegular() {
			raw, err := os.ReadFile(filepath.Join(home, "profiles", "web", entry.Name()))
			if err != nil {
				t.Fatal(err)
			}
			files[entry.Name()] = string(raw)
		}
	}
	return files
}

func same(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%s: %s is\n%s\nand was\n%s", what, name, got[name], want[name])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%s: there are %d files, there were %d", what, len(got), len(want))
	}
}

// Invariant 12, and the bar of the packages: two builds of one commit are the same;
// what they hold installs into a used home without a network and runs in the real
// DSH; removing it leaves the profile as it was, and the draft.
func TestPackagesInstallIntoTheRealHost(t *testing.T) {
	tools := prepare(t).tools
	first, second := filepath.Join(t.TempDir(), "first"), filepath.Join(t.TempDir(), "second")
	here := dsh.Platform{OS: runtime.GOOS, Arch: runtime.GOARCH}
	names, err := tools.Package(t.Context(), first, here)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := tools.Package(t.Context(), second, here); err != nil || !slices.Equal(again, names) || len(names) != 2 {
		t.Fatalf("%v, then %v, %v", names, again, err)
	}
	for _, name := range append(names, "SHA256SUMS") {
		a, errA := os.ReadFile(filepath.Join(first, name))
		b, errB := os.ReadFile(filepath.Join(second, name))
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			t.Errorf("%s differs between two builds (%v, %v)", name, errA, errB)
		}
	}

	modules := filepath.Join(t.TempDir(), "node_modules")
	unpack(t, filepath.Join(first, names[0]), filepath.Join(modules, install.PackageName))
	platform := filepath.Join(modules, install.PlatformPackage(runtime.GOOS, runtime.GOARCH))
	unpack(t, filepath.Join(first, names[1]), platform)
	launched, err := exec.CommandContext(t.Context(), tools.Node, filepath.Join(modules, install.PackageName, "lib", "command.js"), "version").CombinedOutput()
	if err != nil || !strings.Contains(string(launched), "manifest     fits") {
		t.Errorf("the package's command says %s, %v", launched, err)
	}
	binary := filepath.Join(platform, "bin", install.BinaryName)

	home := t.TempDir()
	if err := start(t, home).Stop(); err != nil { // as a user would have left it
		t.Fatal(err)
	}
	before := profileFiles(t, home)
	if out := command(t, binary, home, "install", "--from", first); !strings.Contains(out, "is installed") || strings.Contains(out, "stays off") {
		t.Errorf("install says %s", out)
	}
	installed := profileFiles(t, home)
	if out := command(t, binary, home, "install"); !strings.Contains(out, "installed already") { // the release beside it is the same
		t.Errorf("install again says %s", out)
	}
	same(t, "installing twice", profileFiles(t, home), installed)
	if out := command(t, binary, home, "gate"); !strings.Contains(out, "mode       full") || !strings.Contains(out, "bundle     0.1.0") {
		t.Errorf("gate says %s", out)
	}

	process := start(t, home)
	awaitMode(t, process.URL, "full")
	request := map[string]string{"workspaceId": "w", "workspacePath": "", "text": "kept through it all", "title": "", "agentPresetId": ""}
	if err := dsh.Draft(t.Context(), process.URL, "create", request, nil); err != nil {
		t.Fatal(err)
	}
	pid := pluginPid(t, home)
	if err := process.Stop(); err != nil {
		t.Fatal(err)
	}
	awaitGone(t, pid)

	if out := command(t, binary, home, "uninstall"); !strings.Contains(out, "is out of") || !strings.Contains(out, "drafts.json") {
		t.Errorf("uninstall says %s", out)
	}
	same(t, "uninstalling", profileFiles(t, home), before)
	command(t, binary, home, "install")
	same(t, "installing again", profileFiles(t, home), installed)
	raw, err := os.ReadFile(filepath.Join(home, "storages", "dsh-draft-sessions", "drafts.json"))
	if err != nil || !strings.Contains(string(raw), "kept through it all") {
		t.Errorf("the draft is not kept: %v", err)
	}
}
