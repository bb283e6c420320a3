package host

import (
	"context"
	"iter"
	"slices"

	"github.com/draft-sessions/dsh-draft-sessions/shared/compat"
)

// Mode is what a host with drafts is at the moment.
type Mode string

// The modes, the same as in the DSH bundle.
const (
	// Starting: the first process has not come up yet.
	Starting Mode = "starting"
	// Full: drafts work.
	Full Mode = "full"
	// Paused: the process ended and is being started again; what is typed waits.
	Paused Mode = "paused"
	// Stock: the host is as without drafts, until a person does something.
	Stock Mode = "stock"
)

// Status is what a [Supervisor] says of itself.
type Status struct {
	Mode Mode
	// Version and Epoch are those of the last process that came up.
	Version, Epoch string
	// Pid is the process' id in full mode, else 0.
	Pid int
	// Capabilities are what works in full mode, sorted; a host that
	// compatibility.json does not name has none listed.
	Capabilities []string
	// Overridden: full at the user's risk, on a release that was not tested.
	Overridden bool
	// Reasons are why the mode is what it is, none in full mode as tested.
	Reasons []compat.Reason
	// Rearmable: the plugin was given up, and [Supervisor.Rearm] starts it again.
	Rearmable bool
}

// Status is how it is now.
func (s *Supervisor) Status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.status
}

// Changes gives the status now and after each change, the newest only, until ctx
// ends or the supervisor has stopped. The loop's body may take its time.
func (s *Supervisor) Changes(ctx context.Context) iter.Seq[Status] {
	return func(yield func(Status) bool) {
		for {
			s.mu.Lock()
			status, changed := s.status, s.changed
			s.mu.Unlock()
			if !yield(status) {
				return
			}
			select {
			case <-changed:
				continue
			default:
			}
			select {
			case <-changed:
			case <-s.done:
				return
			case <-ctx.Done():
				return
			}
		}
	}
}

// Await returns when the mode is one of modes. The error is ctx's, or that the
// supervisor has stopped.
func (s *Supervisor) Await(ctx context.Context, modes ...Mode) (Status, error) {
	last := s.Status()
	for last = range s.Changes(ctx) {
		if slices.Contains(modes, last.Mode) {
			return last, nil
		}
	}
	if err := ctx.Err(); err != nil {
		return last, err
	}
	return last, errStopped
}

// set changes the status and the process that serves in it.
func (s *Supervisor) set(status Status, serving *Plugin) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status, s.serving = status, serving
	close(s.changed)
	s.changed = make(chan struct{})
}
