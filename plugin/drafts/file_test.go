package drafts

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

const versionOne = `{
  "version": 1,
  "drafts": [
    {"version": 1, "id": "a", "sessionId": "s", "workspaceId": "w", "text": "emoji \ud83d\ude00 half \ud83d", "createdAt": 1, "updatedAt": 2, "order": 0, "state": "converting", "revision": 7},
    {"version": 1, "id": "b", "sessionId": "s", "workspaceId": "w", "workspacePath": "/p", "text": "second", "title": "T", "createdAt": 1, "updatedAt": 2, "order": 1, "pinned": false, "agentPresetId": "code", "state": "ready", "lastError": "e", "revision": 1}
  ]
}
`

// A version-1 file is taken over; the original stays byte-exact beside it.
func TestVersionOneIsTakenOver(t *testing.T) {
	path := draftFile(t)
	writeFile(t, path, versionOne)
	s := openStore(t, Options{Path: path})
	state := s.State()
	if state.Code != "" || !strings.Contains(state.Message, "1 lone surrogates") || !strings.Contains(state.Message, "1 drafts unbound") || state.MigratedFrom != "" {
		t.Errorf("opened in %+v", state)
	}
	a, b := get(t, s, "a"), get(t, s, "b")
	if a.Text != "emoji 😀 half \uFFFD" || *a.SessionID != "s" || a.State != shared.StateReady || a.Revision != 7 || b.SessionID != nil || b.Title != "T" {
		t.Errorf("taken over as %+v and %+v", a, b)
	}
	if readFile(t, path) != versionOne {
		t.Error("reading wrote the file")
	}
	create(t, s, CreateParams{Text: "new"})
	backup := filepath.Join(filepath.Dir(path), "drafts.v1.json")
	if readFile(t, backup) != versionOne || s.State().MigratedFrom != backup {
		t.Errorf("in %+v the backup is %s", s.State(), readFile(t, backup))
	}
	late := openStore(t, Options{Path: path})
	if texts(late, "w") != texts(s, "w") || late.State().MigratedFrom != backup || late.State().Message != "" {
		t.Errorf("opened again in %+v with %q", late.State(), texts(late, "w"))
	}
	for path, mode := range map[string]os.FileMode{path: 0o600, backup: 0o600, filepath.Dir(path): 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
}

// Invariant 7: what is not ours to write stays as it is, and is read again when
// it is right.
func TestUnusableFileRefusesChanges(t *testing.T) {
	for name, test := range map[string]struct {
		data string
		code shared.Code
	}{
		"a later version":  {`{"version":3,"drafts":{"in":"another form"}}`, shared.StorageUnsupported},
		"a duplicate":      {`{"version":1,"drafts":[],"drafts":[]}`, shared.StorageInvalid},
		"an empty file":    {"", shared.StorageInvalid},
		"a shared session": {strings.ReplaceAll(sharedSession, "S2", "S1"), shared.StorageInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			path := draftFile(t)
			writeFile(t, path, test.data)
			s := openStore(t, Options{Path: path})
			if s.State().Code != test.code || len(s.Snapshot().Drafts) != 0 {
				t.Errorf("opened in %+v", s.State())
			}
			var states []shared.Code
			s.Subscribe(func(_, _ *shared.Document) { states = append(states, s.State().Code) })
			_, err := s.Create(t.Context(), CreateParams{WorkspaceID: "w", Text: "x"})
			wantCode(t, err, test.code)
			_, err = s.EditText(t.Context(), Edit{DraftID: "a", Text: "x"})
			wantCode(t, err, test.code)
			if readFile(t, path) != test.data {
				t.Errorf("the file became %q", readFile(t, path))
			}
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			writeFile(t, path, sharedSession)
			create(t, s, CreateParams{Text: "x"})
			if texts(s, "w") != "x one two" || s.State().Code != "" || !slices.Contains(states, "") {
				t.Errorf("then %q in %+v, told of %q", texts(s, "w"), s.State(), states)
			}
		})
	}
}

// sharedSession is a good document, until S2 becomes S1.
const sharedSession = `{"version":2,"generation":3,"drafts":[
{"version":2,"id":"a","sessionId":"S1","workspaceId":"w","text":"one","createdAt":1,"updatedAt":2,"order":0,"state":"ready","revision":1,"textRevision":1},
{"version":2,"id":"b","sessionId":null,"reservedSessionId":"S2","workspaceId":"w","text":"two","createdAt":1,"updatedAt":2,"order":1,"state":"materializing","revision":1,"textRevision":1}
],"trash":[]}`

// Invariant 14: two stores on one file lose no update.
func TestTwoStoresLoseNoUpdate(t *testing.T) {
	const savers, each = 4, 15
	path := draftFile(t)
	stores := []*Store{openStore(t, Options{Path: path}), openStore(t, Options{Path: path})}
	id := create(t, stores[0], CreateParams{Text: "base"}).ID
	var wait sync.WaitGroup
	for saver := range savers {
		s := stores[saver%2]
		wait.Go(func() {
			own, err := s.Create(t.Context(), CreateParams{WorkspaceID: "w", Text: "start"})
			if err != nil {
				t.Error(err)
				return
			}
			for i := range each {
				last := fmt.Sprintf("%d-%d", saver, i)
				out, err := s.EditText(t.Context(), Edit{DraftID: own.ID, BaseTextRevision: own.TextRevision, Text: last})
				if err != nil || out.ConflictID != "" {
					t.Errorf("%+v, %v", out, err)
					return
				}
				own = out.Record
			}
			// All on one draft, on a base that only one of them has.
			if _, err := s.EditText(t.Context(), Edit{DraftID: id, EditorKey: fmt.Sprint(saver), BaseTextRevision: 1, Text: fmt.Sprintf("from %d", saver)}); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	for _, s := range stores {
		if err := s.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		all := texts(s, "w")
		for saver := range savers {
			if !strings.Contains(all, fmt.Sprintf("%d-%d", saver, each-1)) {
				t.Errorf("%q misses the last text of %d", all, saver)
			}
		}
		record := get(t, s, id)
		if len(record.Conflicts) != savers-1 {
			t.Errorf("%d copies beside %q", len(record.Conflicts), record.Text)
		}
		// Those that waited for each other share a commit.
		if most := int64(1 + savers*(1+each+1)); s.State().Generation > most || s.State().Generation < most/2 {
			t.Errorf("generation %d after %d updates", s.State().Generation, most)
		}
	}
}

// Subscribers see each commit once, in order, before its caller goes on.
func TestSubscribe(t *testing.T) {
	path := draftFile(t)
	s := openStore(t, Options{Path: path})
	var mu sync.Mutex
	var heard []string
	cancel := s.Subscribe(func(before, after *shared.Document) {
		mu.Lock()
		defer mu.Unlock()
		heard = append(heard, fmt.Sprintf("%d>%d", len(before.Drafts), len(after.Drafts)))
	})
	record := create(t, s, CreateParams{Text: "a"})
	other := openStore(t, Options{Path: path})
	create(t, other, CreateParams{Text: "b"})
	if err := s.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Delete(t.Context(), record.ID, 0); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	if want := []string{"0>1", "1>2", "2>1"}; !slices.Equal(heard, want) {
		t.Errorf("heard %v, want %v", heard, want)
	}
	mu.Unlock()
	cancel()
	create(t, s, CreateParams{Text: "c"})
	mu.Lock()
	defer mu.Unlock()
	if len(heard) != 3 {
		t.Errorf("heard %v after cancel", heard)
	}
}
