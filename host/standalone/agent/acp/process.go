package acp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/fault"
)

// endWithin is how long the program may take to end by itself.
const endWithin = 2 * time.Second

// process is one run of the program.
type process struct {
	cmd          *exec.Cmd
	stdin        io.WriteCloser
	conn         *sdk.ClientSideConnection
	client       *client
	capabilities sdk.AgentCapabilities
	// exited is closed when it has ended and was awaited.
	exited chan struct{}

	mu            sync.Mutex // guards conversations, by our session id
	conversations map[string]*conversation
}

// running gives the process, starting one when none runs.
func (a *ACP) running(ctx context.Context) (*process, error) {
	a.starting.Lock()
	defer a.starting.Unlock()
	a.mu.Lock()
	p, closed := a.process, a.closed
	a.mu.Unlock()
	if closed {
		return nil, fault.Errorf(fault.AgentUnavailable, "the host is ending")
	}
	if p != nil {
		select {
		case <-p.conn.Done():
		default:
			return p, nil
		}
	}
	p, err := a.start()
	if err != nil {
		return nil, err
	}
	response, err := p.conn.Initialize(ctx, sdk.InitializeRequest{
		ProtocolVersion:    sdk.ProtocolVersionNumber,
		ClientInfo:         &sdk.Implementation{Name: "draft-sessions", Version: "1"},
		ClientCapabilities: sdk.ClientCapabilities{},
	})
	if err == nil && response.ProtocolVersion != sdk.ProtocolVersionNumber {
		err = fault.Errorf(fault.AgentUnavailable, "the agent speaks version %d of the protocol, this host %d", response.ProtocolVersion, sdk.ProtocolVersionNumber)
	}
	if err != nil {
		err = p.explain("starting", err)
		p.end()
		return nil, err
	}
	p.capabilities = response.AgentCapabilities
	a.mu.Lock()
	a.process = p
	a.mu.Unlock()
	return p, nil
}

func (a *ACP) start() (*process, error) {
	cmd := exec.Command(a.config.Command[0], a.config.Command[1:]...)
	cmd.Env = append(os.Environ(), a.config.Env...)
	cmd.SysProcAttr = attributes()
	// What it prints may hold a prompt, so it goes into no log (invariant 11).
	cmd.Stderr = nil
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("the agent's input: %w", err)
	}
	// A pipe of our own: cmd.Wait would close one of its own under the reader.
	stdout, output, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("the agent's output: %w", err)
	}
	cmd.Stdout = output
	waited := make(chan struct{})
	started := make(chan error)
	a.tasks.Go(func() {
		defer close(waited)
		// The kernel ends the program with the thread that started it, so that
		// thread stays until the program has ended.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err != nil {
			return
		}
		_ = cmd.Wait() // how it ended is in its state
		// Whatever it left behind in its group ends with it.
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // fails when nothing is left
	})
	if err := <-started; err != nil {
		return nil, errors.Join(fault.Errorf(fault.AgentUnavailable, "the agent's program cannot be started: %w", err), stdin.Close(), stdout.Close(), output.Close())
	}
	p := &process{cmd: cmd, stdin: stdin, exited: make(chan struct{}), conversations: map[string]*conversation{}}
	p.client = &client{turns: map[sdk.SessionId]*attached{}}
	silent := make(chan struct{})
	p.conn = sdk.NewClientSideConnection(p.client, stdin, &gated{Reader: stdout, open: silent})
	p.conn.SetLogger(slog.New(slog.DiscardHandler)) // its lines quote messages
	close(silent)
	_ = output.Close() // the program has its own
	a.tasks.Go(func() {
		<-p.conn.Done()
		select {
		case <-waited:
		case <-time.After(endWithin): // it closed its output, but lives on
			p.kill()
			<-waited
		}
		_ = stdout.Close() // it was read to its end
		close(p.exited)
	})
	return p, nil
}

// gated is read only once it is open: the connection reads as soon as it is made,
// and may log before it is told where to.
type gated struct {
	io.Reader
	open <-chan struct{}
}

func (g *gated) Read(p []byte) (int, error) {
	<-g.open
	return g.Reader.Read(p)
}

// internalError is JSON-RPC's code of it, which the connection also gives for what
// it could not write.
const internalError = -32603

// kill ends the program and what it started.
func (p *process) kill() {
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // fails when it has ended
}

// end asks the program to end, by closing its input, and kills it when it does not.
func (p *process) end() {
	_ = p.stdin.Close() // fails when the program is gone
	late := time.NewTimer(endWithin)
	defer late.Stop()
	select {
	case <-p.exited:
	case <-late.C:
		p.kill()
		<-p.exited
	}
}

// explain tells what went wrong without what the program said: that may quote
// the prompt (invariant 11).
func (p *process) explain(doing string, err error) error {
	var own *fault.Error
	if errors.As(err, &own) {
		return err
	}
	var refused *sdk.RequestError
	if errors.As(err, &refused) && refused.Code == internalError {
		// A program that has just ended is known by its closed input first.
		select {
		case <-p.conn.Done():
		case <-time.After(endWithin):
		}
	}
	select {
	case <-p.conn.Done():
		<-p.exited
		return fault.Errorf(fault.AgentUnavailable, "the agent's program ended (%s); the next prompt starts it again", p.cmd.ProcessState)
	default:
	}
	if refused != nil {
		return fault.Errorf(fault.AgentUnavailable, "the agent refused (%s: error %d)", doing, refused.Code)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fault.Errorf(fault.AgentUnavailable, "the agent did not answer in time (%s)", doing)
	}
	return fault.Errorf(fault.AgentUnavailable, "the agent cannot be reached (%s)", doing)
}
