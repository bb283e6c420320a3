// Package web is the page of the standalone host: plain files, embedded into the
// binary, without a build step. Call [Read]; the API that the page talks to is
// described in host/standalone/API.md.
package web

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/draft-sessions/dsh-draft-sessions/host/page"
)

//go:embed index.html assets
var sources embed.FS

// Read gives a file of the page: index.html, which belongs at the host's root, or
// one of assets/ or page/ (package page), which belong at /assets/ and /page/; the
// files name each other by those paths. The error is fs.ErrNotExist for any other
// name. Comments and indentation of scripts and styles are left out, so that only a
// reader of the sources pays for them; each line keeps its number.
func Read(name string) ([]byte, error) {
	data, ok := files()[name]
	if !ok {
		return nil, fmt.Errorf("read %s of the page: %w", name, fs.ErrNotExist)
	}
	return data, nil
}

// Names are the names that [Read] knows, sorted.
func Names() []string { return slices.Sorted(maps.Keys(files())) }

var files = sync.OnceValue(func() map[string][]byte {
	served := map[string][]byte{}
	for under, folder := range map[string]embed.FS{"": sources, "page": page.Files} {
		err := fs.WalkDir(folder, ".", func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			data, err := folder.ReadFile(name)
			switch path.Ext(name) {
			case ".js":
				data = bare(data)
			case ".css":
				data = []byte(tight.Replace(string(bare(data))))
			}
			served[path.Join(under, name)] = data
			return err
		})
		if err != nil {
			panic("web: the embedded files cannot be read: " + err.Error()) // they are part of the binary
		}
	}
	return served
})

// inline is a type or a remark within a line.
var inline = regexp.MustCompile(`/\*\*? [^*]*\*/ ?`)

// tight drops the spaces of a stylesheet, which has them in declarations only.
var tight = strings.NewReplacer(": ", ":", " { ", "{", " {\n", "{\n", "; }", "}", "; ", ";", " }", "}", ", ", ",")

// bare drops what only a reader of the sources needs: comments and indentation. A
// string that goes over several lines or looks like a comment would be changed; a
// test sees to it that there is none.
func bare(script []byte) []byte {
	var out bytes.Buffer
	comment := false
	for line := range strings.Lines(string(script)) {
		code := strings.TrimSpace(line)
		switch {
		case comment:
			comment = !strings.HasSuffix(code, "*/")
			code = ""
		case strings.HasPrefix(code, "/*") && !strings.Contains(code, "*/"):
			comment = true
			code = ""
		case strings.HasPrefix(code, "//"), strings.HasPrefix(code, "/*") && strings.HasSuffix(code, "*/"):
			code = ""
		default:
			code = inline.ReplaceAllString(code, "")
		}
		out.WriteString(code)
		out.WriteByte('\n')
	}
	return out.Bytes()
}
