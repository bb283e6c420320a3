package dsh

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/draft-sessions/dsh-draft-sessions/host/dsh/install"
)

const (
	// startTimeout is how long DSH may take to print its address.
	startTimeout = 60 * time.Second
	// stopTimeout is how long DSH may take to end after SIGTERM; its own limit is 5 s.
	stopTimeout = 10 * time.Second
	profile     = "web"
	addressMark = "dsh web: "
	// packageName is the bundle's name in a profile.
	packageName = install.PackageName
)

// Install adds the bundle in bundleDir (see [Toolchain.Stage]) to the web profile
// of home with DSH's own command, also over a copy of it with other files. It needs
// no network. A running host takes it up when it is started the next time.
func (t *Toolchain) Install(ctx context.Context, home, bundleDir string) error {
	bundle, err := filepath.Abs(bundleDir)
	if err != nil {
		return fmt.Errorf("install the bundle: %w", err)
	}
	add := func() error { return t.plugin(ctx, home, "add", "file:"+bundle) }
	if err := add(); err != nil || !install.IsBundle(bundle) {
		return err // another package, beside which ours is tested
	}
	return install.Replace(home, profile, bundle, add)
}

// Uninstall removes the bundle from the web profile of home. Drafts stay on disk.
func (t *Toolchain) Uninstall(ctx context.Context, home string) error {
	return t.plugin(ctx, home, "remove", packageName)
}

func (t *Toolchain) plugin(ctx context.Context, home string, args ...string) error {
	if err := os.MkdirAll(home, 0o700); err != nil {
		return fmt.Errorf("create the home: %w", err)
	}
	cmd := t.Command(ctx, home, t.Node, append([]string{t.DSH, "plugin", "--profile", profile}, args...)...)
	cmd.Env = append(cmd.Env, "DSH_HOME="+home)
	return run(cmd)
}

// Process is a running DSH. Its methods may be called from several goroutines.
type Process struct {
	// URL is the address of the page, such as http://127.0.0.1:4242.
	URL string
	// Home is its DSH_HOME.
	Home string
	// Log is the file that its output goes to; a restart on the same home appends.
	Log string

	cmd  *exec.Cmd
	done chan struct{}
	err  error // set before done is closed
}

// Start starts DSH's web host on home and waits until it prints its address.
// port 0 takes a free one; env adds to the environment ("KEY=value"). Canceling
// ctx ends the wait, not a host that is up: end it with Stop or Kill.
func (t *Toolchain) Start(ctx context.Context, home string, port int, env ...string) (*Process, error) {
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, fmt.Errorf("create the home: %w", err)
	}
	p := &Process{Home: home, Log: filepath.Join(home, "dsh-web.log"), done: make(chan struct{})}
	log, err := os.OpenFile(p.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the log of DSH: %w", err)
	}
	out, in, err := os.Pipe()
	if err != nil {
		_ = log.Close()
		return nil, fmt.Errorf("start DSH: %w", err)
	}
	p.cmd = t.Command(context.WithoutCancel(ctx), home, t.Node, t.DSH, "web", "--no-open", "--port", strconv.Itoa(port))
	p.cmd.Env = append(append(p.cmd.Env, "DSH_HOME="+home), env...)
	p.cmd.Stdout, p.cmd.Stderr = in, in
	p.cmd.SysProcAttr = attributes()
	err = p.cmd.Start()
	_ = in.Close()
	if err != nil {
		_, _ = out.Close(), log.Close()
		return nil, fmt.Errorf("start DSH: %w", err)
	}
	address := make(chan string, 1)
	var reader sync.WaitGroup
	reader.Go(func() { copyLog(log, out, address) })
	go func() {
		p.err = p.cmd.Wait()
		// A child that outlives DSH holds the pipe open; the end of DSH is the end here.
		_ = out.SetReadDeadline(time.Now().Add(time.Second))
		reader.Wait()
		_, _ = out.Close(), log.Close()
		close(p.done)
	}()
	if err := p.awaitAddress(ctx, address); err != nil {
		return nil, err
	}
	return p, nil
}

func copyLog(log io.Writer, out io.Reader, address chan<- string) {
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		_, _ = io.WriteString(log, line)
		if url, ok := strings.CutPrefix(strings.TrimSpace(line), addressMark); ok {
			select {
			case address <- url:
			default:
			}
		}
		if err != nil {
			return
		}
	}
}

func (p *Process) awaitAddress(ctx context.Context, address <-chan string) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	select {
	case p.URL = <-address:
		return nil
	case <-p.done:
		return fmt.Errorf("DSH ended while starting (%w): %s", errors.Join(p.err, errEnded), p.logTail())
	case <-ctx.Done():
		p.Kill()
		return fmt.Errorf("DSH printed no address: %w: %s", ctx.Err(), p.logTail())
	}
}

var errEnded = errors.New("process ended")

func (p *Process) logTail() string {
	raw, err := os.ReadFile(p.Log)
	if err != nil {
		return err.Error()
	}
	if len(raw) > outputTail {
		raw = raw[len(raw)-outputTail:]
	}
	return strings.TrimSpace(string(raw))
}

// Pid is the process id of DSH itself.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Done is closed when the process has ended and its log is complete.
func (p *Process) Done() <-chan struct{} { return p.done }

// Wait waits for the end of the process; its error is that of [exec.Cmd.Wait].
func (p *Process) Wait() error {
	<-p.done
	return p.err
}

// Stop ends DSH as a supervisor does: SIGTERM, and SIGKILL after 10 seconds,
// which is an error. A process that has ended already is not.
func (p *Process) Stop() error {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.done:
		return nil
	case <-time.After(stopTimeout):
		p.Kill()
		return fmt.Errorf("DSH did not end %v after SIGTERM and was killed", stopTimeout)
	}
}

// Kill ends DSH with SIGKILL and waits for the end.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}
