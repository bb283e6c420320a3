package server

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/fault"
	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/web"
)

// welcome is what a browser sees that was not let in.
//
//go:embed welcome.html
var welcome []byte

// The page's files are few and small: each is served whole, with a tag of its
// content, from the binary only.
func (s *Server) assets() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, "/")
		if !fs.ValidPath(name) { // ".." and the like
			http.NotFound(w, r)
			return
		}
		serveFile(w, r, name)
	})
}

func (s *Server) index(w http.ResponseWriter, r *http.Request) {
	if s.auth.hasCookie(r) {
		serveFile(w, r, "index.html")
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(http.StatusUnauthorized)
	_, _ = w.Write(welcome) // the client is gone
}

func serveFile(w http.ResponseWriter, r *http.Request, name string) {
	data, err := web.Read(path.Clean(name))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	kind := mime.TypeByExtension(path.Ext(name))
	if own, ok := mimeTypes[path.Ext(name)]; ok {
		kind = own // the system's table may say otherwise
	}
	sum := sha256.Sum256(data)
	tag := `"` + hex.EncodeToString(sum[:8]) + `"`
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("ETag", tag)
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	// An error means that the client is gone.
	_, _ = w.Write(data) // #nosec G705 -- embedded files, found by their names
}

var mimeTypes = map[string]string{
	".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8",
	".svg": "image/svg+xml", ".json": "application/json", ".webmanifest": "application/manifest+json", ".woff2": "font/woff2",
}

// unavailable gives the code of a plugin that went away in the middle of a call.
func unavailable(err error) error {
	if status.Code(err) == codes.Unavailable {
		return fault.Errorf(fault.PluginUnavailable, "the plugin ended meanwhile and is being started again")
	}
	return err
}
