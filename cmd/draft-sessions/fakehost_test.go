package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/draft-sessions/dsh-draft-sessions/host"
	"github.com/draft-sessions/dsh-draft-sessions/plugin/drafts"
	pb "github.com/draft-sessions/dsh-draft-sessions/shared/proto/draftsessionsv1"
)

// fakehost DIR FOLDER...: a host with the workspaces of the folders, its files in
// DIR. It writes "ready" when a command may come and a line for each prompt to
// "prompts". What "mode" holds decides what becomes of prompts: refuse, mute
// (admitted, and never written), hang (admitted, and never answered).
func fakehost() {
	if err := runFakehost(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "fakehost:", err)
		os.Exit(1)
	}
}

func runFakehost(dir string, folders []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	binary, err := exec.LookPath("draft-sessions")
	if err != nil {
		return err
	}
	s := &memory{dir: dir, sessions: map[string]*conversation{}}
	for i, folder := range folders {
		real, err := filepath.EvalSymlinks(folder)
		if err != nil {
			return err
		}
		s.workspaces = append(s.workspaces, &pb.Workspace{WorkspaceId: fmt.Sprintf("w%d", i+1), Path: real})
	}
	p, err := host.Launch(ctx, host.Options{Binary: binary, Store: drafts.PathIn(os.Getenv("DRAFT_SESSIONS_HOME")), Sessions: s, Name: "test", Version: "1", StartTimeout: time.Minute})
	if err != nil {
		return err
	}
	defer p.Close()
	// The entry of the control socket is there once the host channel is open.
	if err := os.WriteFile(filepath.Join(dir, "ready"), fmt.Appendln(nil, p.Pid()), 0o600); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
	case <-p.Gone():
		return fmt.Errorf("the plugin ended")
	}
	return nil
}

// memory are a host's sessions, in memory: these stories are about the command.
// smoketest tells them with the real DSH.
type memory struct {
	dir string

	mu         sync.Mutex // guards what follows
	workspaces []*pb.Workspace
	sessions   map[string]*conversation
}

type conversation struct {
	messages []*pb.UserMessage
	answer   string
}

func (m *memory) CreateSession(_ context.Context, call *pb.CreateSession) (*pb.CreateSessionResult, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, w := range m.workspaces {
		if w.WorkspaceId == call.WorkspaceId {
			if m.sessions[call.SessionId] == nil {
				m.sessions[call.SessionId] = &conversation{}
				w.SessionIds = append(w.SessionIds, call.SessionId)
			}
			return &pb.CreateSessionResult{SessionId: call.SessionId}, nil
		}
	}
	return nil, &host.Refusal{Code: "workspace-not-found", Message: "no such workspace"}
}

func (m *memory) ListWorkspaces(context.Context) (*pb.ListWorkspacesResult, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := &pb.ListWorkspacesResult{}
	for _, w := range m.workspaces {
		out.Workspaces = append(out.Workspaces, &pb.Workspace{WorkspaceId: w.WorkspaceId, Path: w.Path, SessionIds: slices.Clone(w.SessionIds)})
	}
	return out, nil
}

func (m *memory) ReadSession(_ context.Context, id string) (*pb.ReadSessionResult, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.sessions[id]
	if c == nil {
		return &pb.ReadSessionResult{}, nil
	}
	return &pb.ReadSessionResult{Exists: true, UserMessages: slices.Clone(c.messages)}, nil
}

func (m *memory) FlushSession(context.Context, string) error { return nil }

func (m *memory) ApplySettings(context.Context, *pb.ApplySettings) error { return nil }

// SendPrompt writes every prompt that it is asked to admit, so that a second one
// would be seen.
func (m *memory) SendPrompt(ctx context.Context, call *pb.SendPrompt) error {
	mode, _ := os.ReadFile(filepath.Join(m.dir, "mode")) // Without one all goes well.
	if strings.Contains(string(mode), "refuse") {
		return &host.Refusal{Code: "agent-busy", Message: "not now"}
	}
	log, err := os.OpenFile(filepath.Join(m.dir, "prompts"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(log, "%s %q\n", call.PromptId, call.Text); err != nil {
		return err
	}
	if err := log.Close(); err != nil {
		return err
	}
	switch {
	case strings.Contains(string(mode), "mute"):
		return nil
	case strings.Contains(string(mode), "hang"):
		<-ctx.Done()
		return ctx.Err()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.sessions[call.SessionId]
	c.messages = append(c.messages, &pb.UserMessage{Seq: int64(len(c.messages) + 1), PromptId: call.PromptId})
	c.answer = "You said: " + call.Text
	return nil
}

// ReadAnswer hands the answer out in pieces of five bytes.
func (m *memory) ReadAnswer(_ context.Context, call *pb.ReadAnswerRequest) (*pb.ReadAnswerResult, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	rest := m.sessions[call.SessionId].answer[call.AfterSeq:]
	piece := rest[:min(5, len(rest))]
	r := &pb.ReadAnswerResult{Text: piece, NextSeq: call.AfterSeq + int64(len(piece)), Done: len(piece) == len(rest)}
	if r.Done {
		r.Outcome = "completed"
		if strings.Contains(rest, "fail") {
			r.Outcome, r.Message = "failed", "no key"
		}
	}
	return r, nil
}
