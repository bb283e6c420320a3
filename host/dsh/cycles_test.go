package dsh_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// Invariant 9: 40 processes (500 in a soak), every second one killed, leave the
// Node host no process, socket, descriptor, timer or listener more than the first.
func TestNodeHostLeaksNothing(t *testing.T) {
	rounds := 40
	if os.Getenv("DRAFT_SESSIONS_SOAK") != "" {
		rounds = 500
	}
	s := prepare(t)
	temp, err := os.MkdirTemp("", "cy") // short, as a socket's folder must be
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(temp) })
	cmd := s.tools.Command(t.Context(), ".", s.tools.Node, filepath.Join("test", "cycles.js"), s.bundle, strconv.Itoa(rounds), t.TempDir())
	cmd.Env = append(cmd.Env, "TMPDIR="+temp)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var standing struct{ Before, After map[string]int }
	if err := json.Unmarshal(out, &standing); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, before := range standing.Before {
		if after := standing.After[name]; after > before {
			t.Errorf("%s: %d, after the first rounds %d", name, after, before)
		}
	}
	for _, name := range []string{"processes", "sockets"} {
		if n, told := standing.After[name]; n != 0 || !told {
			t.Errorf("%d %s are left", n, name)
		}
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) != 0 {
		t.Errorf("%v are left, %v", left, err)
	}
	t.Logf("after %d rounds: %v", rounds, standing.After)
}
