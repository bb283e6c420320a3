package smoketest

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// v1File is a draft file as the public plugin writes it: WORKSPACE, PATH,
// SESSION and SHARED are replaced. It holds every optional member, a lone
// surrogate, two records on one session, and records without a session.
const v1File = `{
  "version": 1,
  "drafts": [
    {
      "version": 1,
      "id": "0e3bba1e-62a5-4b0c-8c32-2c3f0f6e3a11",
      "sessionId": "SESSION",
      "workspaceId": "WORKSPACE",
      "workspacePath": "PATH",
      "text": "plain\nwith \"quotes\" and \u00e9 \ud83d\ude80",
      "title": "A title of its own",
      "createdAt": 1755000000000,
      "updatedAt": 1755000001000,
      "order": 3,
      "pinned": true,
      "agentPresetId": "standard",
      "state": "ready",
      "revision": 7
    },
    {
      "version": 1,
      "id": "any string is an id",
      "sessionId": null,
      "workspaceId": "WORKSPACE",
      "text": "half an emoji \ud83d here",
      "createdAt": 0,
      "updatedAt": 0,
      "order": 0,
      "state": "error",
      "lastError": "the host was away",
      "revision": 1
    },
    {
      "version": 1,
      "id": "first of two",
      "sessionId": "SHARED",
      "workspaceId": "WORKSPACE",
      "text": "first on a session",
      "createdAt": 1755000002000,
      "updatedAt": 1755000002000,
      "order": 1,
      "pinned": false,
      "state": "ready",
      "revision": 2
    },
    {
      "version": 1,
      "id": "second of two",
      "sessionId": "SHARED",
      "workspaceId": "WORKSPACE",
      "text": "second on the same session",
      "createdAt": 1755000003000,
      "updatedAt": 1755000003000,
      "order": 2,
      "state": "materializing",
      "revision": 4
    },
    {
      "version": 1,
      "id": "empty",
      "sessionId": null,
      "workspaceId": "WORKSPACE",
      "workspacePath": "PATH",
      "text": "",
      "createdAt": 1755000004000,
      "updatedAt": 1755000004000,
      "order": 4,
      "state": "draft",
      "revision": 1
    }
  ]
}
`

// A file of the public plugin is taken over: all texts are drafts here, each on
// a session of its own (invariant 4), and the file lies byte-exact beside ours
// (invariant 7).
func TestVersion1FileIsTakenOver(t *testing.T) {
	compact := func(file string) string {
		var out bytes.Buffer
		if err := json.Compact(&out, []byte(file)); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	for _, shape := range []struct{ name, file string }{
		{"as written", v1File},
		{"on one line", compact(v1File)},
		{"with line ends of Windows", strings.ReplaceAll(v1File, "\n", "\r\n")},
	} {
		t.Run(shape.name, func(t *testing.T) {
			h := newHome(t)
			h.start()
			h.addWork()
			session, err := h.API.CreateSession(h.Ctx, h.work.ID, "")
			h.Must(err)
			shared, err := h.API.CreateSession(h.Ctx, h.work.ID, "")
			h.Must(err)
			h.Must(h.Stop())
			file := []byte(strings.NewReplacer("WORKSPACE", h.work.ID, "PATH", h.work.Path, "SESSION", session, "SHARED", shared).Replace(shape.file))
			h.placeDraftFile(file)
			h.install()
			h.start()
			h.awaitMode("full")
			h.takenOver(file, session)
		})
	}
}

func (h *home) takenOver(file []byte, session string) {
	h.T.Helper()
	want := map[string]string{
		"0e3bba1e-62a5-4b0c-8c32-2c3f0f6e3a11": "plain\nwith \"quotes\" and é 🚀",
		"any string is an id":                  "half an emoji \uFFFD here",
		"first of two":                         "first on a session",
		"second of two":                        "second on the same session",
		"empty":                                "",
	}
	p := h.open()
	for id := range want {
		p.ShowsRow(id)
	}
	if got := len(h.AllDrafts()); got != len(want) {
		h.T.Errorf("%d drafts, want %d", got, len(want))
	}
	for id, text := range want {
		p.Shows(id, text)
		h.Bound(id)
	}
	if got := h.Draft("0e3bba1e-62a5-4b0c-8c32-2c3f0f6e3a11"); got.SessionID != session || got.Title != "A title of its own" {
		h.T.Errorf("a draft of the public plugin lost its session or title: %+v", got)
	}
	document, err := h.Document()
	h.Must(err)
	if document.Version != 2 {
		h.T.Errorf("the file is of version %d", document.Version)
	}
	h.hasCopyBeside(file)
}

func (h *home) placeDraftFile(file []byte) {
	h.T.Helper()
	h.Must(os.MkdirAll(filepath.Dir(h.DraftFile()), 0o700))
	h.Must(os.WriteFile(h.DraftFile(), file, 0o600))
}

// hasCopyBeside checks that a file beside the draft file holds exactly these bytes.
func (h *home) hasCopyBeside(file []byte) {
	h.T.Helper()
	matches, err := filepath.Glob(filepath.Join(filepath.Dir(h.DraftFile()), "*"))
	h.Must(err)
	for _, match := range matches {
		if raw, err := os.ReadFile(match); err == nil && match != h.DraftFile() && bytes.Equal(raw, file) {
			return
		}
	}
	h.T.Errorf("none of %q is the version-1 file, byte for byte", matches)
}
