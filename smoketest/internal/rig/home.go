// Package rig runs one harness home for the gate: a fresh DSH_HOME with a model
// stub of its own, workspaces as folders, and a harness that can be started,
// stopped, killed and started again on the same address. [New] makes one,
// [Home.Close] ends every process of it and says which ones had stayed.
package rig

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/draft-sessions/dsh-draft-sessions/host/dsh"
	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/dshapi"
	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/modelstub"
)

// welcomeSettings acknowledge the notice that DSH 0.1.0-rc.8 lays over its page
// on a first visit, so that tests see the page itself.
const welcomeSettings = "ui-onboarding:\n  welcomeNoticeVersion: 2026-08-13.1\n"

// Home is one DSH_HOME. Its methods must not be used from two goroutines at once.
type Home struct {
	// Root holds everything of the home and is removed by [Home.Close].
	Root string
	// Dir is the DSH_HOME.
	Dir string
	// Model answers the harness' prompts.
	Model *modelstub.Stub
	// API calls the running harness.
	API dshapi.Client
	// Env is added to the environment of the harness at each start.
	Env []string
	// BeforeRemove is called by Close when every process has ended, nil for nothing.
	BeforeRemove func() error

	tools   *dsh.Toolchain
	port    int
	process *dsh.Process
	pids    []int
}

// New makes a home without a bundle; its harness is not started yet.
func New(tools *dsh.Toolchain) (*Home, error) {
	// Short, since the paths of unix sockets are limited to about 100 bytes.
	root, err := os.MkdirTemp("", "ds-")
	if err != nil {
		return nil, fmt.Errorf("make a home: %w", err)
	}
	h := &Home{Root: root, Dir: filepath.Join(root, "home"), tools: tools}
	if err := h.prepare(); err != nil {
		return nil, errors.Join(fmt.Errorf("make a home: %w", err), os.RemoveAll(root))
	}
	return h, nil
}

func (h *Home) prepare() error {
	if err := os.Mkdir(h.Dir, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(h.Dir, "settings.yaml"), []byte(welcomeSettings), 0o600); err != nil {
		return err
	}
	port, err := freePort()
	if err != nil {
		return err
	}
	model, err := modelstub.Start()
	if err != nil {
		return err
	}
	h.port, h.Model = port, model
	// The harness leaves files in the temporary folder; this one goes with the home.
	temp := filepath.Join(h.Root, "t")
	h.Env = []string{"DEEPSEEK_BASE_URL=" + model.URL(), "DEEPSEEK_API_KEY=sk-smoketest", "TMPDIR=" + temp}
	if version := h.tools.Override(); version != "" {
		// A release that is being qualified is run at our own risk.
		h.Env = append(h.Env, dsh.EnvOverride+"="+version)
	}
	return os.Mkdir(temp, 0o700)
}

// Install adds a staged bundle; it takes effect at the next start.
func (h *Home) Install(ctx context.Context, bundle string) error {
	return h.tools.Install(ctx, h.Dir, bundle)
}

// Uninstall removes our bundle with the harness' own command.
func (h *Home) Uninstall(ctx context.Context) error { return h.tools.Uninstall(ctx, h.Dir) }

// Plugin runs `dsh plugin --profile web ...` for a bundle that is not ours.
func (h *Home) Plugin(ctx context.Context, args ...string) error {
	command := h.tools.Command(ctx, h.Root, h.tools.Node, append([]string{h.tools.DSH, "plugin", "--profile", "web"}, args...)...)
	command.Env = append(command.Env, "DSH_HOME="+h.Dir)
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("dsh plugin %s: %w: %s", strings.Join(args, " "), err, output)
	}
	return nil
}

// Start starts the harness, always on the same address, and waits until its API answers.
func (h *Home) Start(ctx context.Context) error {
	process, err := h.tools.Start(ctx, h.Dir, h.port, h.Env...)
	if process != nil {
		h.pids = append(h.pids, process.Pid())
	}
	if err != nil {
		return err
	}
	h.process, h.API = process, dshapi.Client{URL: process.URL}
	// The page is served before the API exists.
	for {
		_, err := h.API.Sessions(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the harness' API did not come up: %w", err)
		case <-process.Done():
			return fmt.Errorf("the harness ended while starting: %w", process.Wait())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// URL is the address of the page.
func (h *Home) URL() string { return fmt.Sprintf("http://127.0.0.1:%d", h.port) }

// Pid is the process id of the running harness.
func (h *Home) Pid() int { return h.process.Pid() }

// Running is whether the harness is up.
func (h *Home) Running() bool {
	if h.process == nil {
		return false
	}
	select {
	case <-h.process.Done():
		return false
	default:
		return true
	}
}

// Ended says how the harness ended, when it is not running.
func (h *Home) Ended() string {
	if h.process == nil {
		return "it was not started"
	}
	if err := h.process.Wait(); err != nil {
		return err.Error()
	}
	return "it ended by itself with status 0"
}

// Stop ends the harness with SIGTERM.
func (h *Home) Stop() error { return h.process.Stop() }

// Kill ends the harness with SIGKILL; its children learn nothing.
func (h *Home) Kill() { h.process.Kill() }

// Close ends the harness and every process that stayed of it, removes the home
// and reports what should not have stayed.
func (h *Home) Close() error {
	var problems []error
	if h.Running() {
		problems = append(problems, h.Stop())
	}
	if left := waitGone(h.PluginPids, 10*time.Second); len(left) > 0 {
		problems = append(problems, fmt.Errorf("plugin processes %v of %s outlived their harness (invariant 9)", left, h.Dir))
		for _, pid := range left {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	for _, pid := range h.pids {
		// The harness leads a group of its own; ESRCH means that nothing stayed.
		_ = syscall.Kill(-pid, syscall.SIGKILL)
	}
	problems = append(problems, h.Model.Close())
	if h.BeforeRemove != nil {
		problems = append(problems, h.BeforeRemove())
	}
	problems = append(problems, os.RemoveAll(h.Root))
	return errors.Join(problems...)
}
