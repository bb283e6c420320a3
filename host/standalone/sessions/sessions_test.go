package sessions

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/fault"
)

// Invariant 13: creating an id again finds its session; in another folder it is a conflict.
func TestCreateIsIdempotent(t *testing.T) {
	r := newRig(t)
	first := r.create("s1")
	if !first.Blank || first.AgentPresetID != "test/default" || first.Model != "m" || first.Permission != "ask" || first.WorkspaceID != "w:/project" {
		t.Errorf("%+v", first)
	}
	var wait sync.WaitGroup
	for range 20 {
		wait.Go(func() {
			if again, err := r.Create(Creation{ID: "s1", Path: "/project", AgentPresetID: "test/other"}); err != nil || again.AgentPresetID != "test/default" {
				t.Errorf("%+v, %v", again, err)
			}
			if _, err := r.Create(Creation{ID: "s2", Path: "/project"}); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if _, err := r.Create(Creation{ID: "s1", Path: "/elsewhere"}); fault.CodeOf(err) != fault.SessionConflict {
		t.Errorf("%v", err)
	}
	r.restart()
	if again := r.create("s1"); again != first {
		t.Errorf("%+v became %+v", first, again)
	}
	for _, id := range []string{"s1", "s2"} {
		if got := r.types(id); !slices.Equal(got, []string{Created}) {
			t.Errorf("%s: %v", id, got)
		}
	}
}

// An id is part of a file's name: nothing but plain characters is one.
func TestIDsNameNoOtherFile(t *testing.T) {
	r := newRig(t)
	for _, id := range []string{"../x", "a/b", "a.b", ".", "..", "a\x00", "a\\b", "ü", strings.Repeat("x", 129)} {
		if _, err := r.Create(Creation{ID: id, Path: "/project"}); fault.CodeOf(err) != fault.BadRequest {
			t.Errorf("%q: %v", id, err)
		}
		if _, err := r.Get(id); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("%q: %v", id, err)
		}
		if _, err := r.Events(id, 0); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("%q: %v", id, err)
		}
	}
	if entries, err := os.ReadDir(r.folder); err != nil || len(entries) != 0 {
		t.Errorf("%v, %v", entries, err)
	}
}

// A log that was made but never written is no session, and can become one.
func TestCreationThatWasNeverAcknowledged(t *testing.T) {
	r := newRig(t)
	r.Close()
	for id, content := range map[string]string{"empty": "", "torn": `{"sum":"0000`} {
		if err := os.WriteFile(r.file(id), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r.open()
	for _, id := range []string{"empty", "torn"} {
		if _, err := r.Get(id); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("%s: %v", id, err)
		}
		if _, _, err := r.Proofs(id); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("%s: %v", id, err)
		}
		r.create(id)
	}
}

func TestLifeOfASession(t *testing.T) {
	r := newRig(t)
	r.create("s1")
	text := func(s string) *string { return &s }
	s, err := r.Update(context.Background(), "s1", Patch{Title: text(" mine "), AgentPresetID: text("test/other"), Permission: text("allow"), Model: text("n")})
	if err != nil || s.Title != "mine" || s.AgentPresetID != "test/other" || s.Permission != "allow" || s.Model != "n" {
		t.Fatalf("%+v, %v", s, err)
	}
	if got := r.plugin.told(); !slices.Equal(got, []string{"s1 allow test/other"}) {
		t.Errorf("the plugin was told %v", got)
	}
	length := len(r.types("s1"))
	if _, err := r.Update(context.Background(), "s1", Patch{Title: text("mine"), Permission: text("allow")}); err != nil || len(r.types("s1")) != length {
		t.Errorf("no change was written: %v", err)
	}
	for name, p := range map[string]Patch{"permission": {Permission: text("none")}, "preset": {AgentPresetID: text("test/none")}, "title": {Title: text("two\nlines")}} {
		if _, err := r.Update(context.Background(), "s1", p); fault.CodeOf(err) != fault.BadRequest {
			t.Errorf("%s: %v", name, err)
		}
	}
	if s, err := r.Archive("s1"); err != nil || !s.Archived {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := r.Prompt(context.Background(), "s1", "p", "x"); fault.CodeOf(err) != fault.SessionConflict {
		t.Errorf("%v", err)
	}
	r.restart()
	if s, err := r.Restore("s1"); err != nil || s.Archived || s.Title != "mine" || s.Model != "n" {
		t.Errorf("%+v, %v", s, err)
	}
	if s, err := r.Trash("s1"); err != nil || s.TrashedAt == 0 {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := r.Create(Creation{ID: "s1", Path: "/project"}); fault.CodeOf(err) != fault.SessionConflict {
		t.Errorf("%v", err)
	}
	if s, err := r.Untrash("s1"); err != nil || s.TrashedAt != 0 {
		t.Errorf("%+v, %v", s, err)
	}
	r.until("the agent forgetting it", func() bool {
		r.agent.mu.Lock()
		defer r.agent.mu.Unlock()
		return len(r.agent.forgotten) == 2
	})
}

// The trash keeps a session for 30 days, not longer and not shorter.
func TestTrashEnds(t *testing.T) {
	r := newRig(t)
	r.create("s1")
	r.create("s2")
	if _, err := r.Trash("s1"); err != nil {
		t.Fatal(err)
	}
	r.now = func() time.Time { return time.Now().Add(TrashAge - time.Hour) }
	r.restart()
	if _, err := r.Get("s1"); err != nil {
		t.Fatalf("gone too early: %v", err)
	}
	r.now = func() time.Time { return time.Now().Add(TrashAge + time.Hour) }
	r.restart()
	if _, err := r.Get("s1"); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(r.file("s1")); !os.IsNotExist(err) {
		t.Errorf("its file is still there: %v", err)
	}
	if !slices.Equal(r.watcher.removed, []string{"s1"}) {
		t.Errorf("%v", r.watcher.removed)
	}
	r.create("s1") // the id is free again
	if _, err := r.Get("s2"); err != nil {
		t.Errorf("another session went too: %v", err)
	}
}

// Invariant 7: a log that is damaged in the middle is shown as such, read up to
// there, never written, and the plugin learns that it proves nothing.
func TestDamagedLog(t *testing.T) {
	r := newRig(t)
	r.create("s1")
	r.prompt("s1", "p1", "hello")
	r.await("p1", "completed")
	r.Close()
	data := r.bytes("s1")
	bad := bytes.Replace(data, []byte(`"hello"`), []byte(`"hullo"`), 1)
	if bytes.Equal(bad, data) {
		t.Fatal("nothing was damaged")
	}
	if err := os.WriteFile(r.file("s1"), bad, 0o600); err != nil {
		t.Fatal(err)
	}
	r.open()
	s, err := r.Get("s1")
	if err != nil || s.Damaged == "" || strings.Contains(s.Damaged, "hullo") {
		t.Errorf("%+v, %v", s, err)
	}
	if got := r.types("s1"); !slices.Equal(got, []string{Created, PromptReceived}) {
		t.Errorf("%v", got)
	}
	if _, _, err := r.Proofs("s1"); fault.CodeOf(err) != fault.LogCorrupt {
		t.Errorf("%v", err)
	}
	if _, err := r.Prompt(context.Background(), "s1", "p2", "x"); fault.CodeOf(err) != fault.LogCorrupt {
		t.Errorf("%v", err)
	}
	if _, err := r.Trash("s1"); fault.CodeOf(err) != fault.LogCorrupt {
		t.Errorf("%v", err)
	}
	if !bytes.Equal(r.bytes("s1"), bad) {
		t.Error("the damaged file was written")
	}
}

// A log that lies under another session's name is not that session's.
func TestMisplacedLog(t *testing.T) {
	r := newRig(t)
	r.create("s1")
	r.Close()
	if err := os.WriteFile(r.file("s2"), r.bytes("s1"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.open()
	if s, err := r.Get("s2"); err != nil || s.Damaged == "" {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestList(t *testing.T) {
	r := newRig(t)
	clock := time.UnixMilli(1_000_000)
	r.now = func() time.Time { return clock }
	r.restart()
	for i := range 7 {
		clock = clock.Add(time.Second)
		if _, err := r.Create(Creation{ID: fmt.Sprint("s", i), Path: fmt.Sprint("/p", i%2), Title: fmt.Sprint("Title ", i)}); err != nil {
			t.Fatal(err)
		}
	}
	for id, move := range map[string]func(string) (Summary, error){"s1": r.Archive, "s2": r.Trash} {
		if _, err := move(id); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		q     Query
		want  string
		total int
	}{
		{Query{}, "s6 s5 s4 s3 s0", 5},
		{Query{Path: "/p1"}, "s5 s3", 2},
		{Query{State: "archived"}, "s1", 1},
		{Query{State: "trash"}, "s2", 1},
		{Query{Words: "TITLE 3"}, "s3", 1},
		{Query{Words: "title none"}, "", 0},
		{Query{Without: map[string]bool{"s6": true}}, "s5 s4 s3 s0", 4},
		{Query{Limit: 2}, "s6 s5", 5},
	} {
		page, _, total, err := r.List(test.q)
		if got := ids(page); err != nil || got != test.want || total != test.total {
			t.Errorf("%+v: %q of %d, %v; want %q of %d", test.q, got, total, err, test.want, test.total)
		}
	}
	var all []string
	for cursor := ""; ; {
		page, next, _, err := r.List(Query{Limit: 2, Before: cursor})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, ids(page))
		if cursor = next; cursor == "" {
			break
		}
	}
	if got := strings.Join(all, "|"); got != "s6 s5|s4 s3|s0" {
		t.Errorf("%q", got)
	}
	if _, _, _, err := r.List(Query{Before: "x"}); fault.CodeOf(err) != fault.BadRequest {
		t.Errorf("%v", err)
	}
}

func ids(page []Summary) string {
	var out []string
	for _, s := range page {
		out = append(out, s.ID)
	}
	return strings.Join(out, " ")
}

func TestTitleFromTheFirstMessage(t *testing.T) {
	r := newRig(t)
	r.create("s1")
	r.prompt("s1", "p1", "\n  "+strings.Repeat("ä", 200)+"\nmore")
	r.await("p1", "completed")
	s, err := r.Get("s1")
	if err != nil || s.Title != strings.Repeat("ä", 119)+"…" || s.TitleSource != "first message" || s.Blank {
		t.Errorf("%+v, %v", s, err)
	}
	given, none := "given", ""
	if s, err = r.Update(context.Background(), "s1", Patch{Title: &given}); err != nil || s.Title != "given" || s.TitleSource != "given" {
		t.Errorf("%+v, %v", s, err)
	}
	if s, err = r.Update(context.Background(), "s1", Patch{Title: &none}); err != nil || s.TitleSource != "first message" {
		t.Errorf("%+v, %v", s, err)
	}
}
