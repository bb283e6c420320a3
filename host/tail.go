package host

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
)

// tail keeps the last lines that the process wrote to stderr, for start errors.
type tail struct {
	mu    sync.Mutex // guards what follows
	max   int
	lines []string
	rest  []byte
}

// maxTailLine bounds what is kept of a line without an end, in bytes.
const maxTailLine = 4096

func newTail(max int) *tail { return &tail{max: max} }

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rest = append(t.rest, p...)
	for {
		line, rest, found := bytes.Cut(t.rest, []byte("\n"))
		if !found {
			// A line that never ends is kept from its end as well.
			t.rest = append([]byte(nil), t.rest[max(0, len(t.rest)-maxTailLine):]...)
			return len(p), nil
		}
		t.lines = append(t.lines, string(line[max(0, len(line)-maxTailLine):]))
		t.lines = t.lines[max(0, len(t.lines)-t.max):]
		t.rest = append([]byte(nil), rest...)
	}
}

// explain adds what the process last said to err.
func (t *tail) explain(err error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := t.lines
	if len(t.rest) > 0 {
		lines = append(lines, string(t.rest))
	}
	if len(lines) == 0 {
		return err
	}
	return fmt.Errorf("%w; its last words:\n%s", err, strings.Join(lines, "\n"))
}
