package composer_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/draft-sessions/dsh-draft-sessions/plugin/composer"
	"github.com/draft-sessions/dsh-draft-sessions/plugin/drafts"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// Invariant 5: the revisions of a draft that is gone say nothing of the draft
// that its editor's words went to.
func TestWordsOfALongEditedDraftFollowItWithoutACopy(t *testing.T) {
	d := newDesk(t, time.Millisecond)
	rec := d.draft("base")
	p := d.open(rec.ID, "a")
	for _, text := range []string{"base 1", "base 2"} {
		p.types(text)
		d.flush("")
		p.base++
	}
	if _, err := d.store.Delete(t.Context(), rec.ID, 0); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"more", "more and more"} {
		p.types(text)
		d.flush("")
	}
	all := d.store.Snapshot().Drafts
	if len(all) != 1 || all[0].Text != "more and more" || len(all[0].Conflicts) != 0 {
		t.Fatalf("%+v", all)
	}
}

// Invariants 1 and 6: an accepted edit that could not be saved is kept until it
// is, also when its page has left and others come.
func TestUnsavedEditOutlivesItsPage(t *testing.T) {
	d := newDesk(t, time.Millisecond)
	rec, other := d.draft(""), d.draft("")
	p := d.open(rec.ID, "a")
	d.mu.Lock()
	d.fail = shared.Errorf(shared.DraftLimitReached, "too many conflict copies")
	d.mu.Unlock()
	p.types("keep me")
	if err := d.Flush(t.Context(), rec.ID); shared.CodeOf(err) != shared.DraftLimitReached {
		t.Fatalf("flush of a save that failed: %v", err)
	}
	d.Close(rec.ID, "a", p.generation)
	d.mu.Lock()
	d.fail = nil
	d.mu.Unlock()
	d.open(other.ID, "b") // sweeps what nobody needs
	d.flush("")
	if got := d.text(rec.ID); got != "keep me" {
		t.Errorf("text %q", got)
	}
}

// An editor that was closed while its edit was being saved is gone with the save:
// nobody sits there any more (invariant 5: an emptied composer is not awaited).
func TestClosedEditorIsForgottenOnceSaved(t *testing.T) {
	d := newDesk(t, time.Hour)
	rec := d.draft("")
	p := d.open(rec.ID, "a")
	p.types("words")
	d.Close(rec.ID, "a", p.generation)
	d.flush("")
	if d.text(rec.ID) != "words" || d.IsOpen(rec.ID) {
		t.Errorf("text %q, open %v", d.text(rec.ID), d.IsOpen(rec.ID))
	}
}

// Invariant 5: a text that the page remembers beside another draft is not typed
// into this one.
func TestHostTextOfAnotherDraftIsNoEdit(t *testing.T) {
	d := newDesk(t, time.Millisecond)
	a, b := d.draft("a"), d.draft("b")
	text := "a and more"
	o, err := d.Open(t.Context(), composer.Opening{DraftID: b.ID, EditorID: "e", HostText: &text, BaseDraftID: a.ID, BaseTextRevision: 1, BaseHash: shared.TextHash("a")})
	if err != nil || o.KeepHost || o.ConflictID == "" {
		t.Fatalf("%+v, %v", o, err)
	}
	d.flush("")
	if d.text(a.ID) != "a" || d.text(b.ID) != "b" {
		t.Errorf("a %q, b %q", d.text(a.ID), d.text(b.ID))
	}
}

// Invariant 5: only editors of the sent draft follow it, and only to the draft
// that holds their own words.
func TestRedirectConcernsOnlyItsOwnWords(t *testing.T) {
	d := newDesk(t, time.Millisecond)
	sent, other := d.draft("sent"), d.draft("other")
	p, q, r := d.open(sent.ID, "p"), d.open(other.ID, "q"), d.open(sent.ID, "r")
	p.types("sent, going on")
	d.flush("")
	r.base = 2
	r.types("sent, going on elsewhere")
	q.types("sent, going on elsewhere") // by chance the same words
	d.flush("")
	kept := d.draft("sent, going on elsewhere")
	if _, err := d.store.Delete(t.Context(), sent.ID, 0); err != nil {
		t.Fatal(err)
	}
	d.Redirect(sent.ID, []shared.DraftRecord{kept})
	q.types("other words, more")
	r.types("sent, going on elsewhere, more")
	d.flush("")
	p.types("sent, going on, more")
	d.flush("")
	texts := map[string]int{}
	for _, rec := range d.store.Snapshot().Drafts {
		texts[rec.Text] += 1 + len(rec.Conflicts)
	}
	if d.text(other.ID) != "other words, more" || d.text(kept.ID) != "sent, going on elsewhere, more" || texts["sent, going on, more"] != 1 || len(texts) != 3 {
		t.Errorf("texts %v", texts)
	}
}

