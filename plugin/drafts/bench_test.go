package drafts

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// manyDrafts is a file of n drafts of about 2.4 kB.
func manyDrafts(b *testing.B, n int) []byte {
	doc := shared.EmptyDocument()
	for i := range n {
		doc.Drafts = append(doc.Drafts, shared.DraftRecord{
			Version: shared.RecordVersion, ID: fmt.Sprint(i), WorkspaceID: "w", Text: strings.Repeat("a task in words. ", 130),
			State: shared.StateDraft, Revision: 1, TextRevision: 1, Order: int64(i),
		})
	}
	data, err := shared.EncodeDocument(doc)
	if err != nil {
		b.Fatal(err)
	}
	return data
}

func BenchmarkSave(b *testing.B) {
	for _, n := range []int{50, 1000, 10000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "drafts.json")
			doc, err := shared.DecodeDocument(manyDrafts(b, n))
			if err != nil {
				b.Fatal(err)
			}
			s, err := Open(b.Context(), Options{Path: path, LimitPerWorkspace: n + 1})
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = s.Close() }() // The figures are taken.
			if err := s.update(b.Context(), func(t *tx) error { t.doc.Drafts = doc.Drafts; return nil }); err != nil {
				b.Fatal(err)
			}
			revision := int64(1)
			for b.Loop() {
				if _, err := s.EditText(b.Context(), Edit{DraftID: "7", BaseTextRevision: revision, Text: fmt.Sprint(revision)}); err != nil {
					b.Fatal(err)
				}
				revision++
			}
		})
	}
}

func BenchmarkOpen(b *testing.B) {
	for _, n := range []int{50, 1000, 10000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			data := manyDrafts(b, n)
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if _, err := shared.DecodeDocument(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
