package server

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/eventlog"
	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/fault"
	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/sessions"
)

const (
	// heartbeat keeps a silent connection known to be there.
	heartbeat = 15 * time.Second
	// writeWithin is how long a reader may take to take one event.
	writeWithin = 30 * time.Second
)

// logged is an event of a log on its way out; its texts are rendered when it is written.
type logged struct {
	session string
	event   eventlog.Event
}

func logItem(session string, e eventlog.Event) item {
	return item{name: "log", id: session + ":" + strconv.FormatInt(e.Seq, 10), data: logged{session, e}}
}

func requestsItem(session string, open []sessions.Request) item {
	if open == nil {
		open = []sessions.Request{}
	}
	return item{name: "permission", data: map[string]any{"session": session, "requests": open}}
}

// events is the stream of events of one page.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	session, after, err := resumeFrom(r)
	if err != nil {
		s.fail(w, err)
		return
	}
	if session != "" {
		if _, err := s.opts.Sessions.Get(session); err != nil {
			session, after = "", 0 // purged since the page last heard of it
		}
	}
	st := s.opts.Hub.open()
	defer s.opts.Hub.close(st)
	w.Header().Set("Content-Type", "text/event-stream")
	out := &writer{w: w, control: http.NewResponseController(w), plain: r.URL.Query().Get("html") == "0"}
	if out.send(item{name: "hello", data: map[string]string{"stream": st.id, "instance": s.opts.Instance, "session": session}}) != nil {
		return
	}
	if out.send(item{name: "plugin", data: s.opts.Drafts.State()}) != nil {
		return
	}
	if session != "" {
		if err := s.opts.Hub.follow(st, s.opts.Sessions, session, after); err != nil {
			s.opts.Log.Warn("a stream could not follow its session", "session", session, "error", err)
			return
		}
	}
	s.pump(r, st, out)
}

func (s *Server) pump(r *http.Request, st *stream, out *writer) {
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for {
		var err error
		select {
		case i := <-st.queue:
			err = out.send(i)
		case <-beat.C:
			err = out.write(": here\n\n")
		case <-st.gone:
			return
		case <-r.Context().Done():
			return
		}
		if err != nil {
			return // the reader is gone
		}
	}
}

// resumeFrom is where a stream goes on: after the last event that a browser that
// connects again has had, else where the address says.
func resumeFrom(r *http.Request) (session string, after int64, err error) {
	query := r.URL.Query()
	session, number := query.Get("session"), query.Get("after")
	if last := r.Header.Get("Last-Event-ID"); last != "" {
		if id, seq, ok := strings.Cut(last, ":"); ok {
			session, number = id, seq
		}
	}
	if number != "" {
		if after, err = strconv.ParseInt(number, 10, 64); err != nil || after < 0 {
			return "", 0, fault.Errorf(fault.BadRequest, "\"after\" is the number of an event")
		}
	}
	return session, after, nil
}

// follow has a stream follow another session.
func (s *Server) follow(r *http.Request) (any, error) {
	body, err := decode[struct {
		SessionID string `json:"sessionId"`
		After     int64  `json:"after"`
	}](r)
	if err != nil {
		return nil, err
	}
	s.opts.Hub.mu.Lock()
	st := s.opts.Hub.streams[r.PathValue("stream")]
	s.opts.Hub.mu.Unlock()
	if st == nil {
		return nil, fault.Errorf(fault.NotFound, "there is no such stream")
	}
	if body.SessionID != "" {
		if _, err := s.opts.Sessions.Get(body.SessionID); err != nil {
			return nil, err
		}
	}
	return nothing{}, s.opts.Hub.follow(st, s.opts.Sessions, body.SessionID, body.After)
}

// writer writes events.
type writer struct {
	w       http.ResponseWriter
	control *http.ResponseController
	// plain: nothing is rendered as HTML.
	plain bool
}

func (w *writer) send(i item) error {
	data, err := json.Marshal(view(i.data, w.plain), json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("an event %q does not encode", i.name)
	}
	id := ""
	if i.id != "" {
		id = "id: " + i.id + "\n"
	}
	return w.write(id + "event: " + i.name + "\ndata: " + string(data) + "\n\n")
}

func (w *writer) write(frame string) error {
	if err := w.control.SetWriteDeadline(time.Now().Add(writeWithin)); err != nil {
		return err
	}
	if _, err := w.w.Write([]byte(frame)); err != nil {
		return err
	}
	return w.control.Flush()
}
