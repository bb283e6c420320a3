// Package standalone runs the real binary as the standalone host for tests that look
// at its page: [Build] once, [New] for a home, [Host.Start] and [Host.Kill] as often
// as the story needs; [Host.Link] lets a browser in and [Host.Call] is a program's
// way in.
package standalone

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	hosthome "github.com/draft-sessions/dsh-draft-sessions/host/standalone/home"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/processes"
)

const (
	// startPatience bounds a start, stopPatience an orderly end.
	startPatience = 60 * time.Second
	stopPatience  = 30 * time.Second
	poll          = 20 * time.Millisecond
)

// Build builds the command of the checkout at source into dir.
func Build(ctx context.Context, source, dir string) (binary string, err error) {
	binary = filepath.Join(dir, "draft-sessions")
	cmd := exec.CommandContext(ctx, "go", "build", "-o", binary, "./cmd/draft-sessions")
	cmd.Dir = source
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build draft-sessions: %w\n%s", err, out)
	}
	return binary, nil
}

// Host is one home of the standalone host and, between Start and Kill, its process.
// It must not be used from two goroutines at once.
type Host struct {
	// Dir is the home.
	Dir string
	// Folder is the folder of its first workspace.
	Folder string
	// Agent is what --agent is given; echo when empty.
	Agent string
	// Flags are further flags of the command.
	Flags []string

	binary, listen string
	process        *exec.Cmd
	output         bytes.Buffer
	ended          chan error
	found          hosthome.Registration
}

// New makes a home and a workspace folder below dir, on a port that stays the same
// through restarts, as a person's browser keeps its storage by it.
func New(binary, dir string) (*Host, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("find a port: %w", err)
	}
	h := &Host{Dir: filepath.Join(dir, "home"), Folder: filepath.Join(dir, "web-shop"), binary: binary, listen: listener.Addr().String()}
	return h, errors.Join(listener.Close(), os.MkdirAll(h.Folder, 0o755))
}

// Start starts the host and waits until it answers.
func (h *Host) Start(ctx context.Context) error {
	h.output.Reset()
	// Not bound to ctx: the process ends with Kill or Stop only.
	flags := append([]string{"up", "--no-open", "--home", h.Dir, "--listen", h.listen, "--agent", cmp.Or(h.Agent, "echo")}, h.Flags...)
	h.process = exec.Command(h.binary, append(flags, h.Folder)...)
	h.process.Stdout, h.process.Stderr = &h.output, &h.output
	h.process.Env = append(os.Environ(), "DRAFT_SESSIONS_HOME="+h.Dir)
	if err := h.process.Start(); err != nil {
		return fmt.Errorf("start the host: %w", err)
	}
	ended := make(chan error, 1)
	process := h.process
	go func() { ended <- process.Wait() }()
	deadline := time.After(startPatience)
	for {
		found, err := hosthome.Find(ctx, h.Dir)
		if err == nil && found.PID == process.Process.Pid && h.drafts(ctx, found) {
			h.found = found
			h.ended = ended
			return nil
		}
		select {
		case err := <-ended:
			return fmt.Errorf("the host ended: %w\n%s", err, h.output.String())
		case <-deadline:
			return errors.Join(fmt.Errorf("the host does not answer: %w", err), process.Process.Kill())
		case <-time.After(poll):
		}
	}
}

// drafts is whether the plugin is there.
func (h *Host) drafts(ctx context.Context, found hosthome.Registration) bool {
	h.found = found
	var state struct {
		Plugin struct{ Mode, Epoch string }
	}
	return h.Call(ctx, http.MethodGet, "/api/state", nil, &state) == nil && state.Plugin.Mode == "full" && state.Plugin.Epoch != ""
}

// Kill ends the host as a power cut does, and waits for it.
func (h *Host) Kill() error { return h.end(syscall.SIGKILL) }

// Stop ends the host as Ctrl+C does, and waits for it.
func (h *Host) Stop() error { return h.end(syscall.SIGINT) }

