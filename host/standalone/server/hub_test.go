package server

import (
	"net"
	"slices"
	"testing"

	"go.uber.org/goleak"

	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/eventlog"
	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/sessions"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A reader that is too slow is ended, not waited for, and holds up nobody.
func TestSlowReaderIsEnded(t *testing.T) {
	h := NewHub()
	slow, quick := h.open(), h.open()
	for i := range streamBuffer + 1 {
		h.SessionRemoved("x")
		if i%2 == 0 {
			<-quick.queue
		}
	}
	select {
	case <-slow.gone:
	default:
		t.Error("the slow one goes on")
	}
	select {
	case <-quick.gone:
		t.Error("the quick one was ended too")
	default:
	}
	h.Close()
	<-quick.gone
	select {
	case <-h.open().gone:
	default:
		t.Error("a stream was opened after the end")
	}
}

// log is a session's log into which an event comes while it is being read.
type log struct {
	h     *Hub
	seqs  []int64
	extra int
	live  *sessions.Live
}

func (l *log) Events(_ string, after int64) ([]eventlog.Event, error) {
	var out []eventlog.Event
	for _, seq := range l.seqs {
		if seq > after {
			out = append(out, eventlog.Event{Seq: seq})
		}
	}
	if l.extra > 0 { // after the reading, before the stream is ready
		l.extra--
		next := l.seqs[len(l.seqs)-1] + 1
		l.seqs = append(l.seqs, next)
		l.h.Logged("s", eventlog.Event{Seq: next})
	}
	return out, nil
}

func (l *log) Now(string) (*sessions.Live, []sessions.Request, error) { return l.live, nil, nil }

// Whatever is logged while a stream catches up comes once and in order.
func TestCatchingUpMissesNothing(t *testing.T) {
	h := NewHub()
	st := h.open()
	l := &log{h: h, seqs: []int64{1, 2, 3}, extra: 2, live: &sessions.Live{Session: "s", Text: "so far"}}
	if err := h.follow(st, l, "s", 1); err != nil {
		t.Fatal(err)
	}
	h.Logged("s", eventlog.Event{Seq: 6})
	h.Logged("other", eventlog.Event{Seq: 7})
	var got []int64
	lives := 0
	for len(st.queue) > 0 {
		switch d := (<-st.queue).data.(type) {
		case logged:
			got = append(got, d.event.Seq)
		case sessions.Live:
			lives++
		}
	}
	if !slices.Equal(got, []int64{2, 3, 4, 5, 6}) || lives != 1 {
		t.Errorf("%v, %d live", got, lives)
	}
	if err := h.follow(st, l, "", 0); err != nil {
		t.Fatal(err)
	}
	h.Logged("s", eventlog.Event{Seq: 8})
	if len(st.queue) != 0 {
		t.Error("it follows still")
	}
}

func TestNames(t *testing.T) {
	local := Names(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80}, nil)
	if !slices.Contains(local, "localhost:80") || !slices.Contains(local, "127.0.0.1:80") || !slices.Contains(local, "[::1]:80") {
		t.Errorf("%v", local)
	}
	wide := Names(&net.TCPAddr{IP: net.IPv4zero, Port: 80}, []string{"host.example"})
	if !slices.Contains(wide, "host.example:80") || !slices.Contains(wide, "host.example") || slices.Contains(wide, "elsewhere.example:80") {
		t.Errorf("%v", wide)
	}
}
