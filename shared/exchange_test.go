package shared

import (
	"reflect"
	"strings"
	"testing"
)

func TestExchangeReadsWhatItWrites(t *testing.T) {
	drafts := []ExchangeDraft{
		{Text: "plain\nwords"},
		{ID: "a", WorkspaceID: "w", WorkspacePath: "/w", Title: "t", Pinned: true, CreatedAt: 1, UpdatedAt: 2, AgentPresetID: "code", Text: "",
			Content:   &Content{Attachments: []byte(`[{"id":"x"}]`)},
			Settings:  &Settings{Permission: "read-only"},
			Conflicts: []Conflict{{ID: "c", Text: "other", At: 3}}},
	}
	data, err := EncodeExchange(drafts)
	if err != nil {
		t.Fatal(err)
	}
	doc, lines, err := DecodeExchange(data)
	if err != nil || !reflect.DeepEqual(doc.Drafts, drafts) || !reflect.DeepEqual(lines, []int{2, 3}) {
		t.Errorf("%+v, %v, %v", doc, lines, err)
	}
}

// What is wrong is refused with its line, and without a word of the text (invariant 11).
func TestExchangeIsStrict(t *testing.T) {
	head := `{"format":"draft-sessions-export","version":1,"drafts":[` + "\n"
	for name, test := range map[string]struct{ data, want string }{
		"no JSON":         {"SECRET", "line 1"},
		"another format":  {`{"format":"SECRET","version":1,"drafts":[]}`, "line 1: format"},
		"a later version": {`{"format":"draft-sessions-export","version":2,"drafts":[]}`, "version 2"},
		"unknown member":  {head + `{"text":"SECRET"},` + "\n" + `{"text":"SECRET","SECRET":1}]}`, "line 3"},
		"no text":         {head + `{"title":"SECRET"}]}`, `"text" is missing`},
		"twice":           {head + `{"text":"SECRET","text":"SECRET"}]}`, "duplicate"},
		"wrong kind":      {head + "\n" + `{"text":5}]}`, "line 3"},
		"a bad reference": {head + `{"text":"ok"},` + "\n\n" + `{"text":"SECRET","content":{"occurrences":[{"source":"s","ref":"r","offset":90,"length":1,"label":"l","clipboardText":"c"}]}}]}`, "line 4: drafts[1]"},
		"too long":        {head + `{"text":"` + strings.Repeat("x", MaxTextBytes+1) + `"}]}`, "line 2: drafts[0]: text"},
		"more behind":     {head + `]} SECRET`, "line 2"},
	} {
		_, _, err := DecodeExchange([]byte(test.data))
		if CodeOf(err) != DraftInvalidInput || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestVersion1IsWrittenAgain(t *testing.T) {
	session := "session-1"
	drafts := []DraftRecord{
		{Version: 2, ID: "a", SessionID: &session, WorkspaceID: "w", WorkspacePath: "/w", Text: "one", Title: "t", CreatedAt: 1, UpdatedAt: 2, Order: 4, Pinned: true,
			State: StateConverting, Revision: 9, TextRevision: 3, Content: &Content{Attachments: []byte(`[]`)}, Conflicts: []Conflict{{ID: "c", Text: "lost words", At: 3}}},
		{Version: 2, ID: "b", WorkspaceID: "w", Text: "two", CreatedAt: 1, UpdatedAt: 2, State: StateError, LastError: "why", Revision: 1, TextRevision: 1, Settings: &Settings{Model: "m"}},
	}
	data, report, err := EncodeV1(drafts)
	if err != nil || report != (V1Report{Drafts: 3, Copies: 1, Content: 1, Settings: 1}) {
		t.Fatalf("%+v, %v", report, err)
	}
	doc, migrated, err := MigrateV1(data)
	if err != nil || migrated.LoneSurrogates != 0 || len(migrated.Unbound) != 0 {
		t.Fatalf("%+v, %v", migrated, err)
	}
	var got []string
	for i, d := range doc.Drafts {
		if d.Order != int64(i) {
			t.Errorf("order %d at %d", d.Order, i)
		}
		got = append(got, d.ID+" "+d.Text+" "+string(d.State))
	}
	if want := []string{"a one ready", "a-c lost words draft", "b two error"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
	if d := doc.Drafts[0]; *d.SessionID != session || d.Title != "t" || !d.Pinned || d.Revision != 9 || d.WorkspacePath != "/w" {
		t.Errorf("%+v", d)
	}
}
