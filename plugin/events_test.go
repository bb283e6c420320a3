package plugin

import (
	"fmt"
	"slices"
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
		{ID: "same", TextRevision: 1}, {ID: "edited", Text: "a", TextRevision: 1}, {ID: "sent", SessionID: &session}, {ID: "deleted"}, {ID: "lost"},
		{ID: "older", Text: "new", TextRevision: 4}, {ID: "other", Text: "one", TextRevision: 4},
	}}
	after := &shared.Document{
		Drafts: []shared.DraftRecord{{ID: "same", TextRevision: 1, Order: 3}, {ID: "edited", Text: "b", TextRevision: 2}, {ID: "new"},
			{ID: "older", Text: "old", TextRevision: 3}, {ID: "other", Text: "two", TextRevision: 4}},
		Receipts: []shared.Receipt{{DraftID: "sent"}},
		Trash:    []shared.TrashEntry{{Record: shared.DraftRecord{ID: "deleted"}}},
	}
	editors := &standEditors{}
	h.documentChanged(before, after, editors)
	removed, replaced := map[string]string{}, map[string]string{}
	for range 6 {
		switch e := (<-w.events).Event.(type) {
		case *pb.Event_TextChanged:
			if c := e.TextChanged; c.Replaced {
				replaced[c.DraftId] = c.Text
			} else if c.DraftId != "edited" || c.Text != "b" || c.EditorId != "editor" || c.TextHash != shared.TextHash("b") {
				t.Errorf("text changed: %v", c)
			}
		case *pb.Event_Removed:
			removed[e.Removed.DraftId] = e.Removed.Reason
		}
	}
	if removed["sent"] != "sent" || removed["deleted"] != "deleted" || removed["lost"] != "lost" || len(removed) != 3 {
		t.Errorf("removed %v", removed)
	}
	if replaced["older"] != "old" || replaced["other"] != "two" || len(replaced) != 2 || !slices.Equal(editors.replaced, []string{"older", "other"}) {
		t.Errorf("replaced %v, told to the editors %v", replaced, editors.replaced)
	}
	if len(w.events) != 0 {
		t.Errorf("more events: %v", <-w.events)
	}
}

type standEditors struct{ replaced []string }

func (s *standEditors) Writer(id, text string) string {
	if id == "edited" && text == "b" {
		return "editor"
	}
	return ""
}

func (s *standEditors) Replaced(id string) { s.replaced = append(s.replaced, id) }
