package shared

import (
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"
)

func validRecord() DraftRecord {
	return DraftRecord{Version: 2, ID: "a", WorkspaceID: "w", Text: "text", State: StateDraft, Revision: 1, TextRevision: 1}
}

func TestValidateRecord(t *testing.T) {
	empty := ""
	for _, test := range []struct {
		member string
		spoil  func(*DraftRecord)
	}{
		{"version", func(r *DraftRecord) { r.Version = 1 }},
		{"id", func(r *DraftRecord) { r.ID = "" }},
		{"sessionId", func(r *DraftRecord) { r.SessionID = &empty }},
		{"reservedSessionId", func(r *DraftRecord) { r.ReservedSessionID = "\xff" }},
		{"workspaceId", func(r *DraftRecord) { r.WorkspaceID = "" }},
		{"workspacePath", func(r *DraftRecord) { r.WorkspacePath = "\xff" }},
		{"text", func(r *DraftRecord) { r.Text = "\xed\xa0\x80" }},
		{"title", func(r *DraftRecord) { r.Title = "\xc0" }},
		{"createdAt", func(r *DraftRecord) { r.CreatedAt = -1 }},
		{"updatedAt", func(r *DraftRecord) { r.UpdatedAt = 1 << 53 }},
		{"order", func(r *DraftRecord) { r.Order = -1 }},
		{"agentPresetId", func(r *DraftRecord) { r.AgentPresetID = "\xff" }},
		{"state", func(r *DraftRecord) { r.State = "" }},
		{"lastError", func(r *DraftRecord) { r.LastError = "\xff" }},
		{"revision", func(r *DraftRecord) { r.Revision = 0 }},
		{"textRevision", func(r *DraftRecord) { r.TextRevision = 0 }},
		{"conflicts[0]", func(r *DraftRecord) { r.Conflicts = []Conflict{{Text: "x"}} }},
		{"conflicts[1]", func(r *DraftRecord) { r.Conflicts = []Conflict{{ID: "c"}, {ID: "c"}} }},
		{"conflicts[0]: content", func(r *DraftRecord) {
			r.Conflicts = []Conflict{{ID: "c", Text: "x", Content: &Content{Occurrences: []Occurrence{{Length: 2}}}}}
		}},
		{"content.occurrences[0]", func(r *DraftRecord) { r.Content = &Content{Occurrences: []Occurrence{{Offset: 5}}} }},
		{"content.occurrences[0]", func(r *DraftRecord) { r.Content = &Content{Occurrences: []Occurrence{{Length: -1}}} }},
		{"content", func(r *DraftRecord) { r.Content = &Content{References: jsontext.Value("{")} }},
		{"settings.modelSource", func(r *DraftRecord) { r.Settings = &Settings{ModelSource: "any"} }},
		{"settings", func(r *DraftRecord) { r.Settings = &Settings{Goal: jsontext.Value("nope")} }},
		{"operation", func(r *DraftRecord) { r.Operation = &Operation{Kind: "other", ID: "p", SessionID: "s"} }},
		{"operation", func(r *DraftRecord) { r.Operation = &Operation{Kind: "prompt", SessionID: "s"} }},
	} {
		r := validRecord()
		if err := ValidateRecord(&r); err != nil {
			t.Fatal(err)
		}
		test.spoil(&r)
		err := ValidateRecord(&r)
		if CodeOf(err) != DraftInvalidInput || !strings.HasPrefix(messageOf(err), test.member) {
			t.Errorf("%s: %v", test.member, err)
		}
	}
}

// Limits bind what is added, never what a user already has.
func TestValidateRecordLimits(t *testing.T) {
	long := strings.Repeat("x", MaxTextBytes+1)
	bigRaw := jsontext.Value(`"` + strings.Repeat("x", MaxContentBytes) + `"`)
	conflicts := make([]Conflict, MaxConflicts+1)
	for i := range conflicts {
		conflicts[i] = Conflict{ID: strconv.Itoa(i)}
	}
	for name, test := range map[string]struct {
		change func(*DraftRecord)
		code   Code
	}{
		"text at the limit":    {func(r *DraftRecord) { r.Text = long[1:] }, ""},
		"text over it":         {func(r *DraftRecord) { r.Text = long }, DraftInvalidInput},
		"title over it":        {func(r *DraftRecord) { r.Title = long[:MaxTitleBytes+1] }, DraftInvalidInput},
		"conflict text over":   {func(r *DraftRecord) { r.Conflicts = []Conflict{{ID: "c", Text: long}} }, DraftInvalidInput},
		"too many conflicts":   {func(r *DraftRecord) { r.Conflicts = conflicts }, DraftLimitReached},
		"as many as there may": {func(r *DraftRecord) { r.Conflicts = conflicts[1:] }, ""},
		"content over it":      {func(r *DraftRecord) { r.Content = &Content{Attachments: bigRaw} }, DraftInvalidInput},
		"settings over it":     {func(r *DraftRecord) { r.Settings = &Settings{MCP: bigRaw} }, DraftInvalidInput},
	} {
		before, after := validRecord(), validRecord()
		test.change(&after)
		if err := ValidateRecordLimits(&before, &after); CodeOf(err) != test.code {
			t.Errorf("%s: %v, want %q", name, err, test.code)
		}
		if err := ValidateRecordLimits(nil, &after); CodeOf(err) != test.code {
			t.Errorf("%s in a new record: %v, want %q", name, err, test.code)
		}
		renamed := after
		renamed.Pinned = true
		renamed.Content, renamed.Settings = cloneOf(after.Content), cloneOf(after.Settings)
		if err := ValidateRecordLimits(&after, &renamed); err != nil {
			t.Errorf("%s: the record cannot be pinned any more: %v", name, err)
		}
	}
}

func cloneOf[T any](p *T) *T {
	if p == nil {
		return nil
	}
	value := *p
	return &value
}

// Offsets count as a browser counts.
func TestUTF16(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		units := utf16.Encode([]rune(text))
		if got := UTF16Len(text); got != int64(len(units)) {
			t.Fatalf("length %d, want %d", got, len(units))
		}
		offset := rapid.IntRange(0, len(units)).Draw(t, "offset")
		length := rapid.IntRange(0, len(units)-offset).Draw(t, "length")
		part, ok := UTF16Slice(text, int64(offset), int64(length))
		want := string(utf16.Decode(units[offset : offset+length]))
		cut := func(i int) bool {
			return i > 0 && i < len(units) && utf16.IsSurrogate(rune(units[i-1])) && utf16.DecodeRune(rune(units[i-1]), rune(units[i])) != '\uFFFD'
		}
		if cut(offset) || cut(offset+length) {
			if ok {
				t.Fatalf("a cut pair gave %q", part)
			}
			return
		}
		if !ok || part != want {
			t.Fatalf("%q, %v, want %q", part, ok, want)
		}
	})
	for _, outside := range [][2]int64{{-1, 1}, {0, -1}, {0, 3}, {3, 0}, {2, 1}} {
		if part, ok := UTF16Slice("ab", outside[0], outside[1]); ok {
			t.Errorf("%v gave %q", outside, part)
		}
	}
}
