package shared

import (
	"bytes"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const secret = "SECRET-DRAFT-TEXT"

const fullDocument = `{"version":2,"generation":7,"drafts":[
{"version":2,"id":"a","sessionId":"s1","reservedSessionId":"s2","workspaceId":"w","workspacePath":"/p","text":"` + secret + `","title":"T","createdAt":1,"updatedAt":2,"order":0,"pinned":true,"agentPresetId":"code","state":"converting","lastError":"e","revision":3,"textRevision":2,"conflicts":[{"id":"c","text":"lost","at":4,"editorId":"e1"}],"content":{"occurrences":[{"source":"reference","ref":"@f","offset":0,"length":6,"label":"f","appearance":{"icon":[1,2]},"clipboardText":"SECRET"}],"attachments":[{"x":1.50}]},"settings":{"modelSource":"explicit","model":"m","goal":{"a":null}},"operation":{"kind":"prompt","id":"p","sessionId":"s1","startedAt":5,"textHash":"h"}},
{"version":2,"id":"b","sessionId":null,"workspaceId":"w","text":"","createdAt":1,"updatedAt":2,"order":1,"state":"draft","revision":1,"textRevision":1}
],"trash":[
{"record":{"version":2,"id":"t","sessionId":null,"workspaceId":"w","text":"x","createdAt":1,"updatedAt":2,"order":1,"state":"draft","revision":1,"textRevision":1},"deletedAt":9}
],"restoreTarget":{"draftId":"a","at":1},"receipts":[
{"draftId":"z","sessionId":"s9","workspaceId":"w","submissionId":"p9","textHash":"h","at":8}
]}
`

// Members of later issues survive every write, and records stand one a line.
func TestDocumentSurvivesReadingAndWriting(t *testing.T) {
	doc, err := DecodeDocument([]byte(fullDocument))
	if err != nil {
		t.Fatal(err)
	}
	written, err := EncodeDocument(doc)
	if err != nil {
		t.Fatal(err)
	}
	if again := strings.ReplaceAll(string(written), `,"pinned":false`, ""); again != fullDocument {
		t.Errorf("written as\n%s\nread from\n%s", again, fullDocument)
	}
	if lines := bytes.Count(written, []byte("\n")); lines != 8 {
		t.Errorf("%d lines, want 8", lines)
	}
}

func TestRawMembersStayOnTheirLine(t *testing.T) {
	doc := EmptyDocument()
	record := validRecord()
	record.Content = &Content{Attachments: jsontext.Value("[\n  1,\n  2\n]")}
	doc.Drafts = append(doc.Drafts, record)
	written, err := EncodeDocument(doc)
	if err != nil {
		t.Fatal(err)
	}
	if lines := bytes.Count(written, []byte("\n")); lines != 3 {
		t.Errorf("%d lines, want 3:\n%s", lines, written)
	}
}

// Invariants 7 and 11: what is not exactly the format is refused with its
// place, and the refusal quotes nothing of a draft.
func TestDecodeDocumentRefuses(t *testing.T) {
	replace := func(old, new string) string {
		if !strings.Contains(fullDocument, old) {
			t.Fatalf("the sample has no %s", old)
		}
		return strings.Replace(fullDocument, old, new, 1)
	}
	for _, test := range []struct{ name, data, want string }{
		{"nothing", "", "ends too early"},
		{"NUL bytes", "\x00\x00\x00", "NUL"},
		{"a NUL in the middle", replace(`"drafts"`, "\x00\"drafts\""), "NUL"},
		{"half a file", fullDocument[:len(fullDocument)/2], "ends too early"},
		{"trailing data", fullDocument + "{}", "after the document"},
		{"trailing text", fullDocument + secret, "line 9"},
		{"no object", `[]`, "object belongs here"},
		{"null", `null`, "object belongs here"},
		{"a duplicate member of the document", replace(`"trash":`, `"drafts":[],"trash":`), `at "/drafts": duplicate member`},
		{"a duplicate member of a record", replace(`"title":"T"`, `"title":"T","title":"U"`), `/drafts/0/title`},
		{"a duplicate hidden by an escape", replace(`"title":"T"`, `"title":"T","\u0074itle":"U"`), "duplicate member"},
		{"an unknown member", replace(`"title":"T"`, `"`+secret+`":"T"`), `at "/drafts/0/?": unknown member`},
		{"a member in wrong case", replace(`"title":"T"`, `"Title":"T"`), "unknown member"},
		{"an unknown member of content", replace(`"attachments"`, `"Attachments"`), "unknown member"},
		{"a missing member", replace(`"workspaceId":"w",`, ``), `"workspaceId" is missing`},
		{"a missing trash", `{"version":2,"generation":1,"drafts":[]}`, `"trash" is missing`},
		{"a null text", replace(`"text":"`+secret+`"`, `"text":null`), `at "/drafts/0/text": a string belongs here`},
		{"a null title", replace(`"title":"T"`, `"title":null`), "a string belongs here"},
		{"a null content", replace(`"operation":{`, `"operation":null,"x":{`), "an object belongs here"},
		{"a null raw member", replace(`[{"x":1.50}]`, `null`), "null where a value belongs"},
		{"a null list", replace(`"conflicts":[{"id":"c","text":"lost","at":4,"editorId":"e1"}]`, `"conflicts":null`), "an array belongs here"},
		{"a number as text", replace(`"text":"`+secret+`"`, `"text":1`), "a string belongs here"},
		{"a text as number", replace(`"order":0`, `"order":"0"`), "an integer belongs here"},
		{"a fraction", replace(`"order":0`, `"order":0.5`), "not an integer"},
		{"an unsafe integer", replace(`"order":0`, `"order":9007199254740992`), "not an integer"},
		{"a text as bool", replace(`"pinned":true`, `"pinned":"true"`), "true or false"},
		{"invalid UTF-8", replace(secret, secret+"\xff"), "invalid UTF-8"},
		{"an encoded surrogate", replace(secret, secret+"\xed\xa0\x80"), "invalid UTF-8"},
		{"a lone surrogate", replace(secret, secret+`\ud800`), "surrogate"},
		{"two records of one id", replace(`"id":"b"`, `"id":"a"`), "drafts[1]: id is also that of drafts[0]"},
		{"two records of one session", replace(`"id":"b","sessionId":null`, `"id":"b","sessionId":"s1"`), "drafts[1]: its session"},
		{"a session reserved by another", replace(`"id":"b","sessionId":null`, `"id":"b","sessionId":"s2"`), "drafts[1]: its session"},
		{"a record of version 1", replace(`{"version":2,"id":"a"`, `{"version":1,"id":"a"`), "drafts[0]: version"},
		{"an empty session", replace(`"sessionId":"s1","reserved`, `"sessionId":"","reserved`), "sessionId"},
		{"an unknown state", replace(`"converting"`, `"sending"`), "state"},
		{"revision 0", replace(`"revision":3`, `"revision":0`), "revision"},
		{"an occurrence outside the text", replace(`"length":6`, `"length":18`), "outside the text"},
		{"an occurrence that overflows", replace(`"offset":0`, `"offset":9007199254740991`), "outside the text"},
		{"bad trash", replace(`"id":"t"`, `"id":""`), "trash[0]: id"},
		{"a bad receipt", replace(`"draftId":"z"`, `"draftId":""`), "receipts[0]"},
	} {
		_, err := DecodeDocument([]byte(test.data))
		if CodeOf(err) != StorageInvalid {
			t.Errorf("%s: %v, want %s", test.name, err, StorageInvalid)
			continue
		}
		if !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %q does not say %q", test.name, err, test.want)
		}
		if strings.Contains(err.Error(), secret) {
			t.Errorf("%s: the error quotes the draft: %q", test.name, err)
		}
		if _, _, byLines := DecodeLines(cut([]byte(test.data)), nil, nil); byLines == nil || byLines.Error() != err.Error() {
			t.Errorf("%s: by lines it is %v, as a whole %v", test.name, byLines, err)
		}
	}
	if _, lines, err := DecodeLines(cut([]byte(fullDocument)), nil, nil); err != nil || lines == nil {
		t.Errorf("the sample itself is not read by lines: %v", err)
	}
}

