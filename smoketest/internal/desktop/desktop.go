// Package desktop is a screen without a monitor (Xvfb) with a headful Chromium
// on it, whose keys are pressed by the X server (xdotool): what a window does
// with a chord before the page sees it is only found out this way. The debugging
// protocol is used to look at the page, never to press keys.
package desktop

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/browser"
)

const startTimeout = 30 * time.Second

// Desktop is a running X server.
type Desktop struct {
	display string
	server  *exec.Cmd
	windows []*exec.Cmd
}

// Start starts an X server on a display of its own.
func Start(ctx context.Context) (*Desktop, error) {
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start Xvfb: %w", err)
	}
	defer reader.Close()
	server := exec.CommandContext(context.WithoutCancel(ctx), "Xvfb", "-displayfd", "3", "-screen", "0", "1280x900x24", "-nolisten", "tcp", "-noreset",
		// On a busy machine a key can seem to be held; it must not repeat.
		"-r")
	server.ExtraFiles = []*os.File{writer}
	server.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	err = server.Start()
	_ = writer.Close()
	if err != nil {
		return nil, fmt.Errorf("start Xvfb: %w", err)
	}
	d := &Desktop{server: server}
	_ = reader.SetReadDeadline(time.Now().Add(startTimeout))
	line, err := bufio.NewReader(reader).ReadString('\n')
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start Xvfb: it names no display: %w", err), d.Close())
	}
	d.display = ":" + strings.TrimSpace(line)
	return d, nil
}

// Window is a Chromium window on the desktop.
type Window struct {
	// Page looks at the window's page.
	Page    *browser.Page
	desktop *Desktop
	command *exec.Cmd
}

// OpenTab opens link in an ordinary tab of a new Chromium whose profile lies in dir,
// and waits until an address is shown that begins with shown.
func (d *Desktop) OpenTab(ctx context.Context, dir, link, shown string) (*Window, error) {
	return d.open(ctx, dir, shown, link)
}

// OpenApp is OpenTab in a window without tabs (--app), as an installed web app has it.
func (d *Desktop) OpenApp(ctx context.Context, dir, link, shown string) (*Window, error) {
	return d.open(ctx, dir, shown, "--app="+link)
}

func (d *Desktop) open(ctx context.Context, dir, url, how string) (*Window, error) {
	path, err := browser.Find()
	if err != nil {
		return nil, err
	}
	command := exec.CommandContext(context.WithoutCancel(ctx), path,
		"--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--no-default-browser-check",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
		"--password-store=basic", "--window-position=0,0", "--window-size=1280,900",
		"--remote-debugging-port=0", "--user-data-dir="+dir, how)
	command.Env = append(os.Environ(), "DISPLAY="+d.display)
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	d.windows = append(d.windows, command)
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	address, target, err := findPage(ctx, dir, url)
	if err != nil {
		return nil, err
	}
	page, err := browser.Attach(address, target)
	if err != nil {
		return nil, err
	}
	return &Window{Page: page, desktop: d, command: command}, nil
}

// findPage waits until the Chromium of that profile shows url, and gives the
// address of its debugging protocol and the page's target.
func findPage(ctx context.Context, dir, url string) (address, target string, err error) {
	for {
		address, target, err = lookForPage(ctx, dir, url)
		if err == nil {
			return address, target, nil
		}
		select {
		case <-ctx.Done():
			return "", "", fmt.Errorf("no window shows %s: %w", url, err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func lookForPage(ctx context.Context, dir, url string) (address, target string, err error) {
	raw, err := os.ReadFile(filepath.Join(dir, "DevToolsActivePort"))
	if err != nil {
		return "", "", err
	}
	port, _, _ := strings.Cut(string(raw), "\n")
	address = "http://127.0.0.1:" + port
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"/json/list", nil)
	if err != nil {
		return "", "", err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", "", err
	}
	defer answer.Body.Close()
	var targets []struct {
		ID   string `json:"id"`
		Type string `json:"type"`
		URL  string `json:"url"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&targets); err != nil {
		return "", "", err
	}
	for _, t := range targets {
		if t.Type == "page" && strings.HasPrefix(t.URL, url) {
			return address, t.ID, nil
		}
	}
	return "", "", fmt.Errorf("%d targets, none of them", len(targets))
}

// Press presses a chord such as "ctrl+shift+n" in the window.
func (w *Window) Press(ctx context.Context, chord string) error {
	return w.xdotool(ctx, "key", "--clearmodifiers", chord)
}

// Type types text in the window, key by key.
func (w *Window) Type(ctx context.Context, text string) error {
	return w.xdotool(ctx, "type", "--delay", "40", text)
}

// xdotool gives the window the focus, which no window manager does here, and
// runs one command for whatever has it.
func (w *Window) xdotool(ctx context.Context, arguments ...string) error {
	all := append([]string{"search", "--sync", "--onlyvisible", "--class", "chrom", "windowfocus", "--sync"}, arguments...)
	command := exec.CommandContext(ctx, "xdotool", all...)
	command.Env = append(os.Environ(), "DISPLAY="+w.desktop.display)
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("xdotool %s: %w: %s", strings.Join(arguments, " "), err, output)
	}
	return nil
}

// Close ends the window's Chromium.
func (w *Window) Close() error {
	w.Page.Close()
	d := w.desktop
	d.windows = slices.DeleteFunc(d.windows, func(command *exec.Cmd) bool { return command == w.command })
	return end(w.command)
}

// Close ends all windows and the X server.
func (d *Desktop) Close() error {
	var problems []error
	for _, command := range append(d.windows, d.server) {
		problems = append(problems, end(command))
	}
	return errors.Join(problems...)
}

// end kills a process with its group and waits for it.
func end(command *exec.Cmd) error {
	err := syscall.Kill(-command.Process.Pid, syscall.SIGKILL)
	// Killed by us: its exit status says nothing.
	_ = command.Wait()
	if err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("end %s: %w", command.Path, err)
	}
	return nil
}
