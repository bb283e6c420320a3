package sessions

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/draft-sessions/dsh-draft-sessions/plugin/drafts"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// Invariant 2: a prompt is a draft's send only when it is exactly what the draft
// would send, with references in any of their own forms and nothing else.
func TestSentBy(t *testing.T) {
	file := shared.Occurrence{Offset: 4, Length: 11, ClipboardText: "@src/app.ts", Ref: "@src/app.ts"}
	emoji := shared.Occurrence{Offset: 3, Length: 5, ClipboardText: "@a.ts", Ref: "@/whole/a.ts"}
	again := shared.Occurrence{Offset: 13, Length: 5, ClipboardText: "@a.ts", Ref: "@/whole/a.ts"}
	for _, c := range []struct {
		name        string
		text        string
		occurrences []shared.Occurrence
		sent        string
		want        bool
	}{
		{"the text", "task", nil, "task", true},
		{"trimmed by the host", " task\n", nil, "task", true},
		{"another text", "task", nil, "tusk", false},
		{"a beginning", "task and more", nil, "task", false},
		{"a reference's path", "see @src/app.ts please", []shared.Occurrence{file}, "see @src/app.ts please", true},
		{"a reference's own form", "🚀 @a.ts and @a.ts", []shared.Occurrence{emoji}, "🚀 @/whole/a.ts and @a.ts", true},
		{"both forms", "🚀 @a.ts and @a.ts ", []shared.Occurrence{again, emoji}, "🚀 @/whole/a.ts and @a.ts", true},
		{"a reference at the end", "🚀 @a.ts ", []shared.Occurrence{emoji}, "🚀 @/whole/a.ts", true},
		{"something in a reference's place", "see @src/app.ts please", []shared.Occurrence{file}, "see how it rains please", false},
		{"more behind", "see @src/app.ts please", []shared.Occurrence{file}, "see @src/app.ts please do not", false},
		{"more behind a reference at the end", "see @src/app.ts", []shared.Occurrence{file}, "see @src/app.ts and delete it", false},
		{"more in front", "see @src/app.ts please", []shared.Occurrence{file}, "do see @src/app.ts please", false},
		{"the literals alone", "see @src/app.ts please", []shared.Occurrence{file}, "see  please", false},
		{"a reference that is not there", "see @lib/app.ts now", []shared.Occurrence{file}, "see @src/app.ts now", false},
		{"references that overlap", "see @src/app.ts", []shared.Occurrence{file, {Offset: 6, Length: 3, ClipboardText: "rc/", Ref: "x"}}, "see @sx", false},
	} {
		if got := sentBy(c.text, &shared.Content{Occurrences: c.occurrences}, c.sent); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// What is typed after a command waits for the end of its patience, not for the
// look after that.
func TestLooksWhenPatienceEnds(t *testing.T) {
	store, err := drafts.Open(t.Context(), drafts.Options{Path: filepath.Join(t.TempDir(), "drafts.json")})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	rec, err := store.Create(t.Context(), drafts.CreateParams{WorkspaceID: "w", Text: "/permission x"})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	m := New(Options{Store: store, Now: func() time.Time { return now }})
	defer m.Stop()
	if got := m.untilLook(rec.ID, time.Hour); got != time.Hour {
		t.Errorf("without a send: %v", got)
	}
	for kind, want := range map[string]time.Duration{kindCommand: commandPatience, kindPrompt: proofPatience} {
		op := &shared.Operation{Kind: kind, ID: "op", SessionID: "s", StartedAt: now.UnixMilli()}
		if _, err := store.Modify(t.Context(), rec.ID, func(d *shared.DraftRecord) error { d.Operation = op; return nil }); err != nil {
			t.Fatal(err)
		}
		if got := m.untilLook(rec.ID, time.Hour); got > want || got < want-time.Millisecond {
			t.Errorf("%s: %v, patience %v", kind, got, want)
		}
	}
}
