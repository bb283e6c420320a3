package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var linkLine = regexp.MustCompile(`http://127\.0\.0\.1:\d+/enter\?key=\S+`)

func buildCommand(t *testing.T, dir string) (binary string) {
	t.Helper()
	binary = filepath.Join(dir, "draft-sessions")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return binary
}

// A fresh machine: the host starts with drafts, prints a link that lets a browser
// in, keeps everything in its home, and leaves no process behind.
func TestUp(t *testing.T) {
	dir := t.TempDir()
	binary := buildCommand(t, dir)
	user, work := filepath.Join(dir, "user"), filepath.Join(dir, "work")
	for _, folder := range []string{user, work} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	up := func(args ...string) *exec.Cmd {
		cmd := exec.Command(binary, append([]string{"up", "--no-open"}, args...)...)
		cmd.Dir = work
		cmd.Env = []string{"HOME=" + user, "PATH=" + os.Getenv("PATH")}
		return cmd
	}
	first := up("--listen", "127.0.0.1:0")
	out, err := first.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	ended := false
	defer func() {
		if !ended {
			_ = first.Process.Kill()
			_ = first.Wait()
		}
	}()
	link, printed := "", ""
	for lines := bufio.NewScanner(out); lines.Scan(); {
		printed += lines.Text() + "\n"
		if found := linkLine.FindString(lines.Text()); found != "" {
			link = found
		}
		if strings.Contains(lines.Text(), "Ctrl+C") {
			break
		}
	}
	if link == "" || strings.Contains(printed, "No drafts") {
		t.Fatalf("printed\n%s", printed)
	}
	second, err := up().CombinedOutput()
	again := linkLine.FindString(string(second))
	if err != nil || again == "" || again == link || !strings.Contains(string(second), "runs already") {
		t.Errorf("%v\n%s", err, second)
	}
	var told upped
	third, err := up("--json").Output()
	if err = errors.Join(err, json.Unmarshal(third, &told)); err != nil || bytes.Count(third, []byte("\n")) != 1 || told.Outcome != "running" || told.Process != first.Process.Pid {
		t.Errorf("%v\n%s", err, third)
	}
	browser := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, Transport: &http.Transport{DisableKeepAlives: true}}
	for _, one := range []string{link, again, told.Link} {
		response, err := browser.Get(one)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusSeeOther || len(response.Cookies()) != 1 {
			t.Errorf("%s: %s", one, response.Status)
		}
	}
	if err := first.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	ended = true
	if err := first.Wait(); err != nil {
		t.Errorf("it ended with %v", err)
	}
	if err := exec.Command("pgrep", "-f", binary).Run(); err == nil {
		t.Error("a process is left")
	}
	home := filepath.Join(user, ".local", "share", "draft-sessions")
	if data, err := os.ReadFile(filepath.Join(home, "workspaces.json")); err != nil || !strings.Contains(string(data), work) {
		t.Errorf("the folder it was started in is no workspace: %s, %v", data, err)
	}
	var outside []string
	err = filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && path != binary && !strings.HasPrefix(path, home) {
			outside = append(outside, path)
		}
		return err
	})
	if err != nil || len(outside) > 0 {
		t.Errorf("written outside of the home: %v, %v", outside, err)
	}
	if info, err := os.Stat(home); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v", err)
	}
}

func TestUpRefuses(t *testing.T) {
	home := t.TempDir()
	for name, test := range map[string]struct {
		c    upCmd
		want string
	}{
		"an agent that is none":      {upCmd{Home: home, Agent: "clever"}, "no agent"},
		"an address that is none":    {upCmd{Home: home, Agent: "echo", Listen: "nowhere"}, "listening on nowhere"},
		"a folder that is not there": {upCmd{Home: home, Agent: "echo", Folders: []string{filepath.Join(home, "none")}}, "no such folder"},
	} {
		var out strings.Builder
		if err := test.c.run(t.Context(), &out); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if left, err := os.ReadDir(filepath.Join(home, "run")); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
}
