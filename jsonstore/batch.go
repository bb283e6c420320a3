package jsonstore

import (
	"context"
	"errors"
	"time"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// gatherShare is the part of the last commit's time for which a batch waits for
// those who are about to come again. Without it, batches of many savers alternate
// between one and all of the others.
const gatherShare = 3

// batch are the updates of one commit.
type batch[D any] []*request[D]

// add takes a request into the batch; a refresh is served at once.
func (s *Store[D]) add(b batch[D], r *request[D]) batch[D] {
	if r.change == nil {
		r.done <- outcome[D]{s.Snapshot(), s.refresh()}
		return b
	}
	r.deadline = time.Now().Add(s.lockWait)
	return append(b, r)
}

// gather waits for more updates when there were several last time, but not when
// as many are there already, and takes all that wait.
func (s *Store[D]) gather(ctx context.Context, first *request[D]) batch[D] {
	b := s.add(nil, first)
	if s.lastBatch > 1 && len(b) > 0 {
		window := time.NewTimer(s.lastCommit / gatherShare)
		defer window.Stop()
		for open := true; open && len(b) < s.lastBatch; {
			select {
			case r := <-s.queue:
				b = s.add(b, r)
			case <-window.C:
				open = false
			case <-ctx.Done():
				open = false
			}
		}
	}
	return s.drain(b)
}

// drain takes all updates that wait.
func (s *Store[D]) drain(b batch[D]) batch[D] {
	for {
		select {
		case r := <-s.queue:
			b = s.add(b, r)
		default:
			return b
		}
	}
}

// run commits what waits, together with first.
func (s *Store[D]) run(ctx context.Context, first *request[D]) {
	b := s.gather(ctx, first)
	if len(b) == 0 {
		return
	}
	if err := makeDir(s.disk.fs, s.disk.dir); err != nil {
		b.fail(shared.Errorf(shared.StorageIO, "prepare the draft folder: %w", err))
		return
	}
	b, lock := s.enter(ctx, b)
	if len(b) == 0 {
		return
	}
	b = s.drain(b)
	begun := time.Now()
	answers := s.serve(b)
	lock.release()
	s.lastBatch, s.lastCommit = len(b), time.Since(begun)
	for i, r := range b {
		r.done <- answers[i]
	}
	s.disk.bury()
	s.keep()
}

// enter waits for the lock, for each update no longer than it may. It returns
// those that still wait, with the lock; others that came meanwhile are among
// them. With none of them left nothing is held.
func (s *Store[D]) enter(ctx context.Context, b batch[D]) (batch[D], holding) {
	if h, ok := s.lock.try(); ok {
		return b, h
	}
	s.waiting.Store(true)
	defer s.waiting.Store(false)
	lock := s.lock.ask()
	overdue := time.NewTimer(s.lockWait)
	defer overdue.Stop()
	for len(b) > 0 {
		select {
		case h := <-lock:
			s.lock.received()
			if h.err != nil {
				b.fail(h.err)
				return nil, holding{}
			}
			return b, h
		case r := <-s.queue:
			b = s.add(b, r)
		case <-overdue.C:
			b = s.expire(b)
			if len(b) > 0 {
				overdue.Reset(time.Until(b[0].deadline))
			}
		case <-ctx.Done():
			b.fail(errClosed())
			return nil, holding{}
		}
	}
	return nil, holding{} // A lock that comes now is released by the committer.
}

// expire refuses the updates that have waited for as long as they may.
func (s *Store[D]) expire(b batch[D]) batch[D] {
	now := time.Now()
	for len(b) > 0 && !b[0].deadline.After(now) {
		b[:1].fail(shared.Errorf(shared.StorageBusy, "the draft file is locked by %s", s.lock.holder()))
		b = b[1:]
	}
	return b
}

// fail answers all with one error; none of them has run.
func (b batch[D]) fail(err error) {
	for _, r := range b {
		if r.claimed.CompareAndSwap(false, true) {
			close(r.ran)
			r.done <- outcome[D]{err: err}
		}
	}
}

// serve is one read-modify-write under the lock. It gives an answer for each of
// the batch, also for those whose caller has gone.
func (s *Store[D]) serve(b batch[D]) []outcome[D] {
	answers := make([]outcome[D], len(b))
	if err := s.refresh(); err != nil {
		for i := range answers {
			answers[i].err = err
		}
		return answers
	}
	base := s.current.Load()
	s.highest = max(s.highest, s.format.Generation(base.doc))
	now := Encoded[D]{Doc: base.doc, Lines: s.lines}
	changed, satisfied := false, false
	after := make([]bool, len(b)) // the answer depends on a change before it
	for i, r := range b {
		if !r.claimed.CompareAndSwap(false, true) {
			continue // Its caller has gone.
		}
		after[i] = changed
		next, err := s.apply(r, now)
		switch {
		case err == nil:
			now, changed = next, true
			after[i] = true
		case errors.Is(err, ErrNoChange):
			satisfied = true
		default:
			answers[i].err = err
		}
	}
	var doc D
	var err error
	switch {
	case changed:
		doc, err = s.write(base, now)
	case satisfied && s.disk.unsafe:
		// What is acknowledged must be certain, and a sync that failed cannot be
		// repeated: everything is written again.
		doc, err = s.rewrite(base, now)
	case satisfied:
		doc, err = base.doc, s.disk.settle()
	}
	failed := err != nil && shared.CodeOf(err) != shared.StorageUncertain
	for i := range answers {
		switch {
		case answers[i].err == nil:
			answers[i] = outcome[D]{doc, err}
		case after[i] && failed:
			answers[i].err = err // What it was refused for never came to be.
		}
	}
	return answers
}

// apply runs one change on a document that is not written yet. A change that
// fails, or makes what cannot be written, leaves no trace.
func (s *Store[D]) apply(r *request[D], now Encoded[D]) (Encoded[D], error) {
	next, err := r.change(now.Doc)
	close(r.ran)
	if err != nil {
		return now, err
	}
	return s.encode(next, now)
}

// encode makes doc the next generation and its lines.
func (s *Store[D]) encode(doc D, last Encoded[D]) (Encoded[D], error) {
	doc = s.format.WithGeneration(doc, s.highest+1)
	lines, err := s.format.Encode(doc, last)
	if err != nil {
		return last, err
	}
	if size := sizeOf(lines); size > s.disk.maxBytes {
		return last, shared.Errorf(shared.DraftLimitReached, "the draft file would have %d bytes, more than %d", size, s.disk.maxBytes)
	} else if s.warn > 0 && size > s.warn && !s.warned {
		s.warned = true
		s.log.Warn("the draft file is large", "bytes", size)
	}
	return Encoded[D]{Doc: doc, Lines: lines}, nil
}

// rewrite writes what the file holds again, since it may be lost. Until that
// succeeds it stays uncertain.
func (s *Store[D]) rewrite(base *view[D], now Encoded[D]) (D, error) {
	next, err := s.encode(base.doc, now)
	if err == nil {
		var doc D
		if doc, err = s.write(base, next); err == nil {
			return doc, nil
		}
	}
	return s.Snapshot(), shared.Errorf(shared.StorageUncertain, "the draft file is not yet safe from a power cut: %w", err)
}

// write makes next durable and then visible.
func (s *Store[D]) write(now *view[D], next Encoded[D]) (D, error) {
	var none D
	if s.disk.held == nil { // There is no file.
		if err := s.disk.syncFolders(); err != nil {
			return none, shared.Errorf(shared.StorageIO, "prepare the draft folder: %w", err)
		}
	}
	state := State{Path: now.state.Path, Generation: s.format.Generation(next.Doc), Backup: now.state.Backup, Note: now.state.Note}
	if s.old != nil {
		var err error
		if state.Backup, err = s.disk.backup(s.old.data, s.old.version); err != nil {
			return none, err
		}
	}
	err := s.disk.replace(next.Lines)
	if err != nil && shared.CodeOf(err) != shared.StorageUncertain {
		return none, err
	}
	if s.old != nil {
		s.log.Info("took over an older draft file", "version", s.old.version, "backup", state.Backup, "note", state.Note)
		s.old = nil
	}
	s.fromFile, s.highest, s.lines = true, state.Generation, next.Lines
	s.publish(view[D]{doc: next.Doc, state: state})
	return next.Doc, err
}
