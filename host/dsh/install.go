package dsh

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/Masterminds/semver/v3"
)

const (
	nodeRange   = "^22.19.0 || >=24.0.0"
	nodePackage = "24"
	pnpmPackage = "10"
	// finishedMarker holds the request of a whole install; without it the folder is done anew.
	finishedMarker = ".finished"
	// outputTail bounds what of a failed command's output goes into its error, in bytes.
	outputTail = 4 << 10
)

// pnpmWorkspace makes the pinned DSH resolve as it was tested: newer releases of
// its framework break it, and its packages are younger than pnpm's release-age rule allows.
const pnpmWorkspace = `packages: [.]
minimumReleaseAgeExclude: ["@deepseek-ai/*"]
onlyBuiltDependencies: ["@deepseek-ai/dsh-subprocess-local", koffi, node-pty, protobufjs]
overrides:
  "@deepseek-ai/cordis": 4.0.2
  "@deepseek-ai/cordis-plugin-hmr": 1.0.17
  "@deepseek-ai/cordis-plugin-loader": 1.0.3
  "@deepseek-ai/cordis-plugin-include": 1.0.7
  "@deepseek-ai/cordis-plugin-group": 1.0.2
  "@deepseek-ai/cordis-plugin-timer": 1.1.4
`

func (t *Toolchain) prepareNode(ctx context.Context) error {
	if node, ok := machineNode(ctx); ok {
		t.Node = node
		t.setPath(filepath.Dir(node))
		return nil
	}
	pkg, err := nodePackageName()
	if err != nil {
		return err
	}
	dir, err := t.npmInstall(ctx, "node", pkg+"@"+nodePackage)
	if err != nil {
		return err
	}
	t.Node = filepath.Join(dir, "node_modules", pkg, "bin", "node")
	t.setPath(filepath.Dir(t.Node))
	return nil
}

func machineNode(ctx context.Context) (string, bool) {
	node, err := exec.LookPath("node")
	if err != nil {
		return "", false
	}
	out, err := exec.CommandContext(ctx, node, "--version").Output()
	if err != nil {
		return "", false
	}
	version, err := semver.NewVersion(strings.TrimSpace(string(out)))
	if err != nil {
		return "", false
	}
	wanted, err := semver.NewConstraint(nodeRange)
	if err != nil || !wanted.Check(version) {
		return "", false
	}
	node, err = filepath.EvalSymlinks(node)
	return node, err == nil
}

func nodePackageName() (string, error) {
	arch, ok := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	if !ok || (runtime.GOOS != "linux" && runtime.GOOS != "darwin") {
		return "", fmt.Errorf("no Node %s here and npm has none for %s/%s: install Node first",
			nodeRange, runtime.GOOS, runtime.GOARCH)
	}
	return fmt.Sprintf("node-%s-%s", runtime.GOOS, arch), nil
}

func (t *Toolchain) setPath(dirs ...string) {
	t.path = strings.Join(append(dirs, os.Getenv("PATH")), string(os.PathListSeparator))
}

func (t *Toolchain) preparePnpm(ctx context.Context) error {
	dir, err := t.npmInstall(ctx, "pnpm", "pnpm@"+pnpmPackage)
	if err != nil {
		return err
	}
	// Node's folder comes first: pnpm's own launcher takes the first node of the PATH.
	t.setPath(filepath.Dir(t.Node), filepath.Join(dir, "node_modules", ".bin"))
	return nil
}

func (t *Toolchain) npmInstall(ctx context.Context, name, spec string) (string, error) {
	return t.installOnce(name, spec, func(dir string) error {
		manifest := []byte(`{"name":"draft-sessions-` + name + `","private":true}`)
		if err := os.WriteFile(filepath.Join(dir, "package.json"), manifest, 0o644); err != nil {
			return err
		}
		cmd := exec.CommandContext(ctx, "npm", "install", "--no-audit", "--no-fund", "--loglevel=error", spec)
		cmd.Dir = dir
		return run(cmd)
	})
}

func (t *Toolchain) prepareDSH(ctx context.Context) error {
	manifest, err := json.Marshal(map[string]any{
		"name": "draft-sessions-dsh-host", "private": true,
		"dependencies": map[string]string{"@deepseek-ai/dsh": t.DSHVersion},
	})
	if err != nil {
		return err
	}
	dir, err := t.installOnce("dsh-"+t.DSHVersion, string(manifest)+pnpmWorkspace, func(dir string) error {
		if err := os.WriteFile(filepath.Join(dir, "package.json"), manifest, 0o644); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, "pnpm-workspace.yaml"), []byte(pnpmWorkspace), 0o644); err != nil {
			return err
		}
		return run(t.Command(ctx, dir, "pnpm", "install", "--config.auto-install-peers=true"))
	})
	if err != nil {
		return err
	}
	t.DSH, err = binEntry(filepath.Join(dir, "node_modules", "@deepseek-ai", "dsh"), "dsh")
	return err
}

// binEntry is the script behind a command of an installed package: DSH is run
// without the shell shim, so that its process id is its own.
func binEntry(pkg, command string) (string, error) {
	raw, err := os.ReadFile(filepath.Join(pkg, "package.json"))
	if err != nil {
		return "", fmt.Errorf("find the command %s: %w", command, err)
	}
	var manifest struct {
		Bin map[string]string `json:"bin"`
	}
	if err := json.Unmarshal(raw, &manifest); err != nil || manifest.Bin[command] == "" {
		return "", fmt.Errorf("%s declares no command %s", pkg, command)
	}
	return filepath.EvalSymlinks(filepath.Join(pkg, manifest.Bin[command]))
}

// installOnce runs install in an empty folder of that name, unless a whole
// install of the same request is there already. The caller holds the lock.
func (t *Toolchain) installOnce(name, request string, install func(dir string) error) (string, error) {
	dir := filepath.Join(t.CacheDir, name)
	marker := filepath.Join(dir, finishedMarker)
	if done, err := os.ReadFile(marker); err == nil && string(done) == request {
		return dir, nil
	}
	t.say("installing %s", name)
	if err := os.RemoveAll(dir); err != nil {
		return "", fmt.Errorf("clear an unfinished install: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("install %s: %w", name, err)
	}
	if err := install(dir); err != nil {
		return "", fmt.Errorf("install %s: %w", name, err)
	}
	if err := os.WriteFile(marker, []byte(request), 0o644); err != nil {
		return "", fmt.Errorf("install %s: %w", name, err)
	}
	return dir, nil
}

// Command is a command of the toolchain (node, pnpm) in dir, with its PATH.
func (t *Toolchain) Command(ctx context.Context, dir, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, t.lookPath(name), args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+t.path)
	return cmd
}

// lookPath searches the toolchain's PATH, which exec does not.
func (t *Toolchain) lookPath(name string) string {
	for _, dir := range filepath.SplitList(t.path) {
		candidate := filepath.Join(dir, name)
		if info, err := os.Stat(candidate); err == nil && !info.IsDir() && info.Mode()&0o111 != 0 {
			return candidate
		}
	}
	return name
}

// run runs cmd and puts the end of its output into the error.
func run(cmd *exec.Cmd) error {
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if err == nil {
		return nil
	}
	tail := out.Bytes()
	if len(tail) > outputTail {
		tail = tail[len(tail)-outputTail:]
	}
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("%s is not installed: %w", cmd.Args[0], err)
	}
	return fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, bytes.TrimSpace(tail))
}
