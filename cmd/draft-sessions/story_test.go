package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// The stories of testdata run the command as processes. "fakehost" is a host
// with sessions in memory and the real plugin, see fakehost_test.go.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"draft-sessions": main, "fakehost": fakehost})
}

func TestStories(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(e *testscript.Env) error {
			e.Setenv("TZ", "UTC")
			e.Setenv("HOME", filepath.Join(e.WorkDir, "user"))
			e.Setenv("DRAFT_SESSIONS_HOME", filepath.Join(e.WorkDir, "home"))
			for _, dir := range []string{"user", "project", "other"} {
				if err := os.MkdirAll(filepath.Join(e.WorkDir, dir), 0o700); err != nil {
					return err
				}
			}
			e.Cd = filepath.Join(e.WorkDir, "project")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"keep": keep, "await": await, "lines": lines, "ended": ended, "damage": damage, "code": code,
		},
	})
}

// keep NAME: the last output, trimmed, is the variable NAME from now on.
func keep(ts *testscript.TestScript, _ bool, args []string) {
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile("stdout")))
}

// await FILE [TEXT]: until the file is there and holds the text.
func await(ts *testscript.TestScript, _ bool, args []string) {
	path, text := ts.MkAbs(args[0]), ""
	if len(args) > 1 {
		text = args[1]
	}
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if data, err := os.ReadFile(path); err == nil && bytes.Contains(data, []byte(text)) {
			return
		}
	}
	ts.Fatalf("%s never held %q", args[0], text)
}

// ended FILE: until the process whose id is in the file has ended.
func ended(ts *testscript.TestScript, _ bool, args []string) {
	pid, err := strconv.Atoi(strings.TrimSpace(ts.ReadFile(args[0])))
	ts.Check(err)
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if syscall.Kill(pid, 0) != nil {
			return
		}
	}
	ts.Fatalf("process %d is there still", pid)
}

// lines FILE N: the file has so many lines.
func lines(ts *testscript.TestScript, neg bool, args []string) {
	data, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	if got := bytes.Count(data, []byte("\n")); (got == want) == neg {
		ts.Fatalf("%s has %d lines", args[0], got)
	}
}

// damage FILE: its first brace becomes a bracket.
func damage(ts *testscript.TestScript, _ bool, args []string) {
	path := ts.MkAbs(args[0])
	data, err := os.ReadFile(path)
	ts.Check(err)
	ts.Check(os.WriteFile(path, bytes.Replace(data, []byte("{"), []byte("["), 1), 0o600))
}

// code N COMMAND...: the command ends with that exit code.
func code(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != want {
		ts.Fatalf("%v ended with %v, not %d", args[1:], err, want)
	}
}
