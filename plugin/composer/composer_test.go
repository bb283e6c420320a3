package composer_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"go.uber.org/goleak"

	"github.com/draft-sessions/dsh-draft-sessions/plugin/composer"
	"github.com/draft-sessions/dsh-draft-sessions/plugin/drafts"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// desk is real editors on a real store; fail stands between them for the faults
// that a disk does not give on demand.
type desk struct {
	t *testing.T
	*composer.Editors
	store *drafts.Store

	mu   sync.Mutex
	fail error
	// uncertain makes the next save answer DRAFT_STORAGE_UNCERTAIN after it was made.
	uncertain bool
	saves     int
	saved     []composer.Saved
	notSaved  []composer.NotSaved
}

func (d *desk) Get(id string) (shared.DraftRecord, error) { return d.store.Get(id) }

func (d *desk) EditText(ctx context.Context, e drafts.Edit) (drafts.EditOutcome, error) {
	d.mu.Lock()
	d.saves++
	err, uncertain := d.fail, d.uncertain
	d.uncertain = false
	d.mu.Unlock()
	if err != nil {
		return drafts.EditOutcome{}, err
	}
	outcome, err := d.store.EditText(ctx, e)
	if err == nil && uncertain {
		err = shared.Errorf(shared.StorageUncertain, "the folder could not be synced")
	}
	return outcome, err
}

func newDesk(t *testing.T, debounce time.Duration) *desk {
	t.Helper()
	store, err := drafts.Open(t.Context(), drafts.Options{Path: filepath.Join(t.TempDir(), "drafts.json"), Log: hclog.NewNullLogger()})
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{t: t, store: store}
	d.Editors = composer.New("epoch", composer.Options{
		Store:    d,
		Log:      hclog.NewNullLogger(),
		Debounce: debounce,
		Saved: func(s composer.Saved) {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.saved = append(d.saved, s)
		},
		NotSaved: func(n composer.NotSaved) {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.notSaved = append(d.notSaved, n)
		},
	})
	t.Cleanup(func() {
		if err := errors.Join(d.Stop(context.Background()), store.Close()); err != nil {
			t.Error(err)
		}
	})
	return d
}

func (d *desk) draft(text string) shared.DraftRecord {
	d.t.Helper()
	rec, err := d.store.Create(d.t.Context(), drafts.CreateParams{WorkspaceID: "w", Text: text})
	if err != nil {
		d.t.Fatal(err)
	}
	return rec
}

// page is one editor of one browser.
type page struct {
	d          *desk
	draft, id  string
	generation int64
	seq        int64
	base       int64
}

func (d *desk) open(draft, id string) *page {
	d.t.Helper()
	o, err := d.Open(d.t.Context(), composer.Opening{DraftID: draft, EditorID: id})
	if err != nil {
		d.t.Fatal(err)
	}
	return &page{d: d, draft: draft, id: id, generation: o.Generation, base: o.Record.TextRevision}
}

func (p *page) types(text string) {
	p.d.t.Helper()
	p.seq++
	_, err := p.d.Edit(composer.Input{DraftID: p.draft, EditorID: p.id, Epoch: "epoch", Generation: p.generation, Seq: p.seq, BaseTextRevision: p.base, Text: text})
	if err != nil {
		p.d.t.Fatal(err)
	}
}

func (d *desk) flush(draft string) {
	d.t.Helper()
	if err := d.Flush(d.t.Context(), draft); err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) text(id string) string {
	d.t.Helper()
	rec, err := d.store.Get(id)
	if err != nil {
		d.t.Fatal(err)
	}
	return rec.Text
}

func TestTypingIsSavedAfterAPause(t *testing.T) {
	d := newDesk(t, 30*time.Millisecond)
	rec := d.draft("")
	p := d.open(rec.ID, "a")
	for i := range 20 {
		p.types(strings.Repeat("x", i+1))
	}
	for deadline := time.Now().Add(10 * time.Second); d.text(rec.ID) != strings.Repeat("x", 20); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("never saved")
		}
	}
	d.flush("")
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.saves > 5 {
		t.Errorf("%d saves for one burst of keys", d.saves)
	}
	if last := d.saved[len(d.saved)-1]; last.Seq != p.seq || last.EditorID != "a" || last.Generation != p.generation {
		t.Errorf("acknowledged %+v", last)
	}
}

