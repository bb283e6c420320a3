package dsh

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/draft-sessions/dsh-draft-sessions/host/dsh/install"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
	"github.com/draft-sessions/dsh-draft-sessions/shared/manifest"
)

// bundleManifest is the package.json of a staged bundle. Everything it needs is
// in the folder, so it names no dependency and installs without a network.
func bundleManifest(version string) map[string]any {
	return map[string]any{
		"name":        install.PackageName,
		"version":     version,
		"description": "Draft sessions for the DeepSeek Harness.",
		"license":     "MIT",
		"type":        "module",
		"main":        "lib/index.js",
		"bin":         map[string]string{"draft-sessions": "lib/command.js"},
		"exports": map[string]string{
			".":                    "./lib/index.js",
			"./client":             "./lib/client.js",
			"./package.json":       "./package.json",
			"./cordis.patch.yml":   "./cordis.patch.yml",
			"./compatibility.json": "./compatibility.json",
		},
		"files": []string{"bin", "lib", "proto", "compatibility.json", "cordis.patch.yml", "LICENSE", "THIRD_PARTY_LICENSES"},
		"dsh": map[string]any{
			"bundle": map[string]string{"patch": "./cordis.patch.yml"},
			"client": map[string]any{
				"platform": "web",
				"inject":   []string{"@deepseek-ai/dsh-client-runtime", "@deepseek-ai/dsh-client-ui-workspace"},
			},
		},
	}
}

const cordisPatch = `- insert:
    - id: draft-sessions
      name: draft-sessions-dsh
`

// Stage builds the whole bundle into dir, which it replaces: the plugin binary
// with its manifest (bin/), the bundled halves (lib/), the gRPC contract (proto/), the pins and the
// metadata that DSH reads. It needs Go, and npm for the first time.
func (t *Toolchain) Stage(ctx context.Context, dir string) error {
	return t.stage(ctx, dir, func(binary string) error {
		cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", binary, "./cmd/draft-sessions")
		cmd.Dir = t.source
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // as in the packages, whose build then finds most done
		return run(cmd)
	})
}

// StageBinary is [Toolchain.Stage] with a plugin binary that is built already,
// such as one that misbehaves for a test.
func (t *Toolchain) StageBinary(ctx context.Context, dir, binary string) error {
	return t.stage(ctx, dir, func(to string) error { return copyFile(to, binary, 0o755) })
}

func (t *Toolchain) stage(ctx context.Context, dir string, build func(binary string) error) error {
	if err := t.nodeModules(ctx); err != nil {
		return err
	}
	t.say("building the bundle")
	// Always new files: an installed copy may be hard links to the old ones.
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("clear the bundle's folder: %w", err)
	}
	for _, sub := range []string{"bin", "lib", "proto"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			return fmt.Errorf("stage the bundle: %w", err)
		}
	}
	version, err := t.bundleVersion()
	if err != nil {
		return err
	}
	binary := filepath.Join(dir, "bin", install.BinaryName)
	if err := build(binary); err != nil {
		return fmt.Errorf("stage the plugin binary: %w", err)
	}
	if _, err := manifest.Write(binary, version, []int{shared.ProtocolVersion}, runtime.GOOS, runtime.GOARCH); err != nil {
		return fmt.Errorf("stage the plugin binary: %w", err)
	}
	return t.stageHalves(dir, bundleManifest(version))
}

// stageHalves puts everything but the binary into dir, in which lib and proto exist.
func (t *Toolchain) stageHalves(dir string, declared map[string]any) error {
	if err := t.bundle(dir); err != nil {
		return fmt.Errorf("stage the bundle: %w", err)
	}
	here := filepath.Join("host", "dsh")
	for to, from := range map[string]string{
		"proto/draft_sessions.proto": filepath.Join("shared", "proto", "draftsessionsv1", "draft_sessions.proto"),
		"proto/go_plugin.proto":      filepath.Join(here, "server", "proto", "go_plugin.proto"),
		"compatibility.json":         "compatibility.json",
		"LICENSE":                    "LICENSE",
	} {
		if err := copyFile(filepath.Join(dir, filepath.FromSlash(to)), filepath.Join(t.source, from), 0o644); err != nil {
			return fmt.Errorf("stage the bundle: %w", err)
		}
	}
	description, err := json.MarshalIndent(declared, "", "  ")
	if err != nil {
		return fmt.Errorf("stage the bundle: %w", err)
	}
	return errors.Join(
		os.WriteFile(filepath.Join(dir, "package.json"), append(description, '\n'), 0o644),
		os.WriteFile(filepath.Join(dir, "cordis.patch.yml"), []byte(cordisPatch), 0o644),
	)
}

func (t *Toolchain) bundleVersion() (string, error) {
	raw, err := os.ReadFile(filepath.Join(t.source, "host", "dsh", "package.json"))
	if err != nil {
		return "", fmt.Errorf("read the bundle's version: %w", err)
	}
	var declared struct {
		Version string `json:"version"`
	}
	if err := json.Unmarshal(raw, &declared); err != nil {
		return "", fmt.Errorf("read the bundle's version: %w", err)
	}
	return declared.Version, nil
}

// nodeModules installs what is bundled, unless it is there for this lock file.
func (t *Toolchain) nodeModules(ctx context.Context) error {
	return t.Dependencies(ctx, filepath.Join("host", "dsh"))
}

// Dependencies installs the Node packages that the lock file of dir names, a folder
// of the source, unless they are there for exactly this lock file. It needs npm, and
// several processes may ask for it at once.
func (t *Toolchain) Dependencies(ctx context.Context, dir string) error {
	unlock, err := t.lock(ctx, "node-modules")
	if err != nil {
		return err
	}
	defer unlock()
	path := filepath.Join(t.source, dir)
	wanted, err := os.ReadFile(filepath.Join(path, "package-lock.json"))
	if err != nil {
		return fmt.Errorf("install the Node packages of %s: %w", dir, err)
	}
	marker := filepath.Join(path, "node_modules", finishedMarker)
	if done, err := os.ReadFile(marker); err == nil && string(done) == string(wanted) {
		return nil
	}
	t.say("installing the Node packages of %s", dir)
	if err := run(t.Command(ctx, path, "npm", "ci", "--no-audit", "--no-fund", "--loglevel=error", "--ignore-scripts")); err != nil {
		return fmt.Errorf("install the Node packages of %s: %w", dir, err)
	}
	if err := os.WriteFile(marker, wanted, 0o644); err != nil {
		return fmt.Errorf("install the Node packages of %s: %w", dir, err)
	}
	return nil
}

func copyFile(to, from string, mode os.FileMode) error {
	raw, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, raw, mode)
}
