package drafts

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// machine runs the same steps on the model and on two stores of one file.
type machine struct {
	*model
	stores []*Store
	known  []string // every id that ever was
	ctx    context.Context
}

// drawAnother ends an action that has nothing to act on. It skips no test: rapid
// draws another action instead, and fails where it finds none.
func drawAnother(t *rapid.T, why string) { t.Skip(why) }

// store is one of the two; it may not have seen the other's last change yet.
func (m *machine) store(t *rapid.T) *Store { return rapid.SampledFrom(m.stores).Draw(t, "store") }

func (m *machine) live(t *rapid.T) (*modelDraft, shared.DraftRecord) {
	if len(m.drafts) == 0 {
		drawAnother(t, "no drafts")
	}
	ids := make([]string, 0, len(m.drafts))
	for _, id := range m.known {
		if m.drafts[id] != nil {
			ids = append(ids, id)
		}
	}
	id := rapid.SampledFrom(ids).Draw(t, "draft")
	record, err := m.stores[0].Get(id)
	if err != nil {
		t.Fatal(err)
	}
	return m.drafts[id], record
}

var (
	someText      = rapid.SampledFrom([]string{"", " ", "a", "b", "c", "a ", "中文 😀\r\n"})
	someWorkspace = rapid.SampledFrom([]string{"v", "w"})
	someSession   = rapid.SampledFrom([]string{"", "s1", "s2", "s3"})
	someEditor    = rapid.SampledFrom([]string{"", "e1", "e2"})
)

func (m *machine) Create(t *rapid.T) {
	d := &modelDraft{workspace: someWorkspace.Draw(t, "workspace"), text: someText.Draw(t, "text"), textRevision: 1}
	record, err := m.store(t).Create(m.ctx, CreateParams{WorkspaceID: d.workspace, Text: d.text})
	if err != nil {
		t.Fatal(err)
	}
	d.id = record.ID
	m.known = append(m.known, d.id)
	m.insert(d, 0)
}

func (m *machine) Edit(t *rapid.T) {
	if len(m.known) == 0 {
		drawAnother(t, "no drafts yet")
	}
	e := Edit{
		DraftID: rapid.SampledFrom(m.known).Draw(t, "draft"), EditorKey: someEditor.Draw(t, "editor"),
		BaseTextRevision: rapid.Int64Range(1, 4).Draw(t, "base"), Text: someText.Draw(t, "text"),
	}
	if d := m.drafts[e.DraftID]; d != nil && rapid.Bool().Draw(t, "newest") {
		e.BaseTextRevision = d.textRevision
	}
	out, err := m.store(t).EditText(m.ctx, e)
	if err != nil {
		t.Fatal(err)
	}
	want := m.edit(e, out.Record.ID)
	if out.NewDraft && out.Changed {
		m.known = append(m.known, out.Record.ID)
	}
	if got := fmt.Sprint(out.Changed, out.ConflictID != "", out.NewDraft, out.Dropped); got != want {
		t.Fatalf("%+v came out as %s, want %s (changed, conflict, new, dropped)", e, got, want)
	}
}

