package install

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// archived packs files as npm does.
func archived(t *testing.T, path string, content map[string]string) {
	t.Helper()
	var data bytes.Buffer
	compressed := gzip.NewWriter(&data)
	archive := tar.NewWriter(compressed)
	for name, text := range content {
		mode := int64(0o644)
		if strings.HasSuffix(name, "bin/"+BinaryName) {
			mode = 0o755
		}
		if err := archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: mode, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if err := compressed.Close(); err != nil {
		t.Fatal(err)
	}
	put(t, path, data.String())
}

// packages is a folder with both packages of a release, packed.
func packages(t *testing.T, dir, version string) {
	t.Helper()
	bundle, platform := map[string]string{}, map[string]string{"package/package.json": "{}"}
	for name, text := range tree(t, release(t, version)) {
		if strings.HasPrefix(name, "bin/") {
			platform["package/"+name] = text
		} else {
			bundle["package/"+name] = text
		}
	}
	archived(t, filepath.Join(dir, PackageName+"-"+version+".tgz"), bundle)
	archived(t, filepath.Join(dir, PlatformPackage(runtime.GOOS, runtime.GOARCH)+"-"+version+".tgz"), platform)
}

func TestLoadTakesTheNewestWholeRelease(t *testing.T) {
	dir := t.TempDir()
	packages(t, dir, "0.9.0")
	packages(t, dir, "0.10.0")
	put(t, filepath.Join(dir, PackageName+"-0.11.0.tgz"), "its binary's package is missing")
	put(t, filepath.Join(dir, PlatformPackage("plan9", "mips")+"-0.12.0.tgz"), "another platform's")
	b := load(t, dir)
	if b.Version != "0.10.0" {
		t.Errorf("loaded %s", b.Version)
	}
	folder, err := b.place(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(folder, "bin", BinaryName)); err != nil || info.Mode()&0o111 == 0 {
		t.Errorf("the binary cannot be run: %v, %v", info, err)
	}
}

func TestLoadFindsThePlatformsPackageBesideTheBundle(t *testing.T) {
	modules := filepath.Join(t.TempDir(), "node_modules")
	bundle := filepath.Join(modules, PackageName)
	if err := os.CopyFS(bundle, os.DirFS(release(t, "0.1.0"))); err != nil {
		t.Fatal(err)
	}
	platform := filepath.Join(modules, PlatformPackage(runtime.GOOS, runtime.GOARCH))
	put(t, filepath.Join(platform, "package.json"), `{"name":"`+PlatformPackage(runtime.GOOS, runtime.GOARCH)+`","version":"0.1.0"}`)
	if err := os.Rename(filepath.Join(bundle, "bin"), filepath.Join(platform, "bin")); err != nil {
		t.Fatal(err)
	}
	for name, find := range map[string]func() (*Bundle, error){
		"by its folder":  func() (*Bundle, error) { return Load(bundle) },
		"by the command": func() (*Bundle, error) { return loadBeside(filepath.Join(platform, "bin", BinaryName)) },
	} {
		b, err := find()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if _, err := b.place(t.TempDir()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := os.RemoveAll(platform); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(bundle); shared.CodeOf(err) != BundleNotFound {
		t.Errorf("without the platform's package: %v", err)
	}
}

// What is damaged or not of one release is refused before a profile is touched.
func TestLoadAndPlaceRefuse(t *testing.T) {
	for name, c := range map[string]struct {
		code  shared.Code
		spoil func(t *testing.T, dir string)
	}{
		"no packages": {BundleNotFound, func(t *testing.T, dir string) { removeAll(t, dir, "package.json") }},
		"a changed binary": {BundleInvalid, func(t *testing.T, dir string) {
			put(t, filepath.Join(dir, "bin", BinaryName), "#!/bin/sh\necho else\n")
		}},
		"no binary": {BundleInvalid, func(t *testing.T, dir string) { removeAll(t, dir, "bin/"+BinaryName) }},
		"another platform": {BundleInvalid, func(t *testing.T, dir string) {
			edit(t, dir, "bin/draft-sessions.manifest.json", runtime.GOOS, "plan9")
		}},
		"another release":   {BundleInvalid, func(t *testing.T, dir string) { edit(t, dir, "package.json", "0.1.0", "0.2.0") }},
		"no version":        {BundleInvalid, func(t *testing.T, dir string) { edit(t, dir, "package.json", "0.1.0", "") }},
		"a link in the way": {BundleInvalid, func(t *testing.T, dir string) { link(t, "/", filepath.Join(dir, "lib", "root")) }},
	} {
		t.Run(name, func(t *testing.T) {
			dir := release(t, "0.1.0")
			c.spoil(t, dir)
			home := t.TempDir()
			b, err := Load(dir)
			if err == nil {
				_, err = b.place(home)
			}
			if shared.CodeOf(err) != c.code {
				t.Errorf("%v, want %s", err, c.code)
			}
			if left := tree(t, home); len(left) > 0 {
				t.Errorf("left %v", left)
			}
		})
	}
	if _, err := Load(""); shared.CodeOf(err) != BundleNotFound {
		t.Errorf("beside the test binary: %v", err)
	}
	if _, err := Load(filepath.Join(t.TempDir(), "none")); shared.CodeOf(err) != BundleNotFound {
		t.Errorf("no folder: %v", err)
	}
}

func TestArchivesOfAnotherShapeAreRefused(t *testing.T) {
	for _, name := range []string{"../evil", "package/../evil", "package//x", "/etc/x", "other/x", "package/./x"} {
		path := filepath.Join(t.TempDir(), "x.tgz")
		archived(t, path, map[string]string{name: "x"})
		if content, err := readArchive(path); err == nil {
			t.Errorf("%q was read as %v", name, content)
		}
	}
	path := filepath.Join(t.TempDir(), "x.tgz")
	put(t, path, "no archive")
	if _, err := readArchive(path); err == nil {
		t.Error("words were read as an archive")
	}
}

// A bundle that a crash has cut off is made anew.
func TestPlaceMendsItsFolder(t *testing.T) {
	home := t.TempDir()
	b := load(t, release(t, "0.1.0"))
	folder, err := b.place(home)
	if err != nil {
		t.Fatal(err)
	}
	removeAll(t, folder, "lib")
	if _, err := b.place(home); err != nil || !b.whole(folder) {
		t.Errorf("whole %v, %v", b.whole(folder), err)
	}
}

func removeAll(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

func edit(t *testing.T, dir, name, from, to string) {
	t.Helper()
	path := filepath.Join(dir, name)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	put(t, path, strings.Replace(string(data), from, to, 1))
}

func link(t *testing.T, to, path string) {
	t.Helper()
	if err := os.Symlink(to, path); err != nil {
		t.Fatal(err)
	}
}
