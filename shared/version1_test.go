package shared

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func v1Record(id, session, state, extra string) string {
	if session != "null" {
		session = `"` + session + `"`
	}
	return `{"version":1,"id":"` + id + `","sessionId":` + session + `,"workspaceId":"w","text":"t","createdAt":1,"updatedAt":2,"order":3,"state":"` +
		state + `","revision":4` + extra + `}`
}

func v1Document(records ...string) string {
	return `{"version":1,"drafts":[` + strings.Join(records, ",") + `]}`
}

func TestMigrateV1(t *testing.T) {
	for _, test := range []struct {
		name, data string
		sessions   []string // "" is unbound
		states     []State
		surrogates int
		unbound    []string
	}{
		{"no drafts", v1Document(), nil, nil, 0, nil},
		{"indented as JavaScript does", "{\n  \"version\": 1,\n  \"drafts\": []\n}\n", nil, nil, 0, nil},
		{"members in another order", `{"drafts":[],"version":1}`, nil, nil, 0, nil},
		{"each state, unbound", v1Document(v1Record("a", "null", "draft", ""), v1Record("b", "null", "materializing", ""), v1Record("c", "null", "ready", ""),
			v1Record("d", "null", "converting", ""), v1Record("e", "null", "error", `,"lastError":"why"`)),
			[]string{"", "", "", "", ""}, []State{StateDraft, StateDraft, StateDraft, StateDraft, StateError}, 0, nil},
		{"each state, bound", v1Document(v1Record("a", "1", "draft", ""), v1Record("b", "2", "materializing", ""), v1Record("c", "3", "ready", ""),
			v1Record("d", "4", "converting", ""), v1Record("e", "5", "error", "")),
			[]string{"1", "2", "3", "4", "5"}, []State{StateReady, StateReady, StateReady, StateReady, StateError}, 0, nil},
		{"one session twice", v1Document(v1Record("a", "1", "ready", ""), v1Record("b", "1", "ready", ""), v1Record("c", "1", "error", "")),
			[]string{"1", "", ""}, []State{StateReady, StateDraft, StateDraft}, 0, []string{"b", "c"}},
		{"all optional members", v1Document(v1Record("a", "1", "ready", `,"workspacePath":"/p","title":"T","pinned":true,"agentPresetId":"code"`)),
			[]string{"1"}, []State{StateReady}, 0, nil},
		{"lone surrogates", v1Document(v1Record("a", "null", "draft", `,"title":"x\ud800y\uDC00\ud83d\ude00\\ud800"`)),
			[]string{""}, []State{StateDraft}, 2, nil},
	} {
		doc, report, err := MigrateV1([]byte(test.data))
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		var sessions []string
		var states []State
		for i := range doc.Drafts {
			r := &doc.Drafts[i]
			sessions, states = append(sessions, orEmpty(r.SessionID)), append(states, r.State)
			if r.Version != 2 || r.Text != "t" || r.Revision != 4 || r.TextRevision != 1 || r.CreatedAt != 1 || r.UpdatedAt != 2 || r.Order != 3 {
				t.Errorf("%s: taken over as %+v", test.name, r)
			}
		}
		if !slices.Equal(sessions, test.sessions) || !slices.Equal(states, test.states) {
			t.Errorf("%s: sessions %v in states %v", test.name, sessions, states)
		}
		if report.Drafts != len(doc.Drafts) || report.LoneSurrogates != test.surrogates || !slices.Equal(report.Unbound, test.unbound) {
			t.Errorf("%s: reported as %+v", test.name, report)
		}
		data, err := EncodeDocument(doc)
		if err == nil {
			_, err = DecodeDocument(data)
		}
		if err != nil {
			t.Errorf("%s: not a version-2 document: %v", test.name, err)
		}
	}
}

