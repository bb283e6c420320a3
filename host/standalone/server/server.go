// Package server is the standalone host's HTTP side (API.md): the page, the JSON
// routes and the stream of events. Make it with [New] and run it with
// [Server.Serve]. It decides nothing about drafts or sessions.
package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/agent"
	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/bridge"
	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/sessions"
	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/workspaces"
	pb "github.com/draft-sessions/dsh-draft-sessions/shared/proto/draftsessionsv1"
)

// Deadlines and limits.
const (
	headerWithin = 10 * time.Second
	readWithin   = time.Minute
	answerWithin = 2 * time.Minute
	idleWithin   = 2 * time.Minute
	maxHeader    = 64 << 10
	// maxBody bounds a request's body, in bytes.
	maxBody = 4 << 20
	// stopWithin is how long requests may take to end when the host ends.
	stopWithin = 5 * time.Second
)

// Drafts is the connection to the plugin.
type Drafts interface {
	Client() (pb.DraftSessionsClient, error)
	State() bridge.State
	Sidebar() *pb.Sidebar
	DraftSessions() map[string]bool
}

// Agents are the agents that may be chosen.
type Agents interface {
	All() []agent.Description
	Default() string
}

// Options configure [New].
type Options struct {
	// Hosts are the names, with port, by which the server may be called.
	Hosts []string
	// CookieKey signs the cookies; Token lets programs in.
	CookieKey []byte
	Token     string
	Instance  string
	Version   string

	Sessions   *sessions.Store
	Workspaces *workspaces.List
	Drafts     Drafts
	Agents     Agents
	Hub        *Hub
	Log        hclog.Logger
}

// Server answers requests.
type Server struct {
	opts Options
	auth *auth
	http *http.Server
}

// New makes a server.
func New(o Options) *Server {
	s := &Server{opts: o, auth: newAuth(o.CookieKey, o.Token)}
	s.http = &http.Server{
		Handler:           s.handler(),
		ReadHeaderTimeout: headerWithin,
		ReadTimeout:       readWithin,
		WriteTimeout:      answerWithin, // a stream of events extends its own
		IdleTimeout:       idleWithin,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          o.Log.StandardLogger(&hclog.StandardLoggerOptions{ForceLevel: hclog.Debug}),
	}
	return s
}

// Serve serves until ctx ends; then it ends the streams and waits for requests.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	served := make(chan error, 1)
	go func() { served <- s.http.Serve(listener) }()
	select {
	case err := <-served:
		return fmt.Errorf("serving: %w", err)
	case <-ctx.Done():
	}
	s.opts.Hub.Close()
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopWithin)
	defer cancel()
	err := s.http.Shutdown(stop)
	if err != nil {
		err = errors.Join(err, s.http.Close())
	}
	<-served
	return err
}

// NewLink is a path with a key that lets one browser in, once, within ten minutes.
func (s *Server) NewLink() string { return "/enter?key=" + s.auth.newKey() }

// route is one route of the API, for somebody who was let in.
type route func(r *http.Request) (any, error)

func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /enter", s.enter)
	mux.HandleFunc("GET /api/health", s.health)
	mux.HandleFunc("GET /api/events", s.let(s.events))
	for pattern, handle := range s.routes() {
		mux.HandleFunc(pattern, s.let(s.answer(handle)))
	}
	mux.HandleFunc("/api/", s.let(func(w http.ResponseWriter, _ *http.Request) { s.fail(w, errNoRoute) }))
	mux.Handle("GET /assets/", s.assets())
	mux.Handle("GET /page/", s.assets())
	mux.HandleFunc("GET /{$}", s.index)
	return s.guard(mux)
}

func (s *Server) routes() map[string]route {
	routes := map[string]route{
		"GET /api/state":                                s.state,
		"GET /api/agents":                               s.agents,
		"POST /api/links":                               s.link,
		"POST /api/events/{stream}/follow":              s.follow,
		"GET /api/folders":                              s.folders,
		"POST /api/workspaces":                          s.addWorkspace,
		"PATCH /api/workspaces/{id}":                    s.renameWorkspace,
		"DELETE /api/workspaces/{id}":                   s.removeWorkspace,
		"PUT /api/workspaces/order":                     s.orderWorkspaces,
		"GET /api/sessions":                             s.listSessions,
		"POST /api/sessions":                            s.createSession,
		"GET /api/sessions/{id}":                        s.getSession,
		"PATCH /api/sessions/{id}":                      s.updateSession,
		"POST /api/sessions/{id}/archive":               s.moveSession(s.opts.Sessions.Archive),
		"POST /api/sessions/{id}/restore":               s.moveSession(s.opts.Sessions.Restore),
		"POST /api/sessions/{id}/trash":                 s.moveSession(s.opts.Sessions.Trash),
		"POST /api/sessions/{id}/untrash":               s.moveSession(s.opts.Sessions.Untrash),
		"POST /api/sessions/{id}/cancel":                s.moveSession(s.opts.Sessions.Cancel),
		"POST /api/sessions/{id}/prompts":               s.prompt,
		"POST /api/sessions/{id}/permissions/{request}": s.permission,
		"GET /api/submissions/{id}":                     s.submission,
		"POST /api/drafts/send":                         s.sendDraft,
	}
	for operation, handle := range s.draftOperations() {
		routes["POST /api/drafts/"+operation] = handle
	}
	return routes
}

// isLoopback tells whether a listener's address can be reached from this machine only.
func isLoopback(address string) bool {
	name, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(name)
	return ip != nil && ip.IsLoopback() || strings.EqualFold(name, "localhost")
}

// Names are the names, with port, by which a listener on that address may be
// called; more are those that the person added.
func Names(address net.Addr, more []string) []string {
	_, port, err := net.SplitHostPort(address.String())
	if err != nil {
		return more
	}
	names := []string{address.String()}
	if isLoopback(address.String()) {
		for _, name := range []string{"127.0.0.1", "localhost", "::1"} {
			names = append(names, net.JoinHostPort(name, port))
		}
	}
	for _, name := range more { // with our port, or behind a proxy without
		names = append(names, net.JoinHostPort(name, port), name)
	}
	return names
}
