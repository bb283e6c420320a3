package drafts

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

func TestOpenRefusesBadOptions(t *testing.T) {
	for _, o := range []Options{{}, {Path: draftFile(t), LimitPerWorkspace: shared.MinDraftsPerWorkspace - 1}, {Path: draftFile(t), LimitPerWorkspace: -1}} {
		_, err := Open(t.Context(), o)
		wantCode(t, err, shared.DraftInvalidInput)
	}
}

func TestCreate(t *testing.T) {
	c := newClock()
	s := openStore(t, Options{Path: draftFile(t), Now: c.now})
	full := create(t, s, CreateParams{ID: "own", WorkspacePath: "/p", Text: "one", Title: "T", AgentPresetID: "code", ReservedSessionID: "s1",
		Settings: &shared.Settings{Model: "m"}, Content: &shared.Content{}})
	if full.ID != "own" || full.State != shared.StateMaterializing || full.ReservedSessionID != "s1" || full.SessionID != nil || full.Revision != 1 ||
		full.TextRevision != 1 || full.CreatedAt != 1_000_000 || full.Title != "T" || full.AgentPresetID != "code" || full.Settings.Model != "m" ||
		full.Content != nil || full.WorkspacePath != "/p" {
		t.Errorf("created %+v", full)
	}
	second := create(t, s, CreateParams{Text: "two"})
	if second.State != shared.StateDraft || second.Order != 0 || len(second.ID) != 36 || second.ID[14] != '7' {
		t.Errorf("created %+v", second)
	}
	create(t, s, CreateParams{Text: "other", WorkspaceID: "v"})
	if got := texts(s, "w"); got != "two one" {
		t.Errorf("order %q", got)
	}
	generation := s.State().Generation
	if again := create(t, s, CreateParams{ID: "own", Text: "different"}); again.Text != "one" || s.State().Generation != generation {
		t.Errorf("created again as %+v at generation %d", again, s.State().Generation)
	}
}