// A person who never pauses is saved all the same.
func TestTypingWithoutAPauseIsSaved(t *testing.T) {
	d := newDesk(t, time.Hour)
	rec := d.draft("")
	p := d.open(rec.ID, "a")
	deadline := time.Now().Add(10 * time.Second)
	for i := 0; d.text(rec.ID) == ""; i++ {
		if time.Now().After(deadline) {
			t.Fatal("never saved")
		}
		p.types(fmt.Sprint("word ", i))
		time.Sleep(5 * time.Millisecond)
	}
}

func TestFlushSavesAtOnce(t *testing.T) {
	d := newDesk(t, time.Hour)
	a, b := d.draft(""), d.draft("")
	d.open(a.ID, "e").types("A")
	d.open(b.ID, "e").types("B")
	if s := d.SaveStates(); s[a.ID].State != "saving" || s[b.ID].State != "saving" {
		t.Errorf("states %v", s)
	}
	d.flush(a.ID)
	if d.text(a.ID) != "A" || d.text(b.ID) != "" {
		t.Errorf("A %q, B %q", d.text(a.ID), d.text(b.ID))
	}
	d.flush("")
	if d.text(b.ID) != "B" || len(d.SaveStates()) != 0 {
		t.Errorf("B %q, states %v", d.text(b.ID), d.SaveStates())
	}
}

// Invariant 5: an edit of another opening, another process or an older one changes nothing.
func TestLateEditsAreDropped(t *testing.T) {
	d := newDesk(t, time.Millisecond)
	a, b := d.draft("a"), d.draft("b")
	old := d.open(a.ID, "e")
	p := d.open(a.ID, "e")
	in := composer.Input{DraftID: a.ID, EditorID: "e", Epoch: "epoch", Generation: p.generation, Seq: 9, Text: "late"}
	for name, change := range map[string]func(*composer.Input){
		"earlier opening":  func(i *composer.Input) { i.Generation = old.generation },
		"other process":    func(i *composer.Input) { i.Epoch = "before" },
		"other draft":      func(i *composer.Input) { i.DraftID = b.ID },
		"unknown editor":   func(i *composer.Input) { i.EditorID = "f" },
		"a draft that isn": func(i *composer.Input) { i.DraftID = "none" },
	} {
		late := in
		change(&late)
		if _, err := d.Edit(late); shared.CodeOf(err) != shared.OperationUnknown {
			t.Errorf("%s: %v", name, err)
		}
	}
	p.types("newer")
	older := in
	older.Seq = p.seq - 1
	if got, err := d.Edit(older); err != nil || got != p.seq {
		t.Errorf("an older edit: accepted %d, %v", got, err)
	}
	d.flush("")
	if d.text(a.ID) != "newer" || d.text(b.ID) != "b" {
		t.Errorf("a %q, b %q", d.text(a.ID), d.text(b.ID))
	}
}

func TestTooLongText(t *testing.T) {
	d := newDesk(t, time.Millisecond)
	p := d.open(d.draft("a").ID, "e")
	_, err := d.Edit(composer.Input{DraftID: p.draft, EditorID: "e", Epoch: "epoch", Generation: p.generation, Seq: 2, Text: strings.Repeat("x", shared.MaxTextBytes+1)})
	if shared.CodeOf(err) != shared.DraftInvalidInput || strings.Contains(err.Error(), "xxx") { // invariant 11
		t.Errorf("error %v", err)
	}
}

// Invariant 6: both people type; neither text is lost, and the loser types on.
func TestTwoEditorsOnOneDraft(t *testing.T) {
	d := newDesk(t, time.Millisecond)
	rec := d.draft("base")
	a, b := d.open(rec.ID, "a"), d.open(rec.ID, "b")
	a.types("base A")
	d.flush("")
	b.types("base B")
	d.flush("")
	b.types("base B, and more")
	a.types("base A, and more")
	d.flush("")
	got, err := d.store.Get(rec.ID)
	if err != nil || got.Text != "base A, and more" || len(got.Conflicts) != 1 || got.Conflicts[0].Text != "base B, and more" {
		t.Fatalf("%+v, %v", got, err)
	}
	// b takes over the record and is no longer the loser.
	b.base = got.TextRevision
	b.types("base A, and more, and B")
	d.flush("")
	if got, _ = d.store.Get(rec.ID); got.Text != "base A, and more, and B" || len(got.Conflicts) != 1 {
		t.Fatalf("%+v", got)
	}
}

