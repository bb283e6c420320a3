// Command qualify tests a release of the DeepSeek Harness and says what to change
// in compatibility.json: `make qualify DSH=<folder of an installation>`, or
// VERSION=<release> to install one first. A release that was not tested is run at
// our own risk meanwhile. The exit status is 1 when something failed.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	draftsessions "github.com/draft-sessions/dsh-draft-sessions"
	"github.com/draft-sessions/dsh-draft-sessions/host/dsh"
	"github.com/draft-sessions/dsh-draft-sessions/shared/compat"
	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/qualify"
)

// gateWithin is how long the bundle may take to pass the gate.
const gateWithin = time.Minute

func main() {
	dir := flag.String("dsh", "", "the folder of an installed DSH")
	version := flag.String("version", "", "the release to install instead")
	only := flag.String("run", "", "only the tests that match (go test -run)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stdout, *dir, *version, *only); err != nil {
		fmt.Fprintln(os.Stderr, "qualify:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, dir, version, only string) error {
	tools, err := dsh.Prepare(ctx, dsh.Options{DSH: dir, DSHVersion: version, Progress: out})
	if err != nil {
		return err
	}
	if dir == "" {
		// The tests use what has just been installed, as it is.
		dir = filepath.Join(tools.CacheDir, "dsh-"+tools.DSHVersion)
	}
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(out, format+"\n", args...) }
	say("== the gate on DSH %s", tools.DSHVersion)
	found, err := passGate(ctx, tools, say)
	if err != nil {
		return err
	}
	_, lines, err := qualify.Change(draftsessions.Compatibility, found)
	if err != nil {
		return err
	}
	say("== the end-to-end tests on it")
	failed, err := test(ctx, out, dir, only)
	if err != nil {
		return err
	}
	if len(failed) > 0 {
		say("== %d tests failed:\n  %s", len(failed), strings.Join(failed, "\n  "))
	}
	switch {
	case len(lines) == 0:
		say("== compatibility.json names DSH %s as tested already", tools.DSHVersion)
	case len(failed) > 0:
		say("== once they pass, change compatibility.json:")
	default:
		say("== all tests passed; change compatibility.json:")
	}
	for _, line := range lines {
		say("- %s\n+ %s", line.Before, line.After)
	}
	if len(failed) > 0 {
		return errors.New("the release does not qualify")
	}
	return nil
}

// passGate runs the release with the bundle and learns what is not as tested.
func passGate(ctx context.Context, tools *dsh.Toolchain, say func(string, ...any)) (found qualify.Found, err error) {
	root, err := os.MkdirTemp("", "ds-q-")
	if err != nil {
		return found, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(root)) }()
	bundle, home := filepath.Join(root, "bundle"), filepath.Join(root, "home")
	if err := tools.Stage(ctx, bundle); err != nil {
		return found, err
	}
	if err := tools.Install(ctx, home, bundle); err != nil {
		return found, err
	}
	node, err := tools.Command(ctx, root, tools.Node, "--version").Output()
	if err != nil {
		return found, fmt.Errorf("ask for Node's version: %w", err)
	}
	process, err := tools.Start(ctx, home, 0, dsh.EnvOverride+"="+tools.Override())
	if err != nil {
		return found, err
	}
	defer func() { err = errors.Join(err, process.Stop()) }()
	status, err := awaitDecision(ctx, process.URL)
	if err != nil {
		return found, err
	}
	found = qualify.Found{Version: tools.DSHVersion, Node: strings.TrimSpace(string(node)), Packages: map[string]string{}}
	for _, r := range status.Reasons {
		say("%s %s: expected %s, found %s", r.Code, r.Subject, r.Expected, r.Found)
		if r.Code == compat.PackageMismatch {
			found.Packages[r.Subject] = r.Found
		}
	}
	if status.Mode != compat.ModeFull {
		return found, fmt.Errorf("drafts cannot run on it: mode %s", status.Mode)
	}
	say("mode %s, capabilities %s", status.Mode, strings.Join(status.Capabilities, ", "))
	return found, nil
}

// awaitDecision waits until the bundle is in full or stock mode.
func awaitDecision(ctx context.Context, url string) (dsh.Status, error) {
	ctx, cancel := context.WithTimeout(ctx, gateWithin)
	defer cancel()
	for {
		var status dsh.Status
		err := dsh.Draft(ctx, url, "status", struct{}{}, &status)
		if err == nil && (status.Mode == compat.ModeFull || status.Mode == compat.ModeStock) {
			return status, nil
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return status, errors.Join(fmt.Errorf("await the gate's decision (mode %q): %w", status.Mode, ctx.Err()), err)
		}
	}
}

var failedTest = regexp.MustCompile(`^\s*--- FAIL: (\S+)`)

// test runs the tests against the installation and names those that failed.
func test(ctx context.Context, out io.Writer, dir, only string) (failed []string, err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	args := []string{"test", "-v", "-count=1", "-timeout", "60m"}
	if only != "" {
		args = append(args, "-run", only)
	}
	cmd := exec.CommandContext(ctx, "go", append(args, "./host/dsh", "./smoketest")...)
	cmd.Env = append(os.Environ(), dsh.EnvSmoke+"="+dir)
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	cmd.Stderr = out
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewReader(pipe)
	for {
		line, err := lines.ReadString('\n')
		_, _ = io.WriteString(out, line)
		if name := failedTest.FindStringSubmatch(line); name != nil {
			failed = append(failed, name[1])
		}
		if err != nil {
			break // the end, or the process' own; Wait says which
		}
	}
	if err := cmd.Wait(); err != nil && len(failed) == 0 {
		return nil, fmt.Errorf("run the tests: %w", err)
	}
	return failed, nil
}
