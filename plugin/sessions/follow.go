package sessions

import (
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// How often a session is looked at while its send is under way, or its host fails.
const (
	firstLook = 250 * time.Millisecond
	lastLook  = 5 * time.Second
	// failingLook is the longest pause while the host answers with errors.
	failingLook = 30 * time.Second
)

// follow settles a draft now, and again while a send of it is under way or the
// host fails, in the background and until the manager stops. A session has one
// follower, however often it is asked for: asking again makes it look at once.
func (m *Manager) follow(draftID, sessionID string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if wake := m.followed[sessionID]; wake != nil {
		select {
		case wake <- struct{}{}:
		default: // it is about to look anyway
		}
		return
	}
	wake := make(chan struct{}, 1)
	m.followed[sessionID] = wake
	m.tasks.Go(func() {
		for {
			m.settleUntilKnown(draftID, wake)
			m.mu.Lock()
			if len(wake) == 0 || m.life.Err() != nil { // nobody asked while it was ending
				delete(m.followed, sessionID)
				m.mu.Unlock()
				return
			}
			m.mu.Unlock()
		}
	})
}

// settleUntilKnown looks until the draft's send is proven or given up, or the
// draft is gone.
func (m *Manager) settleUntilKnown(draftID string, wake <-chan struct{}) {
	looks := &backoff.ExponentialBackOff{InitialInterval: firstLook, Multiplier: 2, MaxInterval: lastLook}
	failures := &backoff.ExponentialBackOff{InitialInterval: firstLook, Multiplier: 2, MaxInterval: failingLook, RandomizationFactor: 0.2}
	looks.Reset()
	failures.Reset()
	said := false
	for {
		what, err := m.settle(m.life, draftID)
		var pause time.Duration
		switch {
		case m.life.Err() != nil || shared.CodeOf(err) == shared.DraftNotFound:
			return
		case err != nil:
			if pause = failures.NextBackOff(); !said {
				m.opts.Log.Warn("could not settle a draft's session; trying again", "draft", draftID, "code", shared.CodeOf(err), "error", err)
				said = true
			}
		case what != waiting:
			return
		default:
			failures.Reset()
			pause = m.untilLook(draftID, looks.NextBackOff())
		}
		timer := time.NewTimer(pause)
		select {
		case <-wake:
		case <-timer.C:
		case <-m.life.Done():
		}
		timer.Stop()
	}
}

// untilLook is pause, cut where the send's patience ends: what waits for that end,
// such as the text typed after a command, shall not wait for the next look as well.
func (m *Manager) untilLook(draftID string, pause time.Duration) time.Duration {
	rec, err := m.opts.Store.Get(draftID)
	if err != nil || rec.Operation == nil {
		return pause
	}
	return max(0, min(pause, m.patience(rec.Operation)))
}
