package host

import (
	"context"
	"sync"
	"time"

	"github.com/google/uuid"

	pb "github.com/draft-sessions/dsh-draft-sessions/shared/proto/draftsessionsv1"
)

const (
	// rememberedKeys bounds the results kept for repeated idempotency keys.
	rememberedKeys = 1000
	// effectWithin bounds one effect on the host.
	effectWithin = time.Minute
)

// memory is what a host keeps from one plugin process to the next: who it is, so
// that a new process knows that a send under way may still come to pass, and which
// effects it has had (invariant 10).
type memory struct {
	instance string

	life   context.Context
	cancel context.CancelFunc
	tasks  sync.WaitGroup

	mu      sync.Mutex // guards what follows
	results map[string]*result
	order   []string
}

// result of an effect; reply is there once done is closed.
type result struct {
	done  chan struct{}
	reply *pb.HostReply
}

func newMemory() *memory {
	m := &memory{instance: uuid.NewString(), results: map[string]*result{}}
	m.life, m.cancel = context.WithCancel(context.Background())
	return m
}

// close ends and awaits the effects that are under way.
func (m *memory) close() {
	m.cancel()
	m.tasks.Wait()
}

// once has the effect of a key unless it was had, or is being had, already. An
// effect outlives the process that asked for it, so that the next one finds its
// result; one that failed was none, and may be asked for again. Without a key it is
// no effect, and ends with ctx.
func (m *memory) once(ctx context.Context, key string, effect func(context.Context) *pb.HostReply) *pb.HostReply {
	if key == "" {
		return effect(ctx)
	}
	r := m.begin(key, effect)
	select {
	case <-r.done:
		return r.reply
	case <-ctx.Done():
		return &pb.HostReply{Error: hostError(ctx.Err())}
	}
}

func (m *memory) begin(key string, effect func(context.Context) *pb.HostReply) *result {
	m.mu.Lock()
	defer m.mu.Unlock()
	if known := m.results[key]; known != nil {
		return known
	}
	r := &result{done: make(chan struct{})}
	m.results[key] = r
	if m.order = append(m.order, key); len(m.order) > rememberedKeys {
		delete(m.results, m.order[0])
		m.order = m.order[1:]
	}
	m.tasks.Go(func() {
		ctx, cancel := context.WithTimeout(m.life, effectWithin)
		defer cancel()
		r.reply = effect(ctx)
		if r.reply.Error != nil {
			m.mu.Lock()
			if m.results[key] == r {
				delete(m.results, key)
			}
			m.mu.Unlock()
		}
		close(r.done)
	})
	return r
}
