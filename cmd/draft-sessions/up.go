package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/draft-sessions/dsh-draft-sessions/host/standalone"
	hosthome "github.com/draft-sessions/dsh-draft-sessions/host/standalone/home"
)

const (
	// draftsWithin is how long the link is held back for the plugin's first answer.
	draftsWithin = 15 * time.Second
	maxLog       = 4 << 20
)

const upHelp = `Start the standalone host with its page, and print a link that lets one browser in. Ctrl+C ends it. When a host of that home runs already, a new link to it is printed.

Everything is kept in the home. The page can be reached from this machine only, unless --listen says otherwise.

Agents: echo (offline), openai (any OpenAI-compatible endpoint; the key comes from OPENAI_API_KEY, DEEPSEEK_API_KEY or --key-file), acp:<command line> (any program that speaks the Agent Client Protocol). See docs/standalone.md.`

type upCmd struct {
	Folders  []string `arg:"" optional:"" type:"existingdir" help:"Folders to add to the workspaces; the current one when there is none yet."`
	Home     string   `env:"DRAFT_SESSIONS_HOME" placeholder:"DIR" help:"The host's home (default: draft-sessions in the user's data folder)."`
	Listen   string   `placeholder:"ADDRESS" help:"Where to serve (default: 127.0.0.1:7737, or a free port)."`
	Name     []string `placeholder:"NAME" help:"A further name by which the page may be called, for --listen on another interface."`
	Agent    string   `placeholder:"AGENT" help:"echo, openai or acp:<command line> (default: openai when there is a key, else echo)."`
	BaseURL  string   `placeholder:"URL" help:"The endpoint of the openai agent."`
	Model    string   `placeholder:"MODEL" help:"The default model of the openai agent."`
	KeyFile  string   `type:"existingfile" placeholder:"FILE" help:"A file with the key of the openai agent."`
	NoOpen   bool     `help:"Do not open a browser."`
	LogLevel string   `default:"info" enum:"trace,debug,info,warn,error" help:"How much goes into the home's host.log."`
	JSON     bool     `help:"Print one JSON object as soon as the page can be opened."`
}

// upped is what up --json prints.
type upped struct {
	// Outcome is started, or running when a host of the home ran already.
	Outcome string `json:"outcome"`
	// Home is the folder, Link lets one browser in, once.
	Home string `json:"home"`
	Link string `json:"link"`
	// Process is that of the host.
	Process int `json:"process"`
	// Warning is why there are no drafts yet, "" when there are.
	Warning string `json:"warning"`
}

// Help is shown by kong below the usage.
func (upCmd) Help() string { return upHelp }

func (c upCmd) Run() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return c.run(ctx, os.Stdout)
}

func (c upCmd) run(ctx context.Context, out io.Writer) error {
	dir, err := c.home()
	if err != nil {
		return err
	}
	binary, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program: %w", err)
	}
	log, closeLog, err := c.log(dir)
	if err != nil {
		return err
	}
	defer closeLog()
	host, err := standalone.Start(ctx, standalone.Options{
		Home: dir, Binary: binary, Version: version, Listen: c.Listen, Names: c.Name, Folders: c.folders(dir), Log: log,
		Agents: standalone.AgentOptions{Agent: c.Agent, BaseURL: c.BaseURL, Model: c.Model, KeyFile: c.KeyFile},
	})
	var inUse *hosthome.InUseError
	if errors.As(err, &inUse) {
		return c.join(ctx, out, dir, inUse)
	}
	if err != nil {
		return err
	}
	waiting, cancel := context.WithTimeout(ctx, draftsWithin)
	err = host.AwaitDrafts(waiting)
	cancel()
	warning := ""
	if err != nil && ctx.Err() == nil {
		warning = err.Error()
	}
	if err := c.show(out, upped{"started", dir, host.NewLink(), os.Getpid(), warning}); err != nil {
		return errors.Join(err, host.Close())
	}
	select {
	case <-ctx.Done():
		return host.Close()
	case err := <-host.Failed():
		return errors.Join(err, host.Close())
	}
}

func (c upCmd) home() (string, error) {
	if c.Home == "" {
		return hosthome.Default()
	}
	return filepath.Abs(c.Home)
}

// folders are those that were named, else the current one for a home without any.
func (c upCmd) folders(dir string) []string {
	if len(c.Folders) > 0 {
		return c.Folders
	}
	if _, err := os.Stat(filepath.Join(dir, "workspaces.json")); err == nil {
		return nil
	}
	current, err := os.Getwd()
	if err != nil {
		return nil
	}
	return []string{current}
}

// log writes to the home's host.log; one earlier file is kept when it grows large.
func (c upCmd) log(dir string) (hclog.Logger, func(), error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, nil, fmt.Errorf("making the home: %w", err)
	}
	path := filepath.Join(dir, "host.log")
	if info, err := os.Stat(path); err == nil && info.Size() > maxLog {
		if err := os.Rename(path, path+".1"); err != nil {
			return nil, nil, fmt.Errorf("setting the old log aside: %w", err)
		}
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("opening the log: %w", err)
	}
	log := hclog.New(&hclog.LoggerOptions{Name: "host", Level: hclog.LevelFromString(c.LogLevel), Output: file})
	return log, func() { _ = file.Close() }, nil // every line was written when it was logged
}

// join prints a new link to the host that runs already.
func (c upCmd) join(ctx context.Context, out io.Writer, dir string, inUse error) error {
	running, err := hosthome.Find(ctx, dir)
	if err != nil {
		return inUse
	}
	link, err := askForLink(ctx, running)
	if err != nil {
		return fmt.Errorf("%w, and it gave no link: %w", inUse, err)
	}
	return c.show(out, upped{Outcome: "running", Home: dir, Link: link, Process: running.PID})
}

func askForLink(ctx context.Context, running hosthome.Registration) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, running.Address+"/api/links", strings.NewReader("{}"))
	if err != nil {
		return "", err
	}
	request.Header.Set("Authorization", "Bearer "+running.Token)
	request.Header.Set("Content-Type", "application/json")
	request.Close = true // nothing is asked a second time
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	var answer struct {
		URL string `json:"url"`
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, 64<<10)).Decode(&answer); err != nil || answer.URL == "" {
		return "", fmt.Errorf("it answered %s", response.Status)
	}
	return answer.URL, nil
}

func (c upCmd) show(out io.Writer, up upped) error {
	if !c.NoOpen {
		openBrowser(up.Link)
	}
	if c.JSON {
		return printJSON(out, up)
	}
	var text strings.Builder
	if up.Outcome == "running" {
		fmt.Fprintf(&text, "A host of this home runs already (process id %d).\n", up.Process)
	}
	if up.Warning != "" {
		fmt.Fprintf(&text, "No drafts yet: %s\n", up.Warning)
	}
	fmt.Fprintf(&text, "Home: %s\nOpen this link in a browser (it works once):\n  %s\n", up.Home, up.Link)
	if up.Outcome == "started" {
		text.WriteString("Ctrl+C ends the host.\n")
	}
	_, err := io.WriteString(out, text.String())
	return err
}

// openBrowser opens the link where a browser can be seen; it is printed anyway.
func openBrowser(link string) {
	opener := "xdg-open"
	switch {
	case runtime.GOOS == "darwin":
		opener = "open"
	case os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "":
		return
	}
	path, err := exec.LookPath(opener)
	if err != nil {
		return
	}
	cmd := exec.Command(path, link)
	if cmd.Start() == nil {
		_ = cmd.Process.Release() // it opens the browser and ends by itself
	}
}
