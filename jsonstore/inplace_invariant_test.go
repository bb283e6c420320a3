package jsonstore

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Invariant 14: a file that someone changed keeps nothing from us by having the
// size and the time that ours had: one changed in place is told by its first
// bytes, one renamed into place by being another file.
func TestChangeOfSameSizeAndTimeIsSeen(t *testing.T) {
	for how, change := range map[string]func(path, data string){
		"in place": func(path, data string) {
			if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"by rename": func(path, data string) { write(t, path, data) },
	} {
		path := filepath.Join(t.TempDir(), "list.json")
		s := open(t, quiet(path))
		mustAdd(t, s, "one")
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		change(path, strings.Replace(read(t, path), "one", "two", 1))
		if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
			t.Fatal(err)
		}
		if err := s.Refresh(t.Context()); err != nil || words(s) != "two" {
			t.Errorf("%s: %q, %v", how, words(s), err)
		}
	}
}

// A change in place behind the first bytes is told by the size or by the time.
func TestChangeBehindTheHeadIsSeen(t *testing.T) {
	long := strings.Repeat("x", 2*headBytes)
	for name, test := range map[string]struct {
		change func(data string) string
		later  time.Duration
	}{
		"size": {func(data string) string { return strings.Replace(data, `"]`, `","two"]`, 1) }, 0},
		"time": {func(data string) string { return strings.Replace(data, `x"]`, `y"]`, 1) }, time.Nanosecond},
	} {
		path := filepath.Join(t.TempDir(), "list.json")
		s := open(t, quiet(path))
		mustAdd(t, s, long)
		info, err := os.Stat(path)
		must(t, err)
		must(t, os.WriteFile(path, []byte(test.change(read(t, path))), 0o600))
		at := info.ModTime().Add(test.later)
		must(t, os.Chtimes(path, at, at))
		must(t, s.Refresh(t.Context()))
		if words(s) == long {
			t.Errorf("another %s is not seen", name)
		}
	}
}