// Invariant 5: whose words a text are is told by its draft too.
func TestWriterIsOfItsDraft(t *testing.T) {
	d := newDesk(t, time.Millisecond)
	a, b := d.draft(""), d.draft("")
	p := d.open(a.ID, "a")
	writers := make(chan [2]string, 1)
	cancel := d.store.Subscribe(func(_, after *shared.Document) {
		select {
		case writers <- [2]string{d.Writer(a.ID, "words"), d.Writer(b.ID, "words")}:
		default:
		}
	})
	defer cancel()
	p.types("words")
	d.flush("")
	if got := <-writers; got != [2]string{"a", ""} {
		t.Errorf("writers %q", got)
	}
}

// Invariant 6: what another editor wrote is another's, whoever remembers an editor.
func TestAnothersSaveIsAStranger(t *testing.T) {
	d := newDesk(t, time.Millisecond)
	rec := d.draft("base")
	if _, err := d.store.EditText(t.Context(), drafts.Edit{DraftID: rec.ID, EditorID: "other", EditorKey: "other.1", BaseTextRevision: 1, Text: "base and theirs"}); err != nil {
		t.Fatal(err)
	}
	mine := "base and mine"
	o, err := d.Open(t.Context(), composer.Opening{DraftID: rec.ID, EditorID: "e2", BaseEditorID: "e1", HostText: &mine, BaseDraftID: rec.ID, BaseTextRevision: 1, BaseHash: shared.TextHash("base")})
	if err != nil || o.KeepHost || o.ConflictID == "" || o.Record.Text != "base and theirs" {
		t.Fatalf("%+v, %v", o, err)
	}
}

// Invariant 11: a save that fails is told to the page and the log without its text.
func TestFailedSaveQuotesNothing(t *testing.T) {
	const secret = "zebra kettle"
	d := newDesk(t, time.Millisecond)
	var log bytes.Buffer
	told := make(chan string, 100)
	editors := composer.New("epoch", composer.Options{
		Store:    d,
		Log:      hclog.New(&hclog.LoggerOptions{Output: &log, Level: hclog.Trace}),
		Debounce: time.Millisecond,
		NotSaved: func(n composer.NotSaved) { told <- n.Err.Error() },
	})
	rec := d.draft("")
	d.mu.Lock()
	d.fail = shared.Errorf(shared.DraftLimitReached, "too many conflict copies")
	d.mu.Unlock()
	o, err := editors.Open(t.Context(), composer.Opening{DraftID: rec.ID, EditorID: "e"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := editors.Edit(composer.Input{DraftID: rec.ID, EditorID: "e", Epoch: "epoch", Generation: o.Generation, Seq: 1, Text: secret}); err != nil {
		t.Fatal(err)
	}
	message := <-told
	state := editors.SaveStates()[rec.ID].Message
	if err = editors.Stop(t.Context()); err == nil {
		t.Error("the end says nothing of what was not saved")
	}
	for _, said := range []string{message, state, log.String(), fmt.Sprint(err)} {
		if strings.Contains(said, "kettle") {
			t.Errorf("it is said: %q", said)
		}
	}
}

// Invariant 6: a text that lost and is a conflict copy does not come back over the
// record, though the page knows the record's revision from another tab of its browser.
func TestALosingTextDoesNotComeBackByAReload(t *testing.T) {
	d := newDesk(t, time.Millisecond)
	rec := d.draft("base")
	mine, theirs := d.open(rec.ID, "mine"), d.open(rec.ID, "theirs")
	theirs.types("base and theirs")
	d.flush("")
	mine.types("base and mine")
	d.flush("")
	text := "base and mine"
	o, err := d.Open(t.Context(), composer.Opening{DraftID: rec.ID, EditorID: "reloaded", HostText: &text,
		BaseDraftID: rec.ID, BaseTextRevision: 2, BaseHash: shared.TextHash("base and theirs"), BaseEditorID: "theirs"})
	if err != nil {
		t.Fatal(err)
	}
	d.flush("")
	got, err := d.store.Get(rec.ID)
	if err != nil || o.KeepHost || got.Text != "base and theirs" || len(got.Conflicts) != 1 || o.ConflictID != got.Conflicts[0].ID {
		t.Errorf("opened %+v, record %+v, %v", o, got, err)
	}
}
