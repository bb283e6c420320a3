package plugin

import (
	"fmt"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
	pb "github.com/draft-sessions/dsh-draft-sessions/shared/proto/draftsessionsv1"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newTestHub() *hub {
	return newHub(func(notices []*pb.Notice) *pb.Sidebar { return &pb.Sidebar{Notices: notices} })
}

func TestSlowWatcherIsEndedNotAwaited(t *testing.T) { // invariant 9, the other way round
	h := newTestHub()
	slow, stopSlow := h.watch()
	defer stopSlow()
	quick, stopQuick := h.watch()
	defer stopQuick()
	for i := range watcherBuffer + 1 {
		h.send(&pb.Event{Event: &pb.Event_Removed{Removed: &pb.Removed{DraftId: fmt.Sprint(i)}}})
		if got := <-quick.events; got.GetRemoved().DraftId != fmt.Sprint(i) {
			t.Fatalf("event %d is %v", i, got)
		}
	}
	select {
	case <-slow.late:
	default:
		t.Error("the slow reader was not told")
	}
	select {
	case <-quick.late:
		t.Error("the quick reader was ended too")
	default:
	}
}

func TestBurstBecomesOneSidebar(t *testing.T) {
	h := newTestHub()
	w, stop := h.watch()
	defer stop()
	done, ended := make(chan struct{}), make(chan struct{})
	go func() { h.run(done); close(ended) }()
	for range 100 {
		h.changed()
	}
	select {
	case e := <-w.events:
		if e.GetSidebar() == nil {
			t.Errorf("event %v", e)
		}
	case <-time.After(10 * time.Second):
		t.Error("no sidebar")
	}
	close(done)
	<-ended
	if n := len(w.events); n > 1 {
		t.Errorf("%d more sidebars", n)
	}
}

func TestNoticesAreBoundedAndDismissed(t *testing.T) {
	h := newTestHub()
	for i := range maxNotices + 5 {
		h.notify("detached", shared.DraftRecord{ID: fmt.Sprint(i)})
	}
	got := h.sidebar().Notices
	if len(got) != maxNotices || got[0].DraftId != "5" {
		t.Fatalf("%d notices, first %v", len(got), got[0])
	}
	h.dismiss(got[0].Id)
	if left := h.sidebar().Notices; len(left) != maxNotices-1 || left[0].DraftId != "6" {
		t.Fatalf("after dismissing: %d, first %v", len(left), left[0])
	}
}

func TestDocumentChanges(t *testing.T) {
	h := newTestHub()
	w, stop := h.watch()
	defer stop()
	session := "s"
	before := &shared.Document{Drafts: []shared.DraftRecord{
		{ID: "same", TextRevision: 1}, {ID: "edited", Text: "a", TextRevision: 1}, {ID: "sent", SessionID: &session}, {ID: "deleted"},
	}}
	after := &shared.Document{
		Drafts:   []shared.DraftRecord{{ID: "same", TextRevision: 1, Order: 3}, {ID: "edited", Text: "b", TextRevision: 2}, {ID: "new"}},
		Receipts: []shared.Receipt{{DraftID: "sent"}},
	}
	h.documentChanged(before, after, func(id, text string) string {
		if id == "edited" && text == "b" {
			return "editor"
		}
		return ""
	})
	removed := map[string]string{}
	for range 3 {
		switch e := (<-w.events).Event.(type) {
		case *pb.Event_TextChanged:
			if c := e.TextChanged; c.DraftId != "edited" || c.Text != "b" || c.EditorId != "editor" || c.TextHash != shared.TextHash("b") {
				t.Errorf("text changed: %v", c)
			}
		case *pb.Event_Removed:
			removed[e.Removed.DraftId] = e.Removed.Reason
		}
	}
	if removed["sent"] != "sent" || removed["deleted"] != "deleted" || len(removed) != 2 {
		t.Errorf("removed %v", removed)
	}
	if len(w.events) != 0 {
		t.Errorf("more events: %v", <-w.events)
	}
}