func TestMigrateV1KeepsEverythingThatIsText(t *testing.T) {
	doc, report, err := MigrateV1([]byte(v1Document(v1Record("a", "null", "draft", `,"title":"x\ud800y\uDC00\ud83d\ude00\\ud800\ud800\ud83d\ude00","workspacePath":"/p","pinned":true,"agentPresetId":"code","lastError":"e"`))))
	if err != nil {
		t.Fatal(err)
	}
	r := doc.Drafts[0]
	if want := "x\uFFFDy\uFFFD😀\\ud800\uFFFD😀"; r.Title != want {
		t.Errorf("title %q, want %q", r.Title, want)
	}
	if r.WorkspacePath != "/p" || !r.Pinned || r.AgentPresetID != "code" || r.LastError != "e" {
		t.Errorf("taken over as %+v", r)
	}
	if line := report.String(); !strings.Contains(line, "1 drafts") || !strings.Contains(line, "3 lone surrogates") {
		t.Errorf("reported as %q", line)
	}
}

// Invariant 7: what is no version-1 file is left alone.
func TestDecodeV1Refuses(t *testing.T) {
	good := v1Record("a", "s", "ready", "")
	for name, data := range map[string]string{
		"an unknown member":       v1Document(v1Record("a", "s", "ready", `,"extra":1`)),
		"a member of version 2":   v1Document(v1Record("a", "s", "ready", `,"textRevision":1`)),
		"a member in wrong case":  v1Document(v1Record("a", "s", "ready", `,"Pinned":true`)),
		"a duplicate drafts":      `{"version":1,"drafts":[` + good + `],"drafts":[]}`,
		"a duplicate id":          v1Document(good, v1Record("a", "t", "ready", "")),
		"a generation":            `{"version":1,"generation":1,"drafts":[]}`,
		"no drafts":               `{"version":1}`,
		"null drafts":             `{"version":1,"drafts":null}`,
		"a record of version 2":   v1Document(strings.Replace(good, `"version":1`, `"version":2`, 1)),
		"an empty id":             v1Document(v1Record("", "s", "ready", "")),
		"an empty session":        v1Document(v1Record("a", "", "ready", "")),
		"no session member":       v1Document(strings.Replace(good, `"sessionId":"s",`, "", 1)),
		"an empty workspace":      v1Document(strings.Replace(good, `"workspaceId":"w"`, `"workspaceId":""`, 1)),
		"an empty title":          v1Document(v1Record("a", "s", "ready", `,"title":""`)),
		"an empty path":           v1Document(v1Record("a", "s", "ready", `,"workspacePath":""`)),
		"an empty preset":         v1Document(v1Record("a", "s", "ready", `,"agentPresetId":""`)),
		"an empty error":          v1Document(v1Record("a", "s", "error", `,"lastError":""`)),
		"a null title":            v1Document(v1Record("a", "s", "ready", `,"title":null`)),
		"a negative order":        v1Document(strings.Replace(good, `"order":3`, `"order":-1`, 1)),
		"an unsafe time":          v1Document(strings.Replace(good, `"createdAt":1`, `"createdAt":9007199254740992`, 1)),
		"revision 0":              v1Document(strings.Replace(good, `"revision":4`, `"revision":0`, 1)),
		"an unknown state":        v1Document(v1Record("a", "s", "sent", "")),
		"invalid UTF-8":           v1Document(strings.Replace(good, `"text":"t"`, "\"text\":\"\xff\"", 1)),
		"half an escape":          v1Document(strings.Replace(good, `"text":"t"`, `"text":"\ud8"`, 1)),
		"trailing data":           v1Document(good) + "x",
		"two ids made equal":      v1Document(v1Record(`\ud800`, "s", "ready", ""), v1Record(`\udc00`, "t", "ready", "")),
		"a document of version 2": `{"version":2,"drafts":[]}`,
	} {
		if _, _, err := DecodeV1([]byte(data)); CodeOf(err) != StorageInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Whatever escapes a file holds, exactly the lone halves are replaced.
func TestReplaceLoneSurrogates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOf(rapid.SampledFrom([]string{`\ud83d`, `\ude00`, `\uD83D\uDE00`, `\\`, `\n`, `a`, `\u0041`, `é`})).Draw(t, "pieces")
		repaired, count := replaceLoneSurrogates([]byte(`"` + strings.Join(pieces, "") + `"`))
		var text string
		if err := strictDecode(repaired, &text); err != nil {
			t.Fatalf("still refused: %v", err)
		}
		if !utf8.ValidString(text) || strings.Count(text, "\uFFFD") != count {
			t.Fatalf("%q has not %d replacements", text, count)
		}
	})
}
