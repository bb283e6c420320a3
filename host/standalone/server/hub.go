package server

import (
	"sync"

	"github.com/google/uuid"

	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/bridge"
	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/eventlog"
	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/pbjson"
	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/sessions"
	pb "github.com/draft-sessions/dsh-draft-sessions/shared/proto/draftsessionsv1"
)

// streamBuffer is how many events a slow reader may lag behind before it is
// ended; a browser then connects again and takes the state anew.
const streamBuffer = 1024

// Hub hands what happens to every stream of events. It is the watcher of the
// sessions and takes the plugin's events; none of its methods blocks.
type Hub struct {
	mu      sync.Mutex // guards what follows; taken while a session is locked
	streams map[string]*stream
	closed  bool
}

// item is one event on its way out.
type item struct {
	name, id string
	data     any
}

// stream is one connection. mu of the hub guards all but queue and gone.
type stream struct {
	id    string
	queue chan item
	// gone is closed when the reader is too slow or the host ends.
	gone  chan struct{}
	ended bool

	follow string
	// ready: what is logged in the followed session is sent as it comes. Before,
	// it is read from the log; missed counts what happened meanwhile.
	ready  bool
	missed int
}

// NewHub makes a hub.
func NewHub() *Hub { return &Hub{streams: map[string]*stream{}} }

func (h *Hub) open() *stream {
	st := &stream{id: uuid.NewString(), queue: make(chan item, streamBuffer), gone: make(chan struct{})}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		st.end()
		return st
	}
	h.streams[st.id] = st
	return st
}

func (h *Hub) close(st *stream) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.streams, st.id)
}

// Close ends all streams.
func (h *Hub) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for _, st := range h.streams {
		st.end()
	}
}

// end is called with the hub's mu held.
func (st *stream) end() {
	if !st.ended {
		st.ended = true
		close(st.gone)
	}
}

// put is called with the hub's mu held.
func (st *stream) put(i item) {
	select {
	case st.queue <- i:
	default:
		st.end()
	}
}

func (h *Hub) all(name string, data any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, st := range h.streams {
		st.put(item{name: name, data: data})
	}
}

// followers sends to the streams that follow a session.
func (h *Hub) followers(session string, i item) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, st := range h.streams {
		switch {
		case st.follow != session:
		case st.ready:
			st.put(i)
		default:
			st.missed++
		}
	}
}

// SessionChanged implements [sessions.Watcher].
func (h *Hub) SessionChanged(s sessions.Summary) { h.all("session", s) }

// SessionRemoved implements [sessions.Watcher].
func (h *Hub) SessionRemoved(id string) { h.all("session-removed", map[string]string{"id": id}) }

// Logged implements [sessions.Watcher].
func (h *Hub) Logged(session string, e eventlog.Event) { h.followers(session, logItem(session, e)) }

// Streamed implements [sessions.Watcher].
func (h *Hub) Streamed(l sessions.Live) { h.followers(l.Session, item{name: "live", data: l}) }

// RequestsChanged implements [sessions.Watcher].
func (h *Hub) RequestsChanged(session string, open []sessions.Request) {
	h.followers(session, requestsItem(session, open))
}

// WorkspacesChanged tells of the list of workspaces.
func (h *Hub) WorkspacesChanged(list any) {
	h.all("workspaces", map[string]any{"workspaces": list})
}

// AgentsChanged tells of the agents.
func (h *Hub) AgentsChanged(list any) { h.all("agents", map[string]any{"agents": list}) }

// PluginChanged tells how the plugin is.
func (h *Hub) PluginChanged(s bridge.State) { h.all("plugin", s) }

// PluginEvent passes an event of the plugin on.
func (h *Hub) PluginEvent(e *pb.Event) {
	switch x := e.Event.(type) {
	case *pb.Event_Sidebar:
		h.all("sidebar", pbjson.Value(x.Sidebar))
	case *pb.Event_Saved:
		h.all("saved", pbjson.Value(x.Saved))
	case *pb.Event_NotSaved:
		h.all("not_saved", pbjson.Value(x.NotSaved))
	case *pb.Event_TextChanged:
		h.all("text_changed", pbjson.Value(x.TextChanged))
	case *pb.Event_Removed:
		h.all("removed", pbjson.Value(x.Removed))
	}
}

// source is what a stream catches up from.
type source interface {
	Events(id string, after int64) ([]eventlog.Event, error)
	Now(id string) (*sessions.Live, []sessions.Request, error)
}

// follow has a stream follow a session from the event after that number on, or
// none. What happens while the log is read is found by reading it again.
func (h *Hub) follow(st *stream, from source, session string, after int64) error {
	h.mu.Lock()
	st.follow, st.ready, st.missed = session, false, 0
	h.mu.Unlock()
	if session == "" {
		return nil
	}
	for {
		h.mu.Lock()
		seen := st.missed
		h.mu.Unlock()
		events, err := from.Events(session, after)
		if err != nil {
			return err
		}
		live, requests, err := from.Now(session)
		if err != nil {
			return err
		}
		h.mu.Lock()
		current := st.follow == session && !st.ready
		if current && st.missed == seen {
			h.catchUp(st, session, events, live, requests)
			h.mu.Unlock()
			return nil
		}
		h.mu.Unlock()
		if !current { // it follows another one by now
			return nil
		}
	}
}

// maxCatchUp bounds what is sent of the past; a page that missed more takes the
// session's newest events with GET.
const maxCatchUp = 500

// catchUp is called with mu held.
func (h *Hub) catchUp(st *stream, session string, events []eventlog.Event, live *sessions.Live, requests []sessions.Request) {
	st.ready = true
	if len(events) > maxCatchUp {
		events = events[len(events)-maxCatchUp:]
	}
	for _, e := range events {
		st.put(logItem(session, e))
	}
	if live != nil {
		st.put(item{name: "live", data: *live})
	}
	st.put(requestsItem(session, requests))
}
