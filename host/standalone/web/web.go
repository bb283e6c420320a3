// Package web is the page of the standalone host: plain files, embedded into the
// binary, without a build step. Call [Files]; the API that the page talks to is
// described in host/standalone/API.md.
package web

import (
	"embed"
	"io/fs"
)

//go:embed index.html assets
var files embed.FS

// Files holds index.html, which belongs at the host's root, and assets/, which
// belongs at /assets/. The files name each other by those paths.
func Files() fs.FS { return files }
