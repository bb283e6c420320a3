// Package modelstub is an OpenAI-compatible model for tests: it streams
// "echo: <last user text>", records every request and can be made slow or failing.
package modelstub

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Request is one recorded call of the model.
type Request struct {
	At   time.Time
	Path string
	// Body is the request's JSON, byte for byte.
	Body []byte
	// Texts are all strings of the body, unescaped: what the model could read.
	Texts []string
	// Images counts the image parts of the messages.
	Images int
}

// Stub is a running model. Its methods are safe for concurrent use.
type Stub struct {
	listener net.Listener
	server   *http.Server
	done     chan struct{}

	mu       sync.Mutex
	requests []Request
	delay    time.Duration
	status   int
}

// Start listens on a free port of the loopback interface.
func Start() (*Stub, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("model stub: %w", err)
	}
	s := &Stub{listener: listener, done: make(chan struct{})}
	s.server = &http.Server{Handler: http.HandlerFunc(s.serve), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(s.done)
		// Serve always returns an error; after Close it is ErrServerClosed.
		_ = s.server.Serve(listener)
	}()
	return s, nil
}

// URL is the base URL to configure; calls go to URL/chat/completions.
func (s *Stub) URL() string { return "http://" + s.listener.Addr().String() }

// Close ends open streams and waits for the server.
func (s *Stub) Close() error {
	err := s.server.Close()
	<-s.done
	return err
}

// SetDelay makes every later answer wait before its first text.
func (s *Stub) SetDelay(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.delay = d
}

// SetStatus makes every later call fail with an HTTP status; 0 or 200 answers again.
func (s *Stub) SetStatus(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status = status
}

// Requests are all calls so far, oldest first.
func (s *Stub) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Seen counts the requests in which some string contains text.
func (s *Stub) Seen(text string) int {
	count := 0
	for _, request := range s.Requests() {
		for _, t := range request.Texts {
			if strings.Contains(t, text) {
				count++
				break
			}
		}
	}
	return count
}

func (s *Stub) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, "unreadable body", http.StatusBadRequest)
		return
	}
	var call chatCall
	var whole any
	if json.Unmarshal(body, &call) != nil || json.Unmarshal(body, &whole) != nil {
		http.Error(w, "not JSON", http.StatusBadRequest)
		return
	}
	request := Request{At: time.Now(), Path: r.URL.Path, Body: body, Texts: stringsOf(whole, nil), Images: call.images()}
	s.mu.Lock()
	s.requests = append(s.requests, request)
	delay, status := s.delay, s.status
	s.mu.Unlock()

	if !strings.HasSuffix(r.URL.Path, "/chat/completions") {
		http.NotFound(w, r)
		return
	}
	if status != 0 && status != http.StatusOK {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `{"error":{"message":"the stub was told to fail"}}`)
		return
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.Context().Done():
		return
	}
	stream(w, call)
}