// A place that is too deep to be one of the format is cut short.
func TestDeepPlacesAreShort(t *testing.T) {
	_, err := DecodeDocument([]byte(strings.Repeat(`[`, 20000)))
	deep := strings.Replace(fullDocument, `[{"x":1.50}]`, strings.Repeat(`[`, 20000), 1)
	for _, err := range []error{err, func() error { _, err := DecodeDocument([]byte(deep)); return err }()} {
		if CodeOf(err) != StorageInvalid || len(err.Error()) > 200 {
			t.Errorf("refused with %.300v", err)
		}
	}
}

// What is written is read again, whatever the text.
func TestEveryWellFormedTextSurvives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		record := validRecord()
		record.Text = rapid.String().Draw(t, "text")
		record.Title = rapid.SampledFrom([]string{"", "\r\n", "\u2028", "👩‍🚀", "a\x00b", `"\`}).Draw(t, "title")
		doc := EmptyDocument()
		doc.Drafts = append(doc.Drafts, record)
		data, err := EncodeDocument(doc)
		if err != nil {
			t.Fatal(err)
		}
		again, err := DecodeDocument(data)
		if err != nil {
			t.Fatal(err)
		}
		if got := again.Drafts[0]; got.Text != record.Text || got.Title != record.Title {
			t.Fatalf("%q came back as %q", record.Text, got.Text)
		}
	})
}

func TestParts(t *testing.T) {
	content, err := DecodeContent(`{"occurrences":[{"source":"reference","ref":"@f","offset":0,"length":1,"label":"f","clipboardText":"@f"}]}`)
	if err != nil || len(content.Occurrences) != 1 {
		t.Fatalf("%+v, %v", content, err)
	}
	text, err := EncodePart(content)
	if err != nil || !strings.Contains(text, `"ref":"@f"`) {
		t.Errorf("%q, %v", text, err)
	}
	if none, err := DecodeSettings(""); none != nil || err != nil {
		t.Errorf("nothing is %v, %v", none, err)
	}
	if none, err := EncodePart[Settings](nil); none != "" || err != nil {
		t.Errorf("nil is %q, %v", none, err)
	}
	for _, bad := range []string{`{"Model":"x"}`, `{"model":1}`, `{} {}`, `[]`, `{"model":"a","model":"b"}`} {
		if _, err := DecodeSettings(bad); CodeOf(err) != DraftInvalidInput {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
