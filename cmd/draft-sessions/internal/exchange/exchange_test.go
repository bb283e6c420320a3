package exchange

import (
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// Whatever a draft holds, its Markdown file gives it back exactly.
func TestMarkdownGivesBackWhatItTook(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
			"", "\n", "a\n", "---\n", "---\ndraft-sessions: 1\n---\n", "yes", "1e3", "null", "~", "# no comment", "a: b", "- item", "'", "\"", "\r\n", "\u0085", "\u2028", "\ufeff", "|\n  x", "%TAG", "\x00", "{", "{\"format\":1}",
		}))
		d := shared.ExchangeDraft{
			ID: rapid.StringN(0, 20, -1).Draw(t, "id"), Title: words.Draw(t, "title"), WorkspacePath: words.Draw(t, "path"),
			WorkspaceID: words.Draw(t, "workspace"), Pinned: rapid.Bool().Draw(t, "pinned"), AgentPresetID: words.Draw(t, "preset"),
			CreatedAt: rapid.Int64Range(0, 1<<42).Draw(t, "created"), UpdatedAt: rapid.Int64Range(0, 1<<42).Draw(t, "updated"),
			Text: words.Draw(t, "text") + words.Draw(t, "more"),
		}
		file, left := Markdown(d)
		if len(left) > 0 {
			t.Fatal(left)
		}
		items, err := Read("draft.md", file)
		if err != nil {
			t.Fatalf("%v of\n%s", err, file)
		}
		if len(items) != 1 || !reflect.DeepEqual(items[0].ExchangeDraft, d) {
			t.Fatalf("%+v\nfrom\n%s\nnot %+v", items, file, d)
		}
	})
}

// Any bytes at all are read or refused, and what is refused says where and
// quotes nothing (invariant 11).
func TestAnythingIsReadOrRefused(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		head := rapid.SampledFrom([]string{"", "---\ndraft-sessions: 1\n", "---\n", "{", `{"format":"draft-sessions-export","version":1,"drafts":[`, `{"version":1,`, `{"version":2,`}).Draw(t, "head")
		body := rapid.SliceOf(rapid.Byte()).Draw(t, "body")
		data := append([]byte(head+"SECRET"), body...)
		_, err := Read("f", data)
		if err == nil {
			return
		}
		if shared.CodeOf(err) != shared.DraftInvalidInput || !strings.Contains(err.Error(), "f: ") || strings.Contains(err.Error(), "SECRET") {
			t.Fatalf("%v", err)
		}
	})
}

func TestAnImportsErrorNamesFileAndLine(t *testing.T) {
	items := []Item{{File: "a.md", Line: 1}, {File: "b.json", Line: 7}}
	err := Placed(shared.Errorf(shared.OperationConflict, "drafts[1]: it is here"), items)
	if shared.CodeOf(err) != shared.OperationConflict || shared.MessageOf(err) != "b.json: line 7: it is here" {
		t.Error(err)
	}
	for _, message := range []string{"no position", "drafts[2]: none of ours"} {
		if err := Placed(shared.Errorf(shared.StorageIO, "%s", message), items); shared.MessageOf(err) != message {
			t.Error(err)
		}
	}
}