func (m *machine) Update(t *rapid.T) {
	d, record := m.live(t)
	text, pinned, stale := someText.Draw(t, "text"), rapid.Bool().Draw(t, "pinned"), rapid.IntRange(0, 3).Draw(t, "stale") == 0
	revision := record.Revision
	if stale {
		revision--
	}
	_, err := m.store(t).Update(m.ctx, d.id, revision, Patch{Text: &text, Pinned: &pinned})
	if stale {
		if shared.CodeOf(err) != shared.DraftStaleRevision {
			t.Fatalf("a stale update: %v", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if text != d.text {
		d.text = text
		d.textRevision++
	}
	if pinned != d.pinned {
		m.take(d.id)
		d.pinned = pinned
		m.insert(d, 0)
	}
}

func (m *machine) Rebind(t *rapid.T) {
	d, record := m.live(t)
	session := someSession.Draw(t, "session")
	target := &session
	if session == "" {
		target = nil
	}
	_, err := m.store(t).Rebind(m.ctx, d.id, record.Revision, target)
	if owner := m.owner(session); session != "" && owner != "" && owner != d.id {
		if shared.CodeOf(err) != shared.OperationConflict {
			t.Fatalf("a session of another draft: %v", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	d.session = session
}

func (m *machine) Delete(t *rapid.T) {
	d, record := m.live(t)
	if _, err := m.store(t).Delete(m.ctx, d.id, record.Revision); err != nil {
		t.Fatal(err)
	}
	m.trash = append(m.trash, m.take(d.id))
}

func (m *machine) Restore(t *rapid.T) {
	if len(m.trash) == 0 {
		drawAnother(t, "nothing deleted")
	}
	i := rapid.IntRange(0, len(m.trash)-1).Draw(t, "entry")
	d := m.trash[i]
	record, err := m.store(t).Restore(m.ctx, d.id)
	if err != nil {
		t.Fatal(err)
	}
	m.trash = slices.Delete(m.trash, i, i+1)
	if d.session != "" && m.owner(d.session) != "" {
		d.session = ""
	}
	// Its place depends on numbers that the model does not have.
	m.insert(d, int(record.Order))
}

func (m *machine) Convert(t *rapid.T) {
	d, _ := m.live(t)
	sent := someText.Draw(t, "sent")
	kept, err := m.store(t).Convert(m.ctx, d.id, shared.Receipt{SubmissionID: "p", TextHash: sentHash(sent)})
	if err != nil {
		t.Fatal(err)
	}
	m.take(d.id)
	m.receipts[d.id] = strings.TrimSpace(sent)
	texts := []string{d.text}
	for _, c := range d.conflicts {
		texts = append(texts, c.text)
	}
	var want []string
	for _, text := range texts {
		if trimmed := strings.TrimSpace(text); trimmed != "" && trimmed != strings.TrimSpace(sent) {
			want = append(want, text)
		}
	}
	if len(kept) != len(want) {
		t.Fatalf("kept %d drafts, want %q", len(kept), want)
	}
	for i := len(kept) - 1; i >= 0; i-- {
		m.known = append(m.known, kept[i].ID)
		m.insert(&modelDraft{id: kept[i].ID, workspace: d.workspace, text: want[i], textRevision: 1}, 0)
	}
}

func (m *machine) Duplicate(t *rapid.T) {
	d, _ := m.live(t)
	record, err := m.store(t).Duplicate(m.ctx, d.id)
	if err != nil {
		t.Fatal(err)
	}
	m.known = append(m.known, record.ID)
	m.insert(&modelDraft{id: record.ID, workspace: d.workspace, text: d.text, textRevision: 1, pinned: d.pinned}, m.place(d.id)+1)
}

func (m *machine) Reorder(t *rapid.T) {
	workspace := someWorkspace.Draw(t, "workspace")
	list := m.order[workspace]
	named := rapid.Permutation(list).Draw(t, "order")
	if len(named) > 0 {
		named = named[:rapid.IntRange(0, len(named)).Draw(t, "named")]
	}
	if err := m.store(t).Reorder(m.ctx, workspace, named); err != nil {
		t.Fatal(err)
	}
	next := slices.Clone(named)
	for _, id := range list {
		if !slices.Contains(named, id) {
			next = append(next, id)
		}
	}
	slices.SortStableFunc(next, func(a, b string) int {
		rank := map[bool]int{true: 0, false: 1}
		return cmp.Compare(rank[m.drafts[a].pinned], rank[m.drafts[b].pinned])
	})
	m.order[workspace] = next
}

func (m *machine) Resolve(t *rapid.T) {
	d, record := m.live(t)
	if len(d.conflicts) == 0 {
		drawAnother(t, "no conflicts")
	}
	i, keep := rapid.IntRange(0, len(d.conflicts)-1).Draw(t, "copy"), rapid.Bool().Draw(t, "keep")
	out, err := m.store(t).ResolveConflict(m.ctx, d.id, record.Conflicts[i].ID, keep)
	if err != nil {
		t.Fatal(err)
	}
	text := d.conflicts[i].text
	d.conflicts = slices.Delete(d.conflicts, i, i+1)
	if keep {
		m.known = append(m.known, out.ID)
		m.insert(&modelDraft{id: out.ID, workspace: d.workspace, text: text, textRevision: 1, pinned: d.pinned}, m.place(d.id)+1)
	}
}

func (m *machine) Take(t *rapid.T) {
	d, record := m.live(t)
	if len(d.conflicts) == 0 {
		drawAnother(t, "no conflicts")
	}
	i := rapid.IntRange(0, len(d.conflicts)-1).Draw(t, "copy")
	if _, err := m.store(t).TakeConflict(m.ctx, d.id, record.Conflicts[i].ID); err != nil {
		t.Fatal(err)
	}
	old := d.text
	d.text, d.conflicts[i] = d.conflicts[i].text, modelConflict{"", old}
	if d.text != old {
		d.textRevision++
	}
	if strings.TrimSpace(old) == "" {
		d.conflicts = slices.Delete(d.conflicts, i, i+1)
	}
}

// Reopen is a restart of one process.
func (m *machine) Reopen(t *rapid.T) {
	i := rapid.IntRange(0, len(m.stores)-1).Draw(t, "store")
	path := m.stores[i].State().Path
	if err := m.stores[i].Close(); err != nil {
		t.Fatal(err)
	}
	next, err := openOn(m.ctx, Options{Path: path, LimitPerWorkspace: 1000}, &faultyFS{lazy: true})
	if err != nil {
		t.Fatal(err)
	}
	m.stores[i] = next
}

// Check compares each store, refreshed, with the model.
func (m *machine) Check(t *rapid.T) {
	for _, s := range m.stores {
		if err := s.Refresh(m.ctx); err != nil {
			t.Fatal(err)
		}
		doc := s.Snapshot()
		if len(doc.Drafts) != len(m.drafts) || len(doc.Trash) != len(m.trash) {
			t.Fatalf("%d drafts and %d deleted, want %d and %d", len(doc.Drafts), len(doc.Trash), len(m.drafts), len(m.trash))
		}
		for _, workspace := range []string{"v", "w"} {
			var got []string
			for _, record := range InOrder(doc, workspace) {
				got = append(got, record.ID)
				m.compare(t, record)
			}
			if !slices.Equal(got, m.order[workspace]) {
				t.Fatalf("order of %s\n%v, want\n%v", workspace, got, m.order[workspace])
			}
		}
		for i, entry := range doc.Trash {
			if entry.Record.ID != m.trash[i].id || entry.Record.Text != m.trash[i].text {
				t.Fatalf("trash entry %d is %+v", i, entry.Record)
			}
		}
		// Invariant 4, and everything else that must hold of every file.
		if err := shared.ValidateDocument(doc); err != nil {
			t.Fatal(err)
		}
	}
}

func (m *machine) compare(t *rapid.T, record shared.DraftRecord) {
	d := m.drafts[record.ID]
	if d == nil {
		t.Fatalf("%s should not be there", record.ID)
	}
	session := strings.Join(shared.SessionsOf(&record), " ")
	var conflicts []modelConflict
	for _, c := range record.Conflicts {
		conflicts = append(conflicts, modelConflict{c.EditorID, c.Text})
	}
	if record.Text != d.text || record.TextRevision != d.textRevision || record.Pinned != d.pinned || session != d.session || !slices.Equal(conflicts, d.conflicts) {
		t.Fatalf("%+v, want %+v", record, d)
	}
}

// Two stores of one file do exactly what the model says, step by step
// (invariants 4, 5, 6, 14).
func TestStoreFollowsItsModel(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(r *rapid.T) {
		home, err := os.MkdirTemp(dir, "")
		if err != nil {
			r.Fatal(err)
		}
		m := &machine{model: newModel(), ctx: t.Context()}
		for range 2 {
			s, err := openOn(m.ctx, Options{Path: filepath.Join(home, "drafts.json"), LimitPerWorkspace: 1000}, &faultyFS{lazy: true})
			if err != nil {
				r.Fatal(err)
			}
			m.stores = append(m.stores, s)
		}
		defer func() {
			for _, s := range m.stores {
				_ = s.Close() // Close waits and reports nothing.
			}
		}()
		r.Repeat(map[string]func(*rapid.T){
			"create": m.Create, "edit": m.Edit, "edit more": m.Edit, "update": m.Update, "rebind": m.Rebind, "delete": m.Delete, "restore": m.Restore,
			"convert": m.Convert, "duplicate": m.Duplicate, "reorder": m.Reorder, "resolve": m.Resolve, "take": m.Take, "reopen": m.Reopen, "crash": m.Crash, "": m.Check,
		})
	})
}
