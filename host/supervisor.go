package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
	"github.com/draft-sessions/dsh-draft-sessions/shared/compat"
	pb "github.com/draft-sessions/dsh-draft-sessions/shared/proto/draftsessionsv1"
)

// When a process that ended is started again, and when no more.
const (
	firstPause = 250 * time.Millisecond
	lastPause  = 30 * time.Second
	// healthyAfter: a process that lived so long ended for another reason than its
	// start, so the pauses begin anew.
	healthyAfter = 60 * time.Second
	// maxCrashes within crashWindow, and the plugin is given up.
	maxCrashes  = 5
	crashWindow = 2 * time.Minute
	// askedEvery is how often a supervisor that has given up looks for a request to
	// start again.
	askedEvery = time.Second
)

// Supervision configures [Supervise].
type Supervision struct {
	// Options are for each process.
	Options
	// Ready is called with each new process before the status says that it is
	// there: what it has to be told or asked first belongs here. It must end with its
	// context. An error means stock, since a host that is half set up would be worse
	// than none. nil does nothing.
	Ready func(ctx context.Context, p *Plugin) error
}

// Supervisor keeps a plugin going. Its methods may be called from any goroutine.
type Supervisor struct {
	o    Supervision
	stop context.CancelFunc
	done chan struct{}
	wish chan struct{} // capacity 1: a person asked to start again
	// launch is [Launch]; a test of the rules has its own processes.
	launch func(context.Context, Options) (lifetime, error)

	mu      sync.Mutex // guards what follows
	status  Status
	serving *Plugin       // in full mode
	changed chan struct{} // closed and replaced at each change
}

// lifetime is a process as the rules see it.
type lifetime interface {
	Gone() <-chan struct{}
	Why() string
	Close()
	plugin() *Plugin
}

func (p *Plugin) plugin() *Plugin { return p }

// Supervise begins to keep a plugin going and returns at once: the host never waits
// for it. It goes on until ctx ends or [Supervisor.Close].
func Supervise(ctx context.Context, o Supervision) *Supervisor {
	s := newSupervisor(o)
	s.launch = func(ctx context.Context, o Options) (lifetime, error) {
		p, err := Launch(ctx, o)
		if err != nil {
			return nil, err
		}
		return p, nil
	}
	s.begin(ctx)
	return s
}

func newSupervisor(o Supervision) *Supervisor {
	if o.Log == nil {
		o.Log = hclog.NewNullLogger()
	}
	o.memory = newMemory()
	return &Supervisor{
		o: o, done: make(chan struct{}), wish: make(chan struct{}, 1),
		status: Status{Mode: Starting}, changed: make(chan struct{}),
	}
}

func (s *Supervisor) begin(ctx context.Context) {
	ctx, s.stop = context.WithCancel(ctx)
	go func() {
		defer close(s.done)
		defer s.stop()
		s.keep(ctx)
		if ctx.Err() != nil { // the host ends; that needs no reason
			s.set(Status{Mode: Stock}, nil)
		}
		<-ctx.Done()
		s.o.memory.close()
	}()
}

// Close ends the process, which saves what it has accepted, and returns when none
// is left. The status is stock afterwards.
func (s *Supervisor) Close() {
	s.stop()
	<-s.done
}

// Done is closed when the supervisor has stopped and no process is left.
func (s *Supervisor) Done() <-chan struct{} { return s.done }

// Client calls the plugin, in full mode. Otherwise the error is OPERATION_UNKNOWN
// and says what to tell a person. The client of a process that ends goes on to
// fail: ask for it again at each use.
func (s *Supervisor) Client() (pb.DraftSessionsClient, error) {
	p, err := s.Plugin()
	if err != nil {
		return nil, err
	}
	return p.Client, nil
}

// Plugin is the process that is there in full mode; the error is that of Client.
func (s *Supervisor) Plugin() (*Plugin, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.serving != nil {
		return s.serving, nil
	}
	if s.status.Mode == Stock {
		return nil, shared.Errorf(shared.OperationUnknown, "drafts are off")
	}
	return nil, shared.Errorf(shared.OperationUnknown, "drafts are paused; the plugin is being started")
}

// Rearm is a person's wish: to start again after the plugin was given up, or at
// once while the next start is waited for. At other times it does nothing. The
// command `draft-sessions rearm` wishes the same through a file (package rearm).
func (s *Supervisor) Rearm() {
	if status := s.Status(); status.Mode != Paused && !status.Rearmable {
		return
	}
	select {
	case s.wish <- struct{}{}:
	default: // wished already
	}
}

// UntilSignal gives a context that ends when the process is told to end (SIGINT or
// SIGTERM), for Supervise and the host's own work. A further signal then ends the
// process as if nobody handled it: the plugin notices and ends by itself.
func UntilSignal(parent context.Context) (ctx context.Context, stop func()) {
	ctx, cancel := signal.NotifyContext(parent, os.Interrupt, syscall.SIGTERM)
	release := context.AfterFunc(ctx, cancel) // the default action is back at once
	return ctx, func() { release(); cancel() }
}

var (
	errStopped = errors.New("the supervisor has stopped")
	errNoStart = errors.New("the host failed to take the plugin")
)

// stock gives up drafts, with one line in the log.
func (s *Supervisor) stock(reasons []compat.Reason, rearmable bool) {
	if len(reasons) > 0 {
		s.o.Log.Warn("drafts are off; the host is as without them", "reasons", (&StartError{Reasons: reasons}).Error())
	}
	status := s.Status()
	s.set(Status{Mode: Stock, Version: status.Version, Epoch: status.Epoch, Reasons: reasons, Rearmable: rearmable}, nil)
}

func (s *Supervisor) folder() string { return filepath.Dir(s.o.Store) }

func crashed(message, why string) []compat.Reason {
	return []compat.Reason{{Code: PluginCrashed, Subject: "plugin", Found: why, Message: message}}
}

func crashedTooOften(times int, why string) []compat.Reason {
	return crashed(fmt.Sprintf("The drafts plugin ended %d times in a short while; drafts are off until they are started again by hand (with \"draft-sessions rearm\").", times), why)
}