func TestEditAfterTheDraftIsDeleted(t *testing.T) {
	d := newDesk(t, time.Millisecond)
	rec := d.draft("base")
	p := d.open(rec.ID, "a")
	if _, err := d.store.Delete(t.Context(), rec.ID, 0); err != nil {
		t.Fatal(err)
	}
	p.types("more")
	d.flush("")
	p.types("more and more")
	d.flush("")
	all := d.store.Snapshot().Drafts
	if len(all) != 1 || all[0].ID == rec.ID || all[0].Text != "more and more" {
		t.Fatalf("%+v", all)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.saved) != 2 || !d.saved[0].FirstOfNew || d.saved[1].FirstOfNew || d.saved[1].NewDraftID != all[0].ID {
		t.Fatalf("%+v", d.saved)
	}
}

// Words typed on while the draft is sent from elsewhere end in one draft.
func TestTypingOnWhileTheDraftIsSent(t *testing.T) {
	d := newDesk(t, time.Millisecond)
	rec := d.draft("task")
	p := d.open(rec.ID, "a")
	p.types("task plus")
	d.flush("")
	kept, err := d.store.Convert(t.Context(), rec.ID, shared.Receipt{DraftID: rec.ID, SessionID: "s", WorkspaceID: "w", SubmissionID: "p", TextHash: shared.TextHash("task"), At: 1})
	if err != nil || len(kept) != 1 {
		t.Fatalf("%+v, %v", kept, err)
	}
	d.Redirect(rec.ID, kept)
	p.types("task plus late words")
	d.flush("")
	if all := d.store.Snapshot().Drafts; len(all) != 1 || all[0].ID != kept[0].ID || all[0].Text != "task plus late words" {
		t.Fatalf("%+v", all)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if last := d.saved[len(d.saved)-1]; last.NewDraftID != kept[0].ID || last.FirstOfNew {
		t.Fatalf("%+v", last)
	}
}

func TestFailedSaveIsToldAndTriedAgain(t *testing.T) {
	d := newDesk(t, time.Millisecond)
	rec := d.draft("")
	p := d.open(rec.ID, "a")
	d.mu.Lock()
	d.fail = shared.Errorf(shared.StorageIO, "no space left")
	d.mu.Unlock()
	p.types("keep me")
	if err := d.Flush(t.Context(), rec.ID); shared.CodeOf(err) != shared.StorageIO {
		t.Fatalf("flush of a save that failed: %v", err)
	}
	if s := d.SaveStates()[rec.ID]; s.State != "not_saved" || s.Code != shared.StorageIO {
		t.Errorf("state %+v", s)
	}
	d.mu.Lock()
	d.fail = nil
	if n := d.notSaved; len(n) == 0 || !n[0].Retrying || n[0].Seq != p.seq {
		t.Errorf("told %+v", n)
	}
	d.mu.Unlock()
	for deadline := time.Now().Add(10 * time.Second); d.text(rec.ID) != "keep me"; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("never tried again")
		}
	}
	d.flush("")
	if len(d.SaveStates()) != 0 {
		t.Error("still not saved")
	}
}

// Invariant 1: after an uncertain save neither its retry nor further typing makes
// a conflict copy.
func TestUncertainSave(t *testing.T) {
	d := newDesk(t, time.Millisecond)
	rec := d.draft("")
	p := d.open(rec.ID, "a")
	d.mu.Lock()
	d.uncertain = true
	d.mu.Unlock()
	p.types("in place")
	if err := d.Flush(t.Context(), rec.ID); shared.CodeOf(err) != shared.StorageUncertain {
		t.Fatalf("flush: %v", err)
	}
	p.types("in place, and more")
	d.flush(rec.ID)
	if got, err := d.store.Get(rec.ID); err != nil || got.Text != "in place, and more" || len(got.Conflicts) != 0 {
		t.Fatalf("%+v, %v", got, err)
	}
}

