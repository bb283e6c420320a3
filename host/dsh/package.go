package dsh

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/draft-sessions/dsh-draft-sessions/host/dsh/install"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
	"github.com/draft-sessions/dsh-draft-sessions/shared/manifest"
)

// Platform is an operating system and a processor, by Go's names.
type Platform struct{ OS, Arch string }

func (p Platform) String() string { return p.OS + "/" + p.Arch }

// Platforms are those that packages are made for. Windows is none of them: the file
// locks, folder syncs and unix sockets that drafts stand on are not there in the
// same way, and nobody has tried.
var Platforms = []Platform{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}}

// packed is the time of every file in an archive: the same source gives the same bytes.
var packed = time.Date(1985, time.October, 26, 8, 15, 0, 0, time.UTC)

const checksumsFile = "SHA256SUMS"

// Package builds the release into dir, which it replaces: the bundle's npm package,
// a package with the binary for each platform, and their checksums. Two builds of
// one commit with the same Go, Node packages and platforms are the same, byte for
// byte. It gives the names of the packages in dir.
func (t *Toolchain) Package(ctx context.Context, dir string, platforms ...Platform) ([]string, error) {
	if err := t.nodeModules(ctx); err != nil {
		return nil, err
	}
	version, err := t.bundleVersion()
	if err != nil {
		return nil, err
	}
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return nil, fmt.Errorf("clear the folder of packages: %w", err)
	}
	work, err := os.MkdirTemp("", "draft-sessions-package-")
	if err != nil {
		return nil, fmt.Errorf("make the packages: %w", err)
	}
	defer func() { _ = os.RemoveAll(work) }()
	t.say("building the bundle's package")
	folders := []string{install.PackageName}
	if err := t.bundlePackage(filepath.Join(work, install.PackageName), version); err != nil {
		return nil, err
	}
	for _, platform := range platforms {
		t.say("building the binary for %s", platform)
		name := install.PlatformPackage(platform.OS, platform.Arch)
		if err := t.platformPackage(ctx, filepath.Join(work, name), version, platform); err != nil {
			return nil, fmt.Errorf("%s: %w", platform, err)
		}
		folders = append(folders, name)
	}
	var names []string
	var sums strings.Builder
	for _, folder := range folders {
		name := folder + "-" + version + ".tgz"
		sum, err := pack(filepath.Join(dir, name), filepath.Join(work, folder))
		if err != nil {
			return nil, fmt.Errorf("pack %s: %w", name, err)
		}
		_, _ = fmt.Fprintf(&sums, "%s  %s\n", sum, name) // a builder takes everything
		names = append(names, name)
	}
	if err := os.WriteFile(filepath.Join(dir, checksumsFile), []byte(sums.String()), 0o644); err != nil {
		return nil, fmt.Errorf("write the checksums: %w", err)
	}
	return names, nil
}

// bundlePackage is the bundle without a binary; npm brings the platform's package with it.
func (t *Toolchain) bundlePackage(dir, version string) error {
	for _, sub := range []string{"lib", "proto"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			return fmt.Errorf("make the bundle's package: %w", err)
		}
	}
	declared := bundleManifest(version)
	optional := map[string]string{}
	for _, platform := range Platforms {
		optional[install.PlatformPackage(platform.OS, platform.Arch)] = version
	}
	declared["optionalDependencies"] = optional
	return t.stageHalves(dir, declared)
}

// npmPlatform are Node's names.
var npmPlatform = map[string]string{"amd64": "x64", "arm64": "arm64"}

func (t *Toolchain) platformPackage(ctx context.Context, dir, version string, platform Platform) error {
	bin := filepath.Join(dir, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return err
	}
	binary := filepath.Join(bin, install.BinaryName)
	flags := "-s -w -X main.version=" + version
	if revision := t.revision(ctx); revision != "" {
		flags += " -X main.revision=" + revision
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags="+flags, "-o", binary, "./cmd/draft-sessions")
	cmd.Dir = t.source
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+platform.OS, "GOARCH="+platform.Arch, "GOFLAGS=", "GOAMD64=", "GOARM64=")
	if err := run(cmd); err != nil {
		return err
	}
	if _, err := manifest.Write(binary, version, []int{shared.ProtocolVersion}, platform.OS, platform.Arch); err != nil {
		return err
	}
	declared, err := json.MarshalIndent(map[string]any{
		"name": install.PlatformPackage(platform.OS, platform.Arch), "version": version, "license": "MIT",
		"description": fmt.Sprintf("The draft sessions binary for %s; installed by %s.", platform, install.PackageName),
		"os":          []string{platform.OS}, "cpu": []string{npmPlatform[platform.Arch]},
		"files": []string{"bin", "LICENSE"},
	}, "", "  ")
	if err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(dir, "package.json"), append(declared, '\n'), 0o644),
		copyFile(filepath.Join(dir, "LICENSE"), filepath.Join(t.source, "LICENSE"), 0o644),
		t.goLicenses(ctx, filepath.Join(bin, "THIRD_PARTY_LICENSES"), platform),
	)
}

// revision is the commit that is built, "" outside of git or when files differ from it.
func (t *Toolchain) revision(ctx context.Context) string {
	git := func(args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Dir = t.source
		out, err := cmd.Output()
		return strings.TrimSpace(string(out)), err
	}
	if changed, err := git("status", "--porcelain"); err != nil || changed != "" {
		return ""
	}
	commit, err := git("rev-parse", "HEAD")
	if err != nil {
		return ""
	}
	return commit
}

// goLicenses writes the licences of Go and of the modules in the binary.
func (t *Toolchain) goLicenses(ctx context.Context, to string, platform Platform) error {
	cmd := exec.CommandContext(ctx, "go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Dir}}{{end}}{{end}}", "./cmd/draft-sessions")
	cmd.Dir = t.source
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+platform.OS, "GOARCH="+platform.Arch)
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("list the modules: %w", err)
	}
	root := exec.CommandContext(ctx, "go", "env", "GOROOT")
	root.Dir = t.source
	goroot, err := root.Output()
	if err != nil {
		return fmt.Errorf("find the licence of Go: %w", err)
	}
	modules := map[string]string{"go": strings.TrimSpace(string(goroot))}
	for line := range strings.Lines(string(out)) {
		if module, dir, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
			modules[module] = dir
		}
	}
	return writeLicenses(to, modules)
}

// pack makes an npm package of a folder: sorted, of one time, owned by nobody. It
// gives the checksum.
func pack(to, dir string) (sum string, err error) {
	file, err := os.Create(to)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	compressed, err := gzip.NewWriterLevel(file, gzip.DefaultCompression)
	if err != nil {
		return "", err
	}
	archive := tar.NewWriter(compressed)
	err = filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		relative, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		mode := int64(0o644)
		if info.Mode()&0o111 != 0 {
			mode = 0o755
		}
		header := &tar.Header{
			Typeflag: tar.TypeReg, Name: "package/" + filepath.ToSlash(relative), Size: int64(len(data)),
			Mode: mode, ModTime: packed, Format: tar.FormatUSTAR,
		}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		_, err = archive.Write(data)
		return err
	})
	if err := errors.Join(err, archive.Close(), compressed.Close()); err != nil {
		return "", err
	}
	data, err := os.ReadFile(to)
	if err != nil {
		return "", err
	}
	hash := sha256.Sum256(data)
	return hex.EncodeToString(hash[:]), nil
}
