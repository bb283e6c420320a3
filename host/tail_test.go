package host

import (
	"errors"
	"strings"
	"testing"
)

// Invariant 8: a process that writes without an end does not fill the host's memory.
func TestTailIsBounded(t *testing.T) {
	log := newTail(3)
	for range 100 {
		if n, err := log.Write([]byte(strings.Repeat("x", maxTailLine))); n != maxTailLine || err != nil {
			t.Fatal(n, err)
		}
	}
	if n := len(log.rest); n > maxTailLine {
		t.Errorf("%d bytes of one line are kept", n)
	}
	if _, err := log.Write([]byte("end\na\nb\nc\nlast")); err != nil {
		t.Fatal(err)
	}
	if got := log.explain(errors.New("why")).Error(); got != "why; its last words:\na\nb\nc\nlast" {
		t.Errorf("says %q", got)
	}
}
