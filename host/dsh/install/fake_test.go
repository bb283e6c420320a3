package install

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
	"github.com/draft-sessions/dsh-draft-sessions/shared/manifest"
)

// envFake makes this test binary a DSH that changes profiles as the real one does
// with pnpm; its value says how it fails.
const envFake = "DRAFT_SESSIONS_FAKE_DSH"

func TestMain(m *testing.M) {
	if how := os.Getenv(envFake); how != "" {
		if err := fakeDSH(how, os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// fakeDSH is `dsh plugin --profile P add|remove|install ...` and `dsh --version`.
func fakeDSH(how string, args []string) error {
	if how == "hang" {
		time.Sleep(time.Hour)
	}
	if args[0] == "--version" {
		fmt.Println(how)
		return nil
	}
	dir := filepath.Join(os.Getenv("DSH_HOME"), "profiles", args[2])
	path := filepath.Join(dir, "package.json")
	if _, err := os.Stat(path); err != nil {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		text := `{"name":"fake","private":true,"dependencies":{},"dsh":{"profile":{"bundles":["base"]}}}`
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var p map[string]any
	if err := json.Unmarshal(data, &p); err != nil {
		return err
	}
	dependencies, _ := p["dependencies"].(map[string]any)
	if dependencies == nil {
		dependencies = map[string]any{}
	}
	layers := p["dsh"].(map[string]any)["profile"].(map[string]any)
	list, _ := layers["bundles"].([]any)
	isOurs := func(v any) bool { return v == PackageName }
	was := dependencies[PackageName] != nil
	if how == "lie" {
		return nil
	}
	switch args[3] {
	case "add":
		dependencies[PackageName] = args[len(args)-1]
		if !slices.ContainsFunc(list, isOurs) {
			list = append(list, PackageName)
		}
	case "remove":
		delete(dependencies, PackageName)
		if was {
			list = slices.DeleteFunc(list, isOurs)
		}
	}
	layers["bundles"] = list
	p["dependencies"] = dependencies
	lock := "lockfileVersion: '9.0'\n"
	if len(dependencies) == 0 {
		delete(p, "dependencies")
	} else {
		lock += "\npackages:\n"
	}
	out, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(path, append(out, '\n'), 0o644); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "pnpm-lock.yaml"), []byte(lock), 0o644); err != nil {
		return err
	}
	if how == "half" && args[3] != "install" {
		return nil
	}
	installed := filepath.Join(dir, "node_modules", PackageName)
	if _, err := os.Stat(installed); how == "believes" && args[3] == "add" && err == nil {
		return nil // as pnpm does, of which a copy need only be there
	}
	if err := os.RemoveAll(installed); err != nil {
		return err
	}
	if from, ok := dependencies[PackageName].(string); ok {
		if err := os.CopyFS(installed, os.DirFS(strings.TrimPrefix(from, "file:"))); err != nil {
			return err
		}
	}
	if how == "fail" && args[3] != "install" {
		return fmt.Errorf("the fake fails after it has changed everything")
	}
	return nil
}

// with makes a DSH that behaves like that, and a pnpm for it to be found.
func with(t *testing.T, how string) *DSH {
	t.Helper()
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "pnpm"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv(envFake, how)
	t.Setenv("GORACE", "atexit_sleep_ms=0") // the race detector would sleep for a second at each end
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return &DSH{Command: []string{self}, Root: bin, Version: "0.1.0-rc.8"}
}

// release makes the folder of a bundle for this machine.
func release(t *testing.T, version string) string {
	t.Helper()
	dir := t.TempDir()
	put(t, filepath.Join(dir, "package.json"), fmt.Sprintf(`{"name":%q,"version":%q,"optionalDependencies":{"x":"1.0.0"}}`, PackageName, version))
	put(t, filepath.Join(dir, "lib", "index.js"), "// "+version)
	binary := filepath.Join(dir, "bin", BinaryName)
	put(t, binary, "#!/bin/sh\n# "+version)
	if err := os.Chmod(binary, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := manifest.Write(binary, version, []int{shared.ProtocolVersion}, runtime.GOOS, runtime.GOARCH); err != nil {
		t.Fatal(err)
	}
	return dir
}

func load(t *testing.T, from string) *Bundle {
	t.Helper()
	b, err := Load(from)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// tree is every file below a folder, with its content.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	content, err := readFolder(dir)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for name, f := range content {
		out[name] = string(f.data)
	}
	return out
}