func TestCreateRefuses(t *testing.T) {
	s := newStore(t)
	create(t, s, CreateParams{ReservedSessionID: "s1"})
	bind(t, s, create(t, s, CreateParams{}).ID, "s2")
	sent, deleted := create(t, s, CreateParams{Text: "a"}), create(t, s, CreateParams{Text: "b"})
	if _, err := s.Convert(t.Context(), sent.ID, shared.Receipt{SubmissionID: "p"}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Delete(t.Context(), deleted.ID, 0); err != nil {
		t.Fatal(err)
	}
	before := s.State().Generation
	for name, test := range map[string]struct {
		p    CreateParams
		code shared.Code
	}{
		"no workspace":                {CreateParams{WorkspaceID: ""}, shared.DraftInvalidInput},
		"invalid Unicode":             {CreateParams{WorkspaceID: "w", Text: "\xff"}, shared.DraftInvalidInput},
		"a text too long":             {CreateParams{WorkspaceID: "w", Text: strings.Repeat("x", shared.MaxTextBytes+1)}, shared.DraftInvalidInput},
		"a reserved session reserved": {CreateParams{WorkspaceID: "v", ReservedSessionID: "s1"}, shared.OperationConflict},
		"a bound session reserved":    {CreateParams{WorkspaceID: "v", ReservedSessionID: "s2"}, shared.OperationConflict},
		"an id that was sent":         {CreateParams{WorkspaceID: "w", ID: sent.ID}, shared.DraftInvalidInput},
		"an id that was deleted":      {CreateParams{WorkspaceID: "w", ID: deleted.ID}, shared.DraftInvalidInput},
	} {
		if _, err := s.Create(t.Context(), test.p); shared.CodeOf(err) != test.code {
			t.Errorf("%s: %v", name, err)
		}
	}
	if s.State().Generation != before {
		t.Errorf("a refusal wrote generation %d", s.State().Generation)
	}
}

func TestLimitPerWorkspace(t *testing.T) {
	s := openStore(t, Options{Path: draftFile(t), LimitPerWorkspace: shared.MinDraftsPerWorkspace})
	var last shared.DraftRecord
	for i := range shared.MinDraftsPerWorkspace {
		last = create(t, s, CreateParams{Text: fmt.Sprint(i)})
	}
	_, err := s.Create(t.Context(), CreateParams{WorkspaceID: "w"})
	wantCode(t, err, shared.DraftLimitReached)
	_, err = s.Duplicate(t.Context(), last.ID)
	wantCode(t, err, shared.DraftLimitReached)
	create(t, s, CreateParams{WorkspaceID: "v"})

	// A text that would be lost otherwise goes beyond the limit.
	if _, err := s.Delete(t.Context(), last.ID, 0); err != nil {
		t.Fatal(err)
	}
	create(t, s, CreateParams{Text: "full again"})
	if out, err := s.EditText(t.Context(), Edit{DraftID: last.ID, Text: "late"}); err != nil || !out.NewDraft {
		t.Errorf("a late edit: %+v, %v", out, err)
	}
	_, err = s.Restore(t.Context(), last.ID)
	wantCode(t, err, shared.DraftLimitReached)
}

// Invariant 6: a stale revision changes nothing.
func TestUpdate(t *testing.T) {
	c := newClock()
	s := openStore(t, Options{Path: draftFile(t), Now: c.now})
	first := create(t, s, CreateParams{Text: "first"})
	content := &shared.Content{Occurrences: []shared.Occurrence{
		{Source: "reference", Ref: "@a", Offset: 0, Length: 2, ClipboardText: "@a"}, {Source: "reference", Ref: "@b", Offset: 3, Length: 2, ClipboardText: "@b"}}}
	record := create(t, s, CreateParams{Text: "@a @b", Content: content})
	c.advance(time.Second)
	for _, test := range []struct {
		name         string
		patch        Patch
		text         bool // the text revision rises
		write        bool
		check        func(shared.DraftRecord) bool
		orderedFirst string
	}{
		{"nothing", Patch{}, false, false, func(r shared.DraftRecord) bool { return r.Text == "@a @b" }, ""},
		{"the same text", Patch{Text: pointer("@a @b")}, false, false, func(r shared.DraftRecord) bool { return len(r.Content.Occurrences) == 2 }, ""},
		{"a text that moves one occurrence", Patch{Text: pointer("@a, @b")}, true, true, func(r shared.DraftRecord) bool {
			return len(r.Content.Occurrences) == 1 && r.Content.Occurrences[0].Ref == "@a"
		}, ""},
		{"content alone", Patch{Content: pointer[*shared.Content](nil)}, true, true, func(r shared.DraftRecord) bool { return r.Content == nil }, ""},
		{"a title", Patch{Title: pointer("T"), AgentPresetID: pointer("code")}, false, true, func(r shared.DraftRecord) bool { return r.Title == "T" && r.AgentPresetID == "code" }, ""},
		{"no title", Patch{Title: pointer(""), AgentPresetID: pointer("")}, false, true, func(r shared.DraftRecord) bool { return r.Title == "" && r.AgentPresetID == "" }, ""},
		{"settings", Patch{Settings: pointer(&shared.Settings{Model: "m"})}, false, true, func(r shared.DraftRecord) bool { return r.Settings.Model == "m" }, ""},
		{"the same settings", Patch{Settings: pointer(&shared.Settings{Model: "m"})}, false, false, func(r shared.DraftRecord) bool { return r.Settings.Model == "m" }, ""},
		{"no settings", Patch{Settings: pointer[*shared.Settings](nil)}, false, true, func(r shared.DraftRecord) bool { return r.Settings == nil }, ""},
	} {
		generation := s.State().Generation
		next, err := s.Update(t.Context(), record.ID, record.Revision, test.patch)
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		if (next.TextRevision == record.TextRevision+1) != test.text || (next.Revision == record.Revision+1) != test.write ||
			(s.State().Generation == generation+1) != test.write || !test.check(next) {
			t.Errorf("%s: from %+v to %+v", test.name, record, next)
		}
		if test.write {
			_, err := s.Update(t.Context(), record.ID, record.Revision, Patch{Text: pointer("stale")})
			wantCode(t, err, shared.DraftStaleRevision)
		}
		record = next
	}
	if record.UpdatedAt != c.now().UnixMilli() || record.CreatedAt == record.UpdatedAt {
		t.Errorf("times of %+v", record)
	}
	if _, err := s.Update(t.Context(), first.ID, get(t, s, first.ID).Revision, Patch{Pinned: pointer(true)}); err != nil {
		t.Fatal(err)
	}
	if got := texts(s, "w"); !strings.HasPrefix(got, "first") {
		t.Errorf("pinned, the order is %q", got)
	}
	_, err := s.Update(t.Context(), "nobody", 1, Patch{})
	wantCode(t, err, shared.DraftNotFound)
	_, err = s.Update(t.Context(), record.ID, record.Revision, Patch{Content: pointer(&shared.Content{Occurrences: []shared.Occurrence{{Offset: 99}}})})
	wantCode(t, err, shared.DraftInvalidInput)
	if got := get(t, s, record.ID); got.Revision != record.Revision {
		t.Errorf("a refused update left %+v", got)
	}
}

func TestModify(t *testing.T) {
	s := newStore(t)
	record := create(t, s, CreateParams{Text: "text", Settings: &shared.Settings{Model: "m"}})
	other := create(t, s, CreateParams{Text: "other", ReservedSessionID: "taken"})
	record = get(t, s, record.ID)
	modify := func(fn func(*shared.DraftRecord) error) (shared.DraftRecord, error) {
		return s.Modify(t.Context(), record.ID, fn)
	}

	bound, err := modify(func(r *shared.DraftRecord) error {
		r.SessionID, r.State = pointer("s"), shared.StateConverting
		r.Operation = &shared.Operation{Kind: "prompt", ID: "p", SessionID: "s", StartedAt: 1, TextHash: "h"}
		r.ID, r.CreatedAt, r.Revision, r.TextRevision, r.Version = "x", 0, 99, 99, 9 // Not the caller's to change.
		r.Settings.Model = "n"
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if bound.ID != record.ID || bound.CreatedAt != record.CreatedAt || bound.Revision != record.Revision+1 || bound.TextRevision != 1 ||
		bound.Version != 2 || *bound.SessionID != "s" || bound.Settings.Model != "n" {
		t.Errorf("modified to %+v", bound)
	}
	if record.Settings.Model != "m" {
		t.Error("the copy shares memory with the snapshot")
	}

	for name, fn := range map[string]func(*shared.DraftRecord) error{
		"ErrNoChange":         func(r *shared.DraftRecord) error { r.Text = "dropped"; return ErrNoChange },
		"wrapped ErrNoChange": func(r *shared.DraftRecord) error { return fmt.Errorf("as it is: %w", ErrNoChange) },
		"nothing done":        func(*shared.DraftRecord) error { return nil },
	} {
		generation := s.State().Generation
		if same, err := modify(fn); err != nil || same.Revision != bound.Revision || same.Text != "text" || s.State().Generation != generation {
			t.Errorf("%s: %+v, %v", name, same, err)
		}
	}
	own := errors.New("own")
	if _, err := modify(func(r *shared.DraftRecord) error { r.Text = "lost"; return own }); !errors.Is(err, own) {
		t.Errorf("got %v", err)
	}
	_, err = modify(func(r *shared.DraftRecord) error { r.SessionID = pointer("taken"); return nil })
	wantCode(t, err, shared.OperationConflict)
	_, err = modify(func(r *shared.DraftRecord) error { r.State = "nonsense"; return nil })
	wantCode(t, err, shared.DraftInvalidInput)
	_, err = s.Modify(t.Context(), "nobody", func(*shared.DraftRecord) error { return nil })
	wantCode(t, err, shared.DraftNotFound)

	edited, err := modify(func(r *shared.DraftRecord) error { r.Text = "new"; return nil })
	if err != nil || edited.TextRevision != 2 || edited.Revision != bound.Revision+1 {
		t.Errorf("edited to %+v, %v", edited, err)
	}
	create(t, s, CreateParams{WorkspaceID: "v", Text: "there"})
	if _, err := modify(func(r *shared.DraftRecord) error { r.WorkspaceID = "v"; return nil }); err != nil {
		t.Fatal(err)
	}
	if texts(s, "v") != "new there" || texts(s, "w") != other.Text {
		t.Errorf("moved: %q and %q", texts(s, "v"), texts(s, "w"))
	}
}

func TestDuplicate(t *testing.T) {
	s := newStore(t)
	create(t, s, CreateParams{Text: "last"})
	original := create(t, s, CreateParams{Text: "@a", Title: "T", AgentPresetID: "code", Settings: &shared.Settings{Model: "m"},
		Content: &shared.Content{Occurrences: []shared.Occurrence{{Length: 2, ClipboardText: "@a"}}}})
	create(t, s, CreateParams{Text: "first"})
	bind(t, s, original.ID, "s")
	if _, err := s.EditText(t.Context(), Edit{DraftID: original.ID, BaseTextRevision: 9, Text: "lost"}); err != nil {
		t.Fatal(err)
	}
	duplicate, err := s.Duplicate(t.Context(), original.ID)
	if err != nil {
		t.Fatal(err)
	}
	if duplicate.ID == original.ID || duplicate.SessionID != nil || duplicate.State != shared.StateDraft || duplicate.Conflicts != nil || duplicate.Revision != 1 ||
		duplicate.Title != "T" || duplicate.AgentPresetID != "code" || duplicate.Settings.Model != "m" || len(duplicate.Content.Occurrences) != 1 {
		t.Errorf("duplicated as %+v", duplicate)
	}
	if got := texts(s, "w"); got != "first @a @a last" || InOrder(s.Snapshot(), "w")[2].ID != duplicate.ID {
		t.Errorf("order %q", got)
	}
	_, err = s.Duplicate(t.Context(), "nobody")
	wantCode(t, err, shared.DraftNotFound)
}

func TestReorder(t *testing.T) {
	s := newStore(t)
	ids := map[string]string{}
	for _, text := range []string{"d", "c", "b", "a"} {
		ids[text] = create(t, s, CreateParams{Text: text}).ID
	}
	elsewhere := create(t, s, CreateParams{WorkspaceID: "v", Text: "v"})
	order := func(texts ...string) []string {
		var list []string
		for _, text := range texts {
			list = append(list, ids[text])
		}
		return list
	}
	before := get(t, s, ids["a"])
	for _, test := range []struct {
		ids  []string
		want string
	}{
		{nil, "a b c d"},
		{order("d", "b"), "d b a c"},
		{order("c"), "c d b a"},
		{order("a", "b", "c", "d"), "a b c d"},
		{order("a"), "a b c d"},
	} {
		if err := s.Reorder(t.Context(), "w", test.ids); err != nil {
			t.Fatal(err)
		}
		if got := texts(s, "w"); got != test.want {
			t.Errorf("order %q, want %q", got, test.want)
		}
		for i, record := range InOrder(s.Snapshot(), "w") {
			if record.Order != int64(i) {
				t.Errorf("%s stands at %d, want %d", record.Text, record.Order, i)
			}
		}
	}
	after := get(t, s, ids["a"])
	if after.Revision <= before.Revision || after.TextRevision != before.TextRevision || after.UpdatedAt != before.UpdatedAt {
		t.Errorf("reordering made %+v of %+v", after, before)
	}
	generation := s.State().Generation
	wantCode(t, s.Reorder(t.Context(), "w", order("b", "a", "b")), shared.DraftInvalidInput)
	wantCode(t, s.Reorder(t.Context(), "w", []string{elsewhere.ID}), shared.DraftNotFound)
	wantCode(t, s.Reorder(t.Context(), "w", []string{"nobody"}), shared.DraftNotFound)
	if err := s.Reorder(t.Context(), "w", order("a")); err != nil || s.State().Generation != generation {
		t.Errorf("an order that is right already: %v at generation %d", err, s.State().Generation)
	}

	// Pinned ones are shown first whatever their number.
	if _, err := s.Update(t.Context(), ids["d"], get(t, s, ids["d"]).Revision, Patch{Pinned: pointer(true)}); err != nil {
		t.Fatal(err)
	}
	if err := s.Reorder(t.Context(), "w", order("c", "a")); err != nil {
		t.Fatal(err)
	}
	if got := texts(s, "w"); got != "d c a b" {
		t.Errorf("order %q", got)
	}
	create(t, s, CreateParams{Text: "new"})
	if got := texts(s, "w"); got != "d new c a b" {
		t.Errorf("order %q", got)
	}
}

func TestChangesEndWithTheirContext(t *testing.T) {
	s := newStore(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Create(ctx, CreateParams{WorkspaceID: "w"})
	wantCode(t, err, shared.StorageBusy)
	if len(s.Snapshot().Drafts) != 0 {
		t.Error("a draft was made for nobody")
	}
}