func (h *Host) end(signal syscall.Signal) error {
	if h.process == nil {
		return nil
	}
	if err := h.process.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("end the host: %w", err)
	}
	select {
	case <-h.ended:
		h.process = nil
		return nil
	case <-time.After(stopPatience):
		return errors.Join(errors.New("the host does not end"), h.process.Process.Kill())
	}
}

// Run runs the command for this home in the workspace's folder and gives what it prints.
func (h *Host) Run(ctx context.Context, stdin string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, h.binary, append(args, "--home", h.Dir)...)
	cmd.Dir, cmd.Stdin = h.Folder, strings.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("draft-sessions %s: %w\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return string(out), err
}

// Running is whether its process is there.
func (h *Host) Running() bool {
	if h.process == nil {
		return false
	}
	select {
	case err := <-h.ended:
		h.ended <- err
		return false
	default:
		return true
	}
}

// Pid is the process that Start started.
func (h *Host) Pid() int { return h.process.Process.Pid }

// DraftFile is the path of the home's draft file.
func (h *Host) DraftFile() string {
	return filepath.Join(h.Dir, "storages", "dsh-draft-sessions", "drafts.json")
}

// Document reads the draft file as it lies on disk.
func (h *Host) Document() (document shared.Document, err error) {
	raw, err := os.ReadFile(h.DraftFile())
	if err != nil {
		return document, err
	}
	if err := json.Unmarshal(raw, &document); err != nil {
		return document, fmt.Errorf("read %s: %w", h.DraftFile(), err)
	}
	return document, nil
}

// URL is where the page is.
func (h *Host) URL() string { return "http://" + h.listen + "/" }

// Link is a new one-time link to the page.
func (h *Host) Link(ctx context.Context) (string, error) {
	var answer struct{ URL string }
	err := h.Call(ctx, http.MethodPost, "/api/links", struct{}{}, &answer)
	return answer.URL, err
}

// Call asks the API as a program of the same user does; in and out may be nil.
func (h *Host) Call(ctx context.Context, method, path string, in, out any) error {
	var body io.Reader
	if in != nil {
		raw, err := json.Marshal(in)
		if err != nil {
			return fmt.Errorf("%s %s: %w", method, path, err)
		}
		body = bytes.NewReader(raw)
	}
	request, err := http.NewRequestWithContext(ctx, method, h.found.Address+path, body)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	request.Header.Set("Authorization", "Bearer "+h.found.Token)
	request.Header.Set("Content-Type", "application/json")
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	if response.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %s %s", method, path, response.Status, raw)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(raw, out)
}

// Draft makes a draft in a workspace and gives its id.
func (h *Host) Draft(ctx context.Context, workspaceID, text string) (string, error) {
	var draft struct{ ID string }
	err := h.Call(ctx, http.MethodPost, "/api/drafts/create", map[string]string{"workspaceId": workspaceID, "text": text}, &draft)
	return draft.ID, err
}

// Texts are the texts of all drafts on disk, by id.
func (h *Host) Texts(ctx context.Context) (map[string]string, error) {
	var list struct {
		Drafts []struct{ ID, Text string }
	}
	err := h.Call(ctx, http.MethodPost, "/api/drafts/list", struct{}{}, &list)
	texts := map[string]string{}
	for _, d := range list.Drafts {
		texts[d.ID] = d.Text
	}
	return texts, err
}

// Workspace is the id of the first workspace.
func (h *Host) Workspace(ctx context.Context) (string, error) {
	var state struct{ Workspaces []struct{ ID string } }
	if err := h.Call(ctx, http.MethodGet, "/api/state", nil, &state); err != nil {
		return "", err
	}
	if len(state.Workspaces) == 0 {
		return "", errors.New("the host has no workspace")
	}
	return state.Workspaces[0].ID, nil
}

// PluginPids are the plugin processes of this home, whoever their parent is now.
func (h *Host) PluginPids() []int { return processes.Plugins(h.DraftFile()) }

// KillPlugin kills the host's plugin process; the host starts another one.
func (h *Host) KillPlugin() error {
	pids := h.PluginPids()
	if len(pids) != 1 {
		return fmt.Errorf("kill the plugin: %d processes found", len(pids))
	}
	return syscall.Kill(pids[0], syscall.SIGKILL)
}
