package web

import (
	"errors"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	html, err := Read("index.html")
	if err != nil {
		t.Fatal(err)
	}
	// Everything that the first file names is there.
	for _, match := range regexp.MustCompile(`(?:href|src)="/([^"]+)"`).FindAllStringSubmatch(string(html), -1) {
		if !slices.Contains(Names(), match[1]) {
			t.Errorf("index.html names %s, which is not there", match[1])
		}
	}
	for _, name := range []string{"", ".", "..", "assets", "web.go", "../web.go", "assets/../index.html", "types/api.d.ts", "page", "page/page.go", "line.js"} {
		if _, err := Read(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Read(%q): %v, want fs.ErrNotExist", name, err)
		}
	}
}

// The content security policy forbids scripts and styles inside the markup.
func TestNothingInline(t *testing.T) {
	html, err := Read("index.html")
	if err != nil {
		t.Fatal(err)
	}
	if found := regexp.MustCompile(`(?i)<style|\sstyle=|\son\w+=|<script(?:\s[^>]*)?>[^<]`).FindString(string(html)); found != "" {
		t.Errorf("index.html has %q", found)
	}
}

func TestBare(t *testing.T) {
	source := "/** What it is. */\nimport x from 'y' // here\n/**\n * @param {string} a\n */\nexport function f(a) {\n  // why\n  return a /* b */ + 'b'\n}\n/** @type {X} */ (a).b()\n"
	want := "\nimport x from 'y' // here\n\n\n\nexport function f(a) {\n\nreturn a + 'b'\n}\n(a).b()\n"
	if got := string(bare([]byte(source))); got != want {
		t.Errorf("bare:\n%s\nwant:\n%s", got, want)
	}
	for _, name := range Names() {
		data, err := Read(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, ".js") && strings.Contains(string(data), "\n/**\n") {
			t.Errorf("%s is served with its comments", name)
		}
	}
}
