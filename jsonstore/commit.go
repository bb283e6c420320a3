package jsonstore

import (
	"context"
	"errors"
	"io/fs"
	"sync/atomic"
	"time"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// request is one update on its way to the committer; without a change it only
// refreshes.
type request[D any] struct {
	ctx    context.Context
	change func(D) (D, error)
	// claimed decides who goes first: the committer, just before it runs change,
	// or the caller, who stops waiting. Only the first may go on.
	claimed  atomic.Bool
	ran      chan struct{} // closed when change has returned or never will run
	done     chan outcome[D]
	deadline time.Time // of its wait for the lock; the committer's
}

type outcome[D any] struct {
	doc D
	err error
}

func newRequest[D any](ctx context.Context, change func(D) (D, error)) *request[D] {
	return &request[D]{ctx: ctx, change: change, ran: make(chan struct{}), done: make(chan outcome[D], 1)}
}

// Update runs change on the newest document and makes its result durable; see
// the package documentation for what each error says about the disk. Updates
// that wait while another is written are written together: each runs on the
// result of the one before it, and a change that is refused is refused alone.
// Update gives the document that was written, also with
// DRAFT_STORAGE_UNCERTAIN; it holds the change, and those written with it.
//
// change must return another document than it was given, without changing that
// one, or an error; with [ErrNoChange] nothing is written and Update succeeds.
// change runs at most once and has returned when Update returns. It must be quick
// and must not wait for the store.
//
// When ctx ends before change has begun, nothing happens (DRAFT_STORAGE_BUSY);
// while it is being written the outcome is unknown (OPERATION_UNKNOWN).
func (s *Store[D]) Update(ctx context.Context, change func(D) (D, error)) (D, error) {
	return s.submit(newRequest(ctx, change))
}

// Refresh looks at the file now, and reads it if it changed. It returns why the
// snapshot is not what the file holds, nil if it is.
func (s *Store[D]) Refresh(ctx context.Context) error {
	_, err := s.submit(newRequest[D](ctx, nil))
	return err
}

func (s *Store[D]) submit(r *request[D]) (D, error) {
	var none D
	notBegun := func() error {
		if s.waiting.Load() {
			return shared.Errorf(shared.StorageBusy, "waiting for the lock of %s, nothing was changed: %w", s.lock.holder(), r.ctx.Err())
		}
		return shared.Errorf(shared.StorageBusy, "the store is busy, nothing was changed: %w", r.ctx.Err())
	}
	if r.ctx.Err() != nil {
		return none, notBegun()
	}
	select {
	case s.queue <- r:
	case <-s.stopped:
		return none, errClosed()
	case <-r.ctx.Done():
		return none, notBegun()
	}
	select {
	case out := <-r.done:
		return out.doc, out.err
	case <-r.ctx.Done():
	}
	if r.claimed.CompareAndSwap(false, true) {
		return none, notBegun()
	}
	<-r.ran // change may use what its caller owns.
	select {
	case out := <-r.done:
		return out.doc, out.err
	default:
		return none, shared.Errorf(shared.OperationUnknown, "still being written: %w", r.ctx.Err())
	}
}

func errClosed() error { return shared.Errorf(shared.StorageIO, "the store is closed") }

// commit is the committer's loop: it owns the file until ctx ends.
func (s *Store[D]) commit(ctx context.Context) {
	for {
		select {
		case r := <-s.queue:
			s.run(ctx, r)
		case h := <-s.lock.asked():
			// Everyone who wanted it has stopped waiting.
			s.lock.received()
			if h.err == nil {
				h.release()
			}
		case <-ctx.Done():
			return
		}
	}
}

// refresh reads the file if it is not the one last seen. The error is why the
// snapshot is not what the file holds.
func (s *Store[D]) refresh() error {
	seen, err := s.disk.look()
	if err == nil && seen == same {
		return s.State().err()
	}
	var lines [][]byte
	if err == nil && seen == changed {
		lines, err = s.disk.read(s.lines)
	}
	if seen == missing || errors.Is(err, fs.ErrNotExist) {
		return s.gone()
	}
	if err == nil && s.lines != nil && sameLines(lines, s.lines) && s.State().Code == "" && s.State().Message == "" {
		return nil // Another file with what we have.
	}
	if err == nil {
		var next view[D]
		if next, err = s.decode(lines); err == nil {
			s.fromFile = true
			s.publish(next)
			return nil
		}
	}
	if shared.CodeOf(err) == shared.StorageIO {
		s.disk.forget() // Nothing was learnt: look again next time.
	}
	s.degrade(err)
	return err
}

// gone handles a file that is not there. One that was there before and was
// removed by someone is no reason to give up what it held (invariant 7): the
// snapshot stays and the next update writes it whole.
func (s *Store[D]) gone() error {
	s.disk.forget()
	s.old = nil
	now := s.current.Load()
	if now.state.Code == "" && (!s.fromFile || now.state.Message != "") {
		return nil
	}
	next := *now
	next.state.Code, next.state.Message = "", ""
	if s.fromFile {
		next.state.Message = "the draft file was removed; the next change writes it again"
		s.log.Warn("the draft file was removed", "path", now.state.Path)
	}
	s.publish(next)
	return nil
}

// degrade keeps the document and says why it is not what the file holds.
func (s *Store[D]) degrade(err error) {
	s.old = nil
	now := s.current.Load()
	next := *now
	next.state.Code, next.state.Message = shared.CodeOf(err), messageOf(err)
	if next.state == now.state {
		return
	}
	s.log.Error("the draft file cannot be used; it is left as it is", "code", next.state.Code, "reason", next.state.Message)
	s.publish(next)
}

func messageOf(err error) string {
	var coded *shared.Error
	if errors.As(err, &coded) {
		return coded.Message
	}
	return err.Error()
}
