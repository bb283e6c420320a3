package sessions

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/draft-sessions/dsh-draft-sessions/plugin/drafts"
	"github.com/draft-sessions/dsh-draft-sessions/plugin/sidebar"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
	pb "github.com/draft-sessions/dsh-draft-sessions/shared/proto/draftsessionsv1"
)

// Manager binds drafts and follows their sends. Safe for concurrent use: all
// that concerns one draft's session runs one after the other.
type Manager struct {
	opts  Options
	locks keyedLock

	life  context.Context
	stop  context.CancelFunc
	tasks sync.WaitGroup

	mu sync.Mutex // guards what follows
	// followed has, for each session that is being followed, what makes its follower
	// look at once; capacity 1.
	followed map[string]chan struct{}
}

// New makes a manager; Stop ends what it runs in the background.
func New(opts Options) *Manager {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	life, stop := context.WithCancel(context.Background())
	return &Manager{opts: opts, life: life, stop: stop, followed: map[string]chan struct{}{}}
}

// Stop ends and awaits the background work. Sends whose proof was awaited stay
// on disk as they are; the next Reconcile settles them.
func (m *Manager) Stop() {
	m.stop()
	m.tasks.Wait()
}

// NewSessionID reserves nothing by itself; it has the shape of the host's own ids.
func newSessionID() string { return "session-" + uuid.NewString() }

// New describes a draft to make.
type NewDraft struct {
	// WorkspaceID wins over the workspace of CurrentSessionID, that over RecentWorkspaceID.
	WorkspaceID, CurrentSessionID, RecentWorkspaceID string
	// IdempotencyKey: the same key gives the same draft.
	IdempotencyKey string
	Text           string
	AgentPresetID  string
	// Flush is the draft whose editor is flushed first, "" for none.
	Flush string
}

// draftNamespace makes a draft id from an idempotency key.
var draftNamespace = uuid.MustParse("4be4a3a2-3f5c-4f0e-9f0a-6f1d1f3f7a10")

// NewDraft makes a draft and binds it to a session of its own. When it returns
// without error the draft is on disk; its state is error, with LastError, when
// the host refused the session. Codes: DRAFT_INVALID_INPUT (no workspace),
// DRAFT_LIMIT_REACHED, SESSION_UNAVAILABLE (the host did not tell its
// workspaces; no draft was made), those of the store.
func (m *Manager) NewDraft(ctx context.Context, n NewDraft) (shared.DraftRecord, error) {
	if n.Flush != "" {
		// A failed save does not stand in the way: its text stays pending and is tried again.
		if err := m.opts.Editors.Flush(ctx, n.Flush); err != nil {
			m.opts.Log.Warn("could not save the open draft before making a new one", "draft", n.Flush, "code", shared.CodeOf(err))
		}
	}
	all, err := m.opts.Host.ListWorkspaces(ctx)
	if err != nil {
		return shared.DraftRecord{}, err
	}
	ws := pickWorkspace(all, n, m.opts.Store.Snapshot())
	if ws == nil {
		return shared.DraftRecord{}, shared.Errorf(shared.DraftInvalidInput, "there is no workspace for the draft; open a folder first")
	}
	rec, err := m.opts.Store.Create(ctx, drafts.CreateParams{
		ID:                draftID(n.IdempotencyKey),
		WorkspaceID:       ws.WorkspaceId,
		WorkspacePath:     ws.Path,
		Text:              n.Text,
		AgentPresetID:     n.AgentPresetID,
		ReservedSessionID: newSessionID(),
	})
	if err != nil {
		return shared.DraftRecord{}, err
	}
	bound, _, err := m.bind(ctx, rec.ID, all)
	if err != nil && shared.CodeOf(err) == shared.SessionUnavailable {
		return m.opts.Store.Get(rec.ID)
	}
	return bound, err
}

// draftID makes the same id of the same key: a UUIDv7 is the id itself, any other
// key is hashed into one. "" leaves the choice to the store.
func draftID(key string) string {
	if key == "" {
		return ""
	}
	if id, err := uuid.Parse(key); err == nil && id.Version() == 7 {
		return id.String()
	}
	return uuid.NewSHA1(draftNamespace, []byte(key)).String()
}

func pickWorkspace(all *pb.ListWorkspacesResult, n NewDraft, doc *shared.Document) *pb.Workspace {
	byID := func(id string) *pb.Workspace {
		i := slices.IndexFunc(all.Workspaces, func(w *pb.Workspace) bool { return id != "" && w.WorkspaceId == id })
		if i < 0 {
			return nil
		}
		return all.Workspaces[i]
	}
	if n.WorkspaceID != "" {
		return byID(n.WorkspaceID)
	}
	if n.CurrentSessionID != "" {
		for _, w := range all.Workspaces {
			if slices.Contains(w.SessionIds, n.CurrentSessionID) {
				return w
			}
		}
		for _, d := range doc.Drafts { // the host may not have listed it yet
			if d.SessionID != nil && *d.SessionID == n.CurrentSessionID {
				if w := byID(d.WorkspaceID); w != nil {
					return w
				}
			}
		}
	}
	if w := byID(n.RecentWorkspaceID); w != nil {
		return w
	}
	if len(all.Workspaces) == 1 {
		return all.Workspaces[0]
	}
	return nil
}

// ChooseSession gives the first candidate that belongs to no draft, "" when all
// do: what the host's own New Session may open (invariant 4).
func (m *Manager) ChooseSession(candidates []string) string {
	taken := sidebar.SessionIDs(m.opts.Store.Snapshot())
	for _, c := range candidates {
		if !slices.Contains(taken, c) {
			return c
		}
	}
	return ""
}

// draftOf finds the draft that a session belongs to.
func (m *Manager) draftOf(sessionID string) (shared.DraftRecord, bool) {
	for _, d := range m.opts.Store.Snapshot().Drafts {
		if d.SessionID != nil && *d.SessionID == sessionID {
			return d, true
		}
	}
	return shared.DraftRecord{}, false
}

// background runs fn until it returns or the manager stops.
func (m *Manager) background(what, draftID string, fn func(ctx context.Context) error) {
	m.tasks.Go(func() {
		if err := fn(m.life); err != nil && !errors.Is(err, context.Canceled) {
			m.opts.Log.Warn(what+" failed", "draft", draftID, "code", shared.CodeOf(err), "error", err)
		}
	})
}

// keyedLock is one lock for each key, with a wait that ends with the context.
type keyedLock struct {
	mu    sync.Mutex
	locks map[string]*keyLock
}

type keyLock struct {
	held    chan struct{} // capacity 1
	holders int
}

func (k *keyedLock) lock(ctx context.Context, id string) (unlock func(), err error) {
	k.mu.Lock()
	if k.locks == nil {
		k.locks = map[string]*keyLock{}
	}
	l := k.locks[id]
	if l == nil {
		l = &keyLock{held: make(chan struct{}, 1)}
		k.locks[id] = l
	}
	l.holders++
	k.mu.Unlock()
	release := func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		if l.holders--; l.holders == 0 {
			delete(k.locks, id)
		}
	}
	select {
	case l.held <- struct{}{}:
		return func() { <-l.held; release() }, nil
	case <-ctx.Done():
		release()
		return nil, shared.Errorf(shared.OperationConflict, "another operation on the draft is under way: %w", ctx.Err())
	}
}
