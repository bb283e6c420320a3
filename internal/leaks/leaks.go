// Package leaks holds a whole test suite to invariant 11: no log or error holds
// draft text. Tests register the texts that they write ([Suite.Secret]) and the
// logs that were written meanwhile; when the last test has run, [Suite.Check]
// searches all of them. Only tests use it.
package leaks

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

const (
	// minSecret is how long a line of a text must be to be told from a log's own words.
	minSecret = 10
	// maxNeedle is how much of it is searched for: a log may cut what it holds.
	maxNeedle = 24
	// shown is how much of a log is in an error around what was found.
	shown = 120
)

// Suite collects. The zero value is ready; its methods may be called from any goroutine.
type Suite struct {
	mu      sync.Mutex // guards what follows
	needles map[string]struct{}
	logs    []source
	texts   int
}

type source struct {
	name string
	data []byte
}

// Secret registers texts of drafts that no log may hold. Each line of at least ten
// bytes is searched for by its beginning, as it is and as JSON writes it.
func (s *Suite) Secret(texts ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.needles == nil {
		s.needles = map[string]struct{}{}
	}
	for _, text := range texts {
		s.texts++
		for line := range strings.Lines(text) {
			line = strings.TrimSpace(line)
			if len(line) < minSecret {
				continue
			}
			s.needles[begin(line)] = struct{}{}
			if escaped, err := json.Marshal(line); err == nil {
				s.needles[begin(strings.Trim(string(escaped), `"`))] = struct{}{}
			}
		}
	}
}

func begin(line string) string {
	end := min(len(line), maxNeedle)
	for end < len(line) && !utf8.RuneStart(line[end]) {
		end--
	}
	return line[:end]
}

// Log is a writer whose content is searched, named in what Check says.
func (s *Suite) Log(name string) io.Writer { return &writer{s, name} }

type writer struct {
	suite *Suite
	name  string
}

func (w *writer) Write(p []byte) (int, error) {
	w.suite.add(w.name, slices.Clone(p))
	return len(p), nil
}

// Errors registers the texts of errors.
func (s *Suite) Errors(name string, errs ...error) {
	for _, err := range errs {
		if err != nil {
			s.add(name, []byte(err.Error()+"\n"))
		}
	}
}

// Add registers a log by its content.
func (s *Suite) add(name string, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.logs); n > 0 && s.logs[n-1].name == name {
		s.logs[n-1].data = append(s.logs[n-1].data, data...)
		return
	}
	s.logs = append(s.logs, source{name, data})
}

// Folder registers every log file below a folder (*.log, and rotated ones), apart
// from what npm packages bring, and tells how many there are.
func (s *Suite) Folder(name, root string) (files int, err error) {
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // removed while walking
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == "node_modules":
			return fs.SkipDir
		case entry.IsDir() || !strings.Contains(entry.Name(), ".log"):
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("read a log: %w", err)
		}
		files++
		s.add(name+" "+entry.Name(), data)
		return nil
	})
	return files, err
}

// Check searches all logs for all secrets. Each of seen must be in some log, and there
// must be a secret, so that a suite that collects nothing does not pass; a run of
// some tests only names none.
func (s *Suite) Check(seen ...string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var problems []error
	if s.texts == 0 && len(seen) > 0 {
		problems = append(problems, errors.New("no text was registered"))
	}
	for _, want := range seen {
		if !slices.ContainsFunc(s.logs, func(l source) bool { return bytes.Contains(l.data, []byte(want)) }) {
			problems = append(problems, fmt.Errorf("no log has %q: the logs were not collected", want))
		}
	}
	for _, log := range s.logs {
		for needle := range s.needles {
			if at := bytes.Index(log.data, []byte(needle)); at >= 0 {
				from, to := max(0, at-shown), min(len(log.data), at+shown)
				problems = append(problems, fmt.Errorf("invariant 11: the log of %s holds the draft text %q, near %q", log.name, needle, log.data[from:to]))
			}
		}
	}
	return errors.Join(problems...)
}

// String tells how much was searched.
func (s *Suite) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	size := 0
	for _, log := range s.logs {
		size += len(log.data)
	}
	return fmt.Sprintf("%d texts of drafts searched for in %d bytes of logs", s.texts, size)
}