// Reload, by the rules of design.md.
func TestOpenDecidesWhatTheComposerShows(t *testing.T) {
	const base, mine, theirs = "base", "base and mine", "base and theirs"
	for _, c := range []struct {
		name           string
		record         string // what the record holds now
		host           *string
		knowsBase      bool
		keepHost       bool
		recordAfter    string
		conflictCopies int
	}{
		{"nothing known of the host", base, nil, false, false, base, 0},
		{"both as they were", base, new(base), true, false, base, 0},
		{"typed before the reload", base, new(mine), true, true, mine, 0},
		{"changed elsewhere", theirs, new(base), true, false, theirs, 0},
		{"both changed", theirs, new(mine), true, false, theirs, 1},
		{"both changed to the same", mine, new(mine), true, false, mine, 0},
		{"host emptied its composer", base, new(""), true, false, base, 0},
		{"host emptied, record changed", theirs, new(" \n"), true, false, theirs, 0},
		{"unknown text over a text", base, new(mine), false, false, base, 1},
		{"unknown text over an empty draft", "", new(mine), false, true, mine, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDesk(t, time.Millisecond)
			rec := d.draft(base)
			o := composer.Opening{DraftID: rec.ID, EditorID: "e", HostText: c.host}
			if c.knowsBase {
				o.BaseDraftID, o.BaseTextRevision, o.BaseHash = rec.ID, rec.TextRevision, shared.TextHash(rec.Text)
			}
			if c.record != base {
				if _, err := d.store.EditText(t.Context(), drafts.Edit{DraftID: rec.ID, EditorKey: "other", BaseTextRevision: rec.TextRevision, Text: c.record}); err != nil {
					t.Fatal(err)
				}
			}
			opened, err := d.Open(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			d.flush("")
			got, err := d.store.Get(rec.ID)
			if err != nil || opened.KeepHost != c.keepHost || got.Text != c.recordAfter || len(got.Conflicts) != c.conflictCopies {
				t.Errorf("keep host %v, record %q, copies %d, error %v", opened.KeepHost, got.Text, len(got.Conflicts), err)
			}
			if c.conflictCopies == 1 && (got.Conflicts[0].Text != *c.host || opened.ConflictID != got.Conflicts[0].ID) {
				t.Errorf("the copy is %+v, told %q", got.Conflicts, opened.ConflictID)
			}
		})
	}
}

// The page's own save, of which it never heard (the plugin was killed, the page
// reloaded at once), is no change from elsewhere.
func TestOwnSaveIsNoStranger(t *testing.T) {
	for _, reloaded := range []bool{false, true} {
		d := newDesk(t, time.Millisecond)
		rec := d.draft("base")
		p := d.open(rec.ID, "e")
		p.types("base and")
		d.flush("")
		host := "base and more"
		o := composer.Opening{DraftID: rec.ID, EditorID: "e", HostText: &host, BaseDraftID: rec.ID, BaseTextRevision: rec.TextRevision, BaseHash: shared.TextHash("base")}
		if reloaded {
			o.EditorID, o.BaseEditorID = "e2", "e"
		}
		opened, err := d.Open(t.Context(), o)
		if err != nil || !opened.KeepHost {
			t.Fatalf("%+v, %v", opened, err)
		}
		d.flush("")
		if got, _ := d.store.Get(rec.ID); got.Text != host || len(got.Conflicts) != 0 {
			t.Fatalf("reloaded %v: %+v", reloaded, got)
		}
	}
}

// What was typed after the page opened is still edited on: the next key after a
// kept host text is newer than it.
func TestTypingOnAfterAKeptHostText(t *testing.T) {
	d := newDesk(t, time.Millisecond)
	rec := d.draft("base")
	text := "base and mine"
	o, err := d.Open(t.Context(), composer.Opening{DraftID: rec.ID, EditorID: "e", HostText: &text, BaseDraftID: rec.ID, BaseTextRevision: rec.TextRevision, BaseHash: shared.TextHash("base")})
	if err != nil {
		t.Fatal(err)
	}
	p := &page{d: d, draft: rec.ID, id: "e", generation: o.Generation, base: o.Record.TextRevision}
	p.types("base and mine, more")
	d.flush("")
	if got, _ := d.store.Get(rec.ID); got.Text != "base and mine, more" || len(got.Conflicts) != 0 {
		t.Errorf("%+v", got)
	}
}

func TestStopSavesWhatIsPending(t *testing.T) {
	d := newDesk(t, time.Hour)
	rec := d.draft("")
	p := d.open(rec.ID, "a")
	p.types("last words")
	if err := d.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if d.text(rec.ID) != "last words" {
		t.Error("lost")
	}
	if _, err := d.Edit(composer.Input{DraftID: rec.ID, EditorID: "a", Epoch: "epoch", Generation: p.generation, Seq: 99, Text: "x"}); shared.CodeOf(err) != shared.OperationUnknown {
		t.Errorf("an edit after the end: %v", err)
	}
}

func TestAwaitText(t *testing.T) {
	d := newDesk(t, time.Millisecond)
	rec := d.draft("")
	is := func(want string) func(string, *shared.Content) bool {
		return func(text string, _ *shared.Content) bool { return text == want }
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if d.AwaitText(ctx, rec.ID, is("x")) {
		t.Error("found without an editor")
	}
	p := d.open(rec.ID, "a")
	if d.AwaitText(ctx, rec.ID, is("x")) || ctx.Err() == nil {
		t.Error("did not wait")
	}
	found := make(chan bool)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		found <- d.AwaitText(ctx, rec.ID, is("x"))
	}()
	p.types("x")
	if !<-found {
		t.Error("not found")
	}
}
