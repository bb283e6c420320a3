package host

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/draft-sessions/dsh-draft-sessions/shared/compat"
	"github.com/draft-sessions/dsh-draft-sessions/shared/rearm"
)

// keep keeps a process going until ctx ends or the gate says no for good.
func (s *Supervisor) keep(ctx context.Context) {
	for {
		reasons, again := s.untilGivenUp(ctx)
		if ctx.Err() != nil {
			return
		}
		select { // a wish of before is none of now
		case <-s.wish:
		default:
		}
		s.stock(reasons, again)
		if !again || !s.asked(ctx) {
			return
		}
		s.o.Log.Info("started again by hand")
		s.set(Status{Mode: Starting}, nil)
	}
}

// untilGivenUp runs one process after the other. It returns why there is none any
// more, and whether a person may wish for another try.
func (s *Supervisor) untilGivenUp(ctx context.Context) (reasons []compat.Reason, again bool) {
	pauses := &backoff.ExponentialBackOff{InitialInterval: firstPause, Multiplier: 2, MaxInterval: lastPause, RandomizationFactor: 0.3}
	pauses.Reset()
	var crashes []time.Time
	wasFull := false
	for {
		began := time.Now()
		why, err := s.once(ctx)
		var miss *StartError
		switch {
		case ctx.Err() != nil:
			return nil, false
		case errors.As(err, &miss) && miss.Permanent:
			return miss.Reasons, false
		case err != nil && !wasFull:
			return startError(err).Reasons, true
		case err != nil:
			why = err.Error()
		default:
			wasFull = true
		}
		now := time.Now()
		if now.Sub(began) >= healthyAfter {
			pauses.Reset()
		}
		for crashes = append(crashes, now); now.Sub(crashes[0]) > crashWindow; crashes = crashes[1:] {
		}
		if len(crashes) >= maxCrashes {
			return crashedTooOften(len(crashes), why), true
		}
		s.o.Log.Warn("the plugin ended and is started again", "why", why)
		status := s.Status()
		s.set(Status{Mode: Paused, Version: status.Version, Epoch: status.Epoch, Reasons: crashed("The drafts plugin ended; it is being started again.", why)}, nil)
		s.pause(ctx, min(max(firstPause, pauses.NextBackOff()), lastPause))
	}
}

// once runs one process from its start to its end and tells why it ended.
func (s *Supervisor) once(ctx context.Context) (why string, err error) {
	p, err := s.launch(ctx, s.o.Options)
	if err != nil {
		return "", err
	}
	defer p.Close()
	plugin := p.plugin()
	if s.o.Ready != nil {
		if err := s.ready(ctx, p, plugin); err != nil {
			return "", err
		}
	}
	decision := plugin.Decision
	s.o.Log.Info("drafts are on", "version", plugin.Info.GetVersion(), "epoch", plugin.Info.GetEpoch(), "pid", plugin.Pid(), "overridden", decision.GetOverridden())
	s.set(Status{
		Mode: Full, Version: plugin.Info.GetVersion(), Epoch: plugin.Info.GetEpoch(), Pid: plugin.Pid(),
		Capabilities: decision.GetCapabilities(), Overridden: decision.GetOverridden(), Reasons: reasonsOf(decision),
	}, plugin)
	select {
	case <-p.Gone():
	case <-ctx.Done():
	}
	s.mu.Lock()
	s.serving = nil // nobody begins a call that is lost already
	s.mu.Unlock()
	p.Close()
	return p.Why(), nil
}

// ready has the host take a new process. A process that ends meanwhile has
// crashed; a host that fails with a living one is at fault itself.
func (s *Supervisor) ready(ctx context.Context, p lifetime, plugin *Plugin) error {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() { // ends with Ready
		defer close(ended)
		select {
		case <-p.Gone():
			cancel()
		case <-ctx.Done():
		}
	}()
	err := s.o.Ready(ctx, plugin)
	cancel()
	<-ended
	select {
	case <-p.Gone():
		return fmt.Errorf("the plugin ended while the host took it: %s", p.Why())
	default:
	}
	if err == nil {
		return nil
	}
	return mismatch(compat.Reason{
		Code: Internal, Subject: "host", Found: err.Error(),
		Message: "Drafts could not be put in place; the host goes on without them.",
	}, fmt.Errorf("%w: %w", errNoStart, err))
}

// pause waits, unless a person does not want to.
func (s *Supervisor) pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.wish:
	case <-ctx.Done():
	}
}

// asked waits for a person's wish: by Rearm, or by a request in the plugin's folder
// that was not there before. It is false when ctx ended first.
func (s *Supervisor) asked(ctx context.Context) bool {
	folder := s.folder()
	old := rearm.Pending(folder)
	tick := time.NewTicker(askedEvery)
	defer tick.Stop()
	for {
		select {
		case <-s.wish:
			return true
		case <-ctx.Done():
			return false
		case <-tick.C:
			if id := rearm.Pending(folder); id != old && rearm.Take(folder, id) {
				return true
			}
		}
	}
}
