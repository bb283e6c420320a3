package leaks

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCheckFindsWhatIsThere(t *testing.T) {
	long := "first line of it\nshort\na second line that is rather long, \"quoted\" & more"
	for name, write := range map[string]func(*Suite){
		"as it is": func(s *Suite) { _, _ = fmt.Fprintln(s.Log("a"), "saved first line of it") },
		"as JSON":  func(s *Suite) { _, _ = fmt.Fprintln(s.Log("a"), `{"text":"\"quoted\" \u0026 first"}`) },
		"cut off":  func(s *Suite) { _, _ = fmt.Fprintln(s.Log("a"), "a second line that is rat...") },
		"in two writes": func(s *Suite) {
			w := s.Log("a")
			_, _ = w.Write([]byte("first li"))
			_, _ = w.Write([]byte("ne of it"))
		},
		"in an error": func(s *Suite) { s.Errors("b", nil, errors.New("not saved: first line of it")) },
		"in a file":   func(s *Suite) { inFile(t, s, "first line of it") },
	} {
		t.Run(name, func(t *testing.T) {
			var s Suite
			s.Secret(long, `"quoted" & first`)
			write(&s)
			if err := s.Check(); err == nil || !strings.Contains(err.Error(), "invariant 11") {
				t.Errorf("says %v", err)
			}
		})
	}
}

func TestCheckPassesOnlyWhatItHasSeen(t *testing.T) {
	var s Suite
	if err := s.Check("reconciled"); err == nil || !strings.Contains(err.Error(), "no text") {
		t.Error("a suite without a text passes")
	}
	s.Secret("short", "the text of a draft")
	_, _ = fmt.Fprintln(s.Log("a"), "short: reconciled")
	inFile(t, &s, "started")
	if err := s.Check("reconciled", "started"); err != nil {
		t.Error(err)
	}
	if err := s.Check("stopped"); err == nil {
		t.Error("a log that was never seen is not missed")
	}
}

func inFile(t *testing.T, s *Suite, text string) {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{"host.log.1": text, "drafts.json": "the text of a draft"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := s.Folder("home", dir); n != 1 || err != nil {
		t.Fatalf("%d files, %v", n, err)
	}
}
