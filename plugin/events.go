package plugin

import (
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/draft-sessions/dsh-draft-sessions/plugin/composer"
	"github.com/draft-sessions/dsh-draft-sessions/plugin/sidebar"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
	pb "github.com/draft-sessions/dsh-draft-sessions/shared/proto/draftsessionsv1"
)

const (
	// watcherBuffer is how many events a slow reader may lag behind before it is
	// ended; it opens another stream and gets a fresh sidebar.
	watcherBuffer = 256
	// sidebarPause joins the changes of a burst into one sidebar.
	sidebarPause = 40 * time.Millisecond
	// maxNotices bounds what waits for somebody to read it.
	maxNotices = 20
)

// hub hands events to every watcher. mu guards all fields below it.
type hub struct {
	render func(notices []*pb.Notice) *pb.Sidebar

	mu       sync.Mutex
	watchers map[*watcher]struct{}
	notices  []*pb.Notice
	dirty    chan struct{} // capacity 1
}

type watcher struct {
	events chan *pb.Event
	// late is closed when the reader lagged too far behind.
	late chan struct{}
	once sync.Once
}

func newHub(render func([]*pb.Notice) *pb.Sidebar) *hub {
	return &hub{render: render, watchers: map[*watcher]struct{}{}, dirty: make(chan struct{}, 1)}
}

// run sends a sidebar after each burst of changes, until done.
func (h *hub) run(done <-chan struct{}) {
	for {
		select {
		case <-done:
			return
		case <-h.dirty:
		}
		select {
		case <-done:
			return
		case <-time.After(sidebarPause):
		}
		select { // what was changed during the pause is in this sidebar
		case <-h.dirty:
		default:
		}
		h.send(&pb.Event{Event: &pb.Event_Sidebar{Sidebar: h.sidebar()}})
	}
}

func (h *hub) changed() {
	select {
	case h.dirty <- struct{}{}:
	default:
	}
}

func (h *hub) sidebar() *pb.Sidebar {
	h.mu.Lock()
	notices := append([]*pb.Notice(nil), h.notices...)
	h.mu.Unlock()
	return h.render(notices)
}

func (h *hub) send(e *pb.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for w := range h.watchers {
		select {
		case w.events <- e:
		default:
			w.once.Do(func() { close(w.late) })
			delete(h.watchers, w)
		}
	}
}

func (h *hub) watch() (w *watcher, stop func()) {
	w = &watcher{events: make(chan *pb.Event, watcherBuffer), late: make(chan struct{})}
	h.mu.Lock()
	h.watchers[w] = struct{}{}
	h.mu.Unlock()
	return w, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.watchers, w)
	}
}

func (h *hub) notify(kind string, d shared.DraftRecord) {
	h.mu.Lock()
	h.notices = append(h.notices, &pb.Notice{Id: uuid.NewString(), Kind: kind, DraftId: d.ID, Title: sidebar.Title(d), At: time.Now().UnixMilli()})
	if over := len(h.notices) - maxNotices; over > 0 {
		h.notices = h.notices[over:]
	}
	h.mu.Unlock()
	h.changed()
}

func (h *hub) dismiss(id string) {
	h.mu.Lock()
	kept := h.notices[:0:0]
	for _, n := range h.notices {
		if n.Id != id {
			kept = append(kept, n)
		}
	}
	h.notices = kept
	h.mu.Unlock()
	h.changed()
}

// saved and notSaved are the editors' callbacks.
func (h *hub) saved(s composer.Saved) {
	h.send(&pb.Event{Event: &pb.Event_Saved{Saved: &pb.Saved{
		DraftId:      s.DraftID,
		EditorId:     s.EditorID,
		Generation:   s.Generation,
		Seq:          s.Seq,
		Revision:     s.Record.Revision,
		TextRevision: s.Record.TextRevision,
		TextHash:     shared.TextHash(s.Record.Text),
		ConflictId:   s.ConflictID,
		NewDraftId:   s.NewDraftID,
	}}})
}

func (h *hub) notSaved(n composer.NotSaved) {
	h.send(&pb.Event{Event: &pb.Event_NotSaved{NotSaved: &pb.NotSaved{
		DraftId:    n.DraftID,
		EditorId:   n.EditorID,
		Generation: n.Generation,
		Seq:        n.Seq,
		Code:       string(shared.CodeOf(n.Err)),
		Message:    shared.MessageOf(n.Err),
		Retrying:   n.Retrying,
	}}})
}

// documentChanged tells what changed between two documents.
func (h *hub) documentChanged(before, after *shared.Document, editors pageEditors) {
	was := make(map[string]shared.DraftRecord, len(before.Drafts))
	for _, d := range before.Drafts {
		was[d.ID] = d
	}
	for _, d := range after.Drafts {
		old, existed := was[d.ID]
		delete(was, d.ID)
		replaced := d.TextRevision < old.TextRevision || d.TextRevision == old.TextRevision && d.Text != old.Text
		if !existed || old.TextRevision == d.TextRevision && !replaced {
			continue
		}
		if replaced {
			editors.Replaced(d.ID)
		}
		h.send(&pb.Event{Event: &pb.Event_TextChanged{TextChanged: &pb.TextChanged{
			DraftId:      d.ID,
			EditorId:     editors.Writer(d.ID, d.Text),
			TextRevision: d.TextRevision,
			Text:         d.Text,
			ContentJson:  toJSON(d.Content),
			TextHash:     shared.TextHash(d.Text),
			Replaced:     replaced,
		}}})
	}
	for id, d := range was {
		h.send(&pb.Event{Event: &pb.Event_Removed{Removed: &pb.Removed{DraftId: id, SessionId: value(d.SessionID), Reason: removal(after, id)}}})
	}
	h.changed()
}

// pageEditors is what the hub needs of the open editors.
type pageEditors interface {
	// Writer names the editor that is saving this text right now, "" for none.
	Writer(draftID, text string) string
	// Replaced: what the open editors of the draft were based on is gone.
	Replaced(draftID string)
}

func removal(doc *shared.Document, draftID string) string {
	for _, r := range doc.Receipts {
		if r.DraftID == draftID {
			return "sent"
		}
	}
	for _, e := range doc.Trash {
		if e.Record.ID == draftID {
			return "deleted"
		}
	}
	return "lost"
}
