package drafts

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// childEnv makes the test binary a saver of the file it names, to be killed.
const childEnv = "DRAFTS_TEST_CHILD"

// soakEnv asks for the long runs.
const soakEnv = "DRAFT_SESSIONS_SOAK"

// rounds is how often a long test repeats: in soak more often, with progress.
func rounds(normal, soak int) int {
	if os.Getenv(soakEnv) != "" {
		return soak
	}
	return normal
}

// progress tells how far a long test is, ten times.
func progress(what string, done, of int) {
	if os.Getenv(soakEnv) != "" && done > 0 && done%max(1, of/10) == 0 {
		fmt.Printf("%s: %d of %d\n", what, done, of)
	}
}

// runChild saves the numbers after the one in the draft, and says each when its
// save was acknowledged.
func runChild(path string) {
	ctx := context.Background()
	s, err := Open(ctx, Options{Path: path, lockWait: patience})
	if err != nil {
		fmt.Println("failed", err)
		return
	}
	record, err := s.Create(ctx, CreateParams{ID: "counter", WorkspaceID: "w", Text: "0"})
	for err == nil {
		n, _ := strconv.Atoi(strings.TrimLeft(record.Text, "x"))
		var out EditOutcome
		// The length changes to and fro, so that half an old file never looks whole.
		text := strings.Repeat("x", 3000*(n%3)) + strconv.Itoa(n+1)
		out, err = s.EditText(ctx, Edit{DraftID: record.ID, BaseTextRevision: record.TextRevision, Text: text})
		record = out.Record
		fmt.Println("saved", n+1)
	}
	fmt.Println("failed", err)
}

// Invariant 1: a saver killed at any moment leaves a whole file with everything
// that it had acknowledged, and the next one goes on.
func TestKilledSaverLosesNothingAcknowledged(t *testing.T) {
	path := draftFile(t)
	all, leftovers := rounds(300, 10_000), 0
	for round := range all {
		progress("killed savers", round, all)
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), childEnv+"="+path)
		pipe, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(pipe)
		acknowledged, killed := 0, false
		for lines.Scan() {
			n, isSave := strings.CutPrefix(lines.Text(), "saved ")
			if !isSave {
				t.Fatalf("round %d: the child %s", round, lines.Text())
			}
			if acknowledged, err = strconv.Atoi(n); err != nil {
				t.Fatal(err)
			}
			if !killed {
				// From the first acknowledgement on: before, most rounds would prove nothing.
				killed = true
				time.AfterFunc(time.Duration(rand.IntN(8000))*time.Microsecond, func() { _ = child.Process.Signal(syscall.SIGKILL) })
			}
		}
		if err := child.Wait(); err == nil || !killed {
			t.Fatalf("round %d: the child ended by itself: %v", round, err)
		}

		if len(temporary(t, path)) > 0 {
			leftovers++
		}
		doc, err := shared.DecodeDocument([]byte(readFile(t, path)))
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		n, err := strconv.Atoi(strings.TrimLeft(doc.Drafts[0].Text, "x"))
		if err != nil || n < acknowledged || n > acknowledged+1 || len(doc.Drafts[0].Conflicts) != 0 {
			t.Fatalf("round %d: %d is in the file, %d was acknowledged: %v", round, n, acknowledged, err)
		}
	}
	if leftovers == 0 {
		t.Error("no saver was killed in the middle of a save: this proves nothing")
	}
	openStore(t, Options{Path: path})
	if left := temporary(t, path); len(left) != 0 {
		t.Errorf("left %v", left)
	}
}

// temporary are the files that a killed saver left.
func temporary(t *testing.T, path string) []string {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".*.tmp"))
	if err != nil {
		t.Fatal(err)
	}
	return left
}
