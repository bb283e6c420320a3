package drafts

import (
	"fmt"
	"strings"
	"testing"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

func TestRebind(t *testing.T) {
	s := newStore(t)
	record := create(t, s, CreateParams{Text: "text", ReservedSessionID: "s1"})
	other := create(t, s, CreateParams{Text: "other", ReservedSessionID: "s9"})
	rebind := func(id string, session *string) (shared.DraftRecord, error) {
		return s.Rebind(t.Context(), id, get(t, s, id).Revision, session)
	}
	if _, err := s.Modify(t.Context(), record.ID, func(r *shared.DraftRecord) error {
		r.State, r.LastError = shared.StateError, "refused"
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	bound, err := rebind(record.ID, pointer("s1"))
	if err != nil || *bound.SessionID != "s1" || bound.ReservedSessionID != "" || bound.State != shared.StateReady || bound.LastError != "" ||
		bound.TextRevision != 1 || bound.Text != "text" {
		t.Errorf("bound %+v, %v", bound, err)
	}
	if same, err := rebind(record.ID, pointer("s1")); err != nil || same.Revision != bound.Revision {
		t.Errorf("bound again as %+v, %v", same, err)
	}
	_, err = s.Rebind(t.Context(), record.ID, bound.Revision-1, pointer("s2"))
	wantCode(t, err, shared.DraftStaleRevision)
	_, err = s.Rebind(t.Context(), record.ID, 0, pointer("s2"))
	wantCode(t, err, shared.DraftStaleRevision)
	_, err = rebind(record.ID, pointer(""))
	wantCode(t, err, shared.DraftInvalidInput)
	_, err = s.Rebind(t.Context(), "nobody", 1, nil)
	wantCode(t, err, shared.DraftNotFound)
	// Invariant 4: neither a reserved nor a bound session of another draft.
	_, err = rebind(record.ID, pointer("s9"))
	wantCode(t, err, shared.OperationConflict)
	_, err = rebind(other.ID, pointer("s1"))
	wantCode(t, err, shared.OperationConflict)

	if _, err := s.Modify(t.Context(), record.ID, func(r *shared.DraftRecord) error {
		r.State, r.Operation = shared.StateConverting, &shared.Operation{Kind: "prompt", ID: "p", SessionID: "s1"}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for _, session := range []*string{nil, pointer("s2")} {
		_, err := rebind(record.ID, session)
		wantCode(t, err, shared.OperationConflict)
	}
	if _, err := s.Modify(t.Context(), record.ID, func(r *shared.DraftRecord) error {
		r.State, r.Operation = shared.StateReady, nil
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if free, err := rebind(record.ID, nil); err != nil || free.SessionID != nil || free.State != shared.StateDraft {
		t.Errorf("unbound %+v, %v", free, err)
	}
	if _, err := rebind(other.ID, pointer("s1")); err != nil {
		t.Errorf("the session is free, but %v", err)
	}
}

// Invariant 2: only what was sent is given up.
func TestConvert(t *testing.T) {
	for _, test := range []struct {
		name, text string
		conflicts  []string
		want       string
	}{
		{"unchanged", "sent", nil, ""},
		{"unchanged but for spaces", " sent\n", nil, ""},
		{"emptied by the host", "", nil, ""},
		{"blank", " \n", nil, ""},
		{"typed on", "sent and more", nil, "sent and more"},
		{"with copies", "sent", []string{"one", "two"}, "one two"},
		{"typed on, with copies", "more", []string{"one", "two"}, "more one two"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newStore(t)
			create(t, s, CreateParams{Text: "last"})
			record := create(t, s, CreateParams{Text: test.text, Title: "T", WorkspacePath: "/p", Settings: &shared.Settings{Model: "m"}})
			bind(t, s, record.ID, "s")
			for _, text := range test.conflicts {
				if _, err := s.EditText(t.Context(), Edit{DraftID: record.ID, BaseTextRevision: 9, Text: text}); err != nil {
					t.Fatal(err)
				}
			}
			generation := s.State().Generation
			receipt := shared.Receipt{SubmissionID: "p", TextHash: shared.TextHash("sent"), At: 5}
			kept, err := s.Convert(t.Context(), record.ID, receipt)
			if err != nil {
				t.Fatal(err)
			}
			var list []string
			for _, k := range kept {
				list = append(list, k.Text)
				if k.SessionID != nil || k.State != shared.StateDraft || k.WorkspacePath != "/p" || k.Settings.Model != "m" || k.Revision != 1 ||
					k.Order != get(t, s, k.ID).Order || (k.Title == "T") != (k.Text == test.text) {
					t.Errorf("kept %+v", k)
				}
			}
			if got := strings.Join(list, " "); got != test.want || texts(s, "w") != strings.TrimSpace(test.want+" last") {
				t.Errorf("kept %q of %q", got, texts(s, "w"))
			}
			if s.State().Generation != generation+1 {
				t.Errorf("in %d commits", s.State().Generation-generation)
			}
			want := shared.Receipt{DraftID: record.ID, SessionID: "s", WorkspaceID: "w", WorkspacePath: "/p", SubmissionID: "p", TextHash: receipt.TextHash, At: 5}
			if got := s.Snapshot().Receipts; len(got) != 1 || got[0] != want {
				t.Errorf("receipts %+v", got)
			}
			if again, err := s.Convert(t.Context(), record.ID, receipt); err != nil || len(again) != 0 || s.State().Generation != generation+1 {
				t.Errorf("again: %v, %v", again, err)
			}
			_, err = s.Convert(t.Context(), record.ID, shared.Receipt{SubmissionID: "another"})
			wantCode(t, err, shared.DraftNotFound)
		})
	}
	s := newStore(t)
	_, err := s.Convert(t.Context(), "nobody", shared.Receipt{SubmissionID: "p"})
	wantCode(t, err, shared.DraftNotFound)
}

func TestReceiptsAreBounded(t *testing.T) {
	doc := shared.EmptyDocument()
	for i := range shared.MaxReceipts {
		doc.Receipts = append(doc.Receipts, shared.Receipt{DraftID: fmt.Sprint(i), WorkspaceID: "w", SubmissionID: fmt.Sprint(i)})
	}
	data, err := shared.EncodeDocument(doc)
	if err != nil {
		t.Fatal(err)
	}
	path := draftFile(t)
	writeFile(t, path, string(data))
	s := openStore(t, Options{Path: path})
	id := create(t, s, CreateParams{Text: "sent"}).ID
	if _, err := s.Convert(t.Context(), id, shared.Receipt{SubmissionID: "last", TextHash: sentHash("sent")}); err != nil {
		t.Fatal(err)
	}
	got := s.Snapshot().Receipts
	if len(got) != shared.MaxReceipts || got[0].SubmissionID != "1" || got[len(got)-1].SubmissionID != "last" {
		t.Errorf("%d receipts from %s to %s", len(got), got[0].SubmissionID, got[len(got)-1].SubmissionID)
	}
}
