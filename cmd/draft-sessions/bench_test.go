package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/draft-sessions/dsh-draft-sessions/plugin/drafts"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// BenchmarkList measures "list --all --json" of 1,000 drafts against a program
// that strictly parses and re-encodes the same file, in turns, as processes. It
// prints the ratio of the medians (aim: 1.3) and, as what the noise makes alone,
// that of the baseline against itself.
//
//	go test -run xxx -bench List -benchtime 1x ./cmd/draft-sessions
func BenchmarkList(b *testing.B) {
	dir := b.TempDir()
	build := func(name, pkg string) string {
		out := filepath.Join(dir, name)
		if text, err := exec.CommandContext(b.Context(), "go", "build", "-o", out, pkg).CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, text)
		}
		return out
	}
	ours, bare := build("draft-sessions", "."), build("reencode", "./testdata/reencode")
	home := filepath.Join(dir, "home")
	thousand(b, drafts.PathIn(home))
	run := func(program string, args ...string) time.Duration {
		cmd := exec.CommandContext(b.Context(), program, args...)
		began := time.Now()
		out, err := cmd.Output()
		if err != nil {
			b.Fatal(err)
		}
		if len(out) < 2<<20 {
			b.Fatalf("%s printed %d bytes", filepath.Base(program), len(out))
		}
		return time.Since(began)
	}
	list := func() time.Duration { return run(ours, "list", "--all", "--json", "--home", home) }
	parse := func() time.Duration { return run(bare, drafts.PathIn(home)) }
	list()
	parse()
	for b.Loop() {
		var a, base, again []time.Duration
		for range 41 {
			base, a, again = append(base, parse()), append(a, list()), append(again, parse())
		}
		median := func(all []time.Duration) float64 {
			slices.Sort(all)
			return float64(all[len(all)/2]) / 1e6
		}
		m, n, o := median(a), median(base), median(again)
		fmt.Printf("list --json, 1,000 drafts: %.1f ms; strict parse and encode: %.1f ms; ratio %.2f (aim 1.3); A/A %.2f\n", m, n, m/n, o/n)
		b.ReportMetric(m/n, "ratio")
	}
}

// thousand writes a draft file of 1,000 drafts of about 2.4 kB.
func thousand(b *testing.B, path string) {
	doc := shared.EmptyDocument()
	doc.Generation = 1
	text := strings.Repeat("plan the next step of the work and write it down\n", 45)
	for i := range 1000 {
		doc.Drafts = append(doc.Drafts, shared.DraftRecord{
			Version: shared.RecordVersion, ID: fmt.Sprintf("0190%04d-0000-7000-8000-000000000000", i), WorkspaceID: fmt.Sprintf("w%d", i/50),
			WorkspacePath: fmt.Sprintf("/p/%d", i/50), Text: text, CreatedAt: 1, UpdatedAt: 1, Order: int64(i), State: shared.StateDraft, Revision: 1, TextRevision: 1,
		})
	}
	data, err := shared.EncodeDocument(doc)
	if err != nil {
		b.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		b.Fatal(err)
	}
}
