package drafts

import (
	"bytes"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// Invariant 6: a text is its editor's only as long as it is that editor's words.
// Whoever replaces it otherwise is a stranger to the page, which must not take
// the new text for a save of its own.
func TestTextThatNoEditorWroteIsNobodys(t *testing.T) {
	for name, replace := range map[string]func(s *Store, r shared.DraftRecord) error{
		"by the command": func(s *Store, r shared.DraftRecord) error {
			_, err := s.Update(t.Context(), r.ID, r.Revision, Patch{Text: pointer("replaced")})
			return err
		},
		"by a modification": func(s *Store, r shared.DraftRecord) error {
			_, err := s.Modify(t.Context(), r.ID, func(d *shared.DraftRecord) error {
				d.Text = "replaced"
				return nil
			})
			return err
		},
		"by an edit without an editor": func(s *Store, r shared.DraftRecord) error {
			_, err := s.EditText(t.Context(), Edit{DraftID: r.ID, BaseTextRevision: r.TextRevision, Text: "replaced"})
			return err
		},
	} {
		s := newStore(t)
		record := create(t, s, CreateParams{Text: "base"})
		if _, err := s.EditText(t.Context(), Edit{DraftID: record.ID, EditorID: "e", BaseTextRevision: 1, Text: "typed"}); err != nil {
			t.Fatal(err)
		}
		record = get(t, s, record.ID)
		if record.TextEditorID != "e" {
			t.Fatalf("typed: %+v", record)
		}
		if err := s.Reorder(t.Context(), "w", []string{record.ID}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Modify(t.Context(), record.ID, func(d *shared.DraftRecord) error { d.Title = "T"; return nil }); err != nil {
			t.Fatal(err)
		}
		if record = get(t, s, record.ID); record.TextEditorID != "e" {
			t.Errorf("another title is another's text: %+v", record)
		}
		if err := replace(s, record); err != nil {
			t.Fatal(err)
		}
		if record = get(t, s, record.ID); record.Text != "replaced" || record.TextEditorID != "" {
			t.Errorf("replaced %s: %+v", name, record)
		}
	}
}

// sink collects what is logged.
type sink struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *sink) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

// Invariant 11: neither the log nor a refusal tells what is in a draft.
func TestLogAndErrorsHoldNoText(t *testing.T) {
	const secret = "zebra kettle"
	var log sink
	path := draftFile(t)
	s := openStore(t, Options{Path: path, Log: hclog.New(&hclog.LoggerOptions{Output: &log, Level: hclog.Trace})})
	record := create(t, s, CreateParams{Text: secret, Title: secret})
	long := secret + strings.Repeat("x", shared.MaxTextBytes)
	var refusals []error
	for _, edit := range []Edit{
		{DraftID: record.ID, BaseTextRevision: 1, Text: long},
		{DraftID: record.ID, BaseTextRevision: -1, Text: long},
		{DraftID: record.ID, BaseTextRevision: 1, Text: secret + "\xff"},
		{DraftID: "unknown", BaseTextRevision: 1, Text: secret},
	} {
		_, err := s.EditText(t.Context(), edit)
		refusals = append(refusals, err)
	}
	_, err := s.Update(t.Context(), record.ID, 99, Patch{Text: pointer(secret)})
	refusals = append(refusals, err)
	_, err = s.Update(t.Context(), record.ID, record.Revision, Patch{Title: pointer(long)})
	refusals = append(refusals, err)
	writeFile(t, path, strings.Replace(readFile(t, path), `"drafts"`, `"zebra kettle"`, 1))
	refusals = append(refusals, s.Refresh(t.Context()))
	for i, err := range refusals {
		if err == nil || strings.Contains(err.Error(), "kettle") || strings.Contains(err.Error(), "xxx") {
			t.Errorf("refusal %d: %.100v", i, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if log.text.Len() == 0 || strings.Contains(log.text.String(), "kettle") {
		t.Errorf("the log is %q", log.text.String())
	}
}
