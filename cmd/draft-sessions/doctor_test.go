package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/draft-sessions/dsh-draft-sessions/plugin/drafts"
	"github.com/gofrs/flock"
)

const secret = "SECRET-DRAFT-TEXT"

// withDrafts is a host's home with one draft and a backup of it.
func withDrafts(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	s, err := drafts.Open(t.Context(), drafts.Options{Path: drafts.PathIn(dir)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Create(t.Context(), drafts.CreateParams{WorkspaceID: "w", Text: secret}); err != nil {
		t.Fatal(err)
	}
	for range 500 { // The backup is written after the answer.
		if kept, _ := filepath.Glob(filepath.Join(filepath.Dir(drafts.PathIn(dir)), "backups", "drafts.*.json")); len(kept) > 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// doctor runs the command and gives its output and exit code.
func doctor(t *testing.T, c doctorCmd) (string, int) {
	t.Helper()
	var out bytes.Buffer
	err := c.Run(t.Context(), &out)
	var exit *exitError
	switch {
	case err == nil:
		return out.String(), 0
	case errors.As(err, &exit):
		return out.String() + err.Error(), exit.code
	}
	return out.String() + err.Error(), 1
}

// The doctor's story: good, malformed, repaired, gone, newer. It never says what
// is in a draft (invariant 11).
func TestDoctor(t *testing.T) {
	dir := withDrafts(t)
	path := drafts.PathIn(dir)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	c := doctorCmd{Home: dir}
	step := func(name string, c doctorCmd, wantExit int, want ...string) {
		t.Helper()
		out, exit := doctor(t, c)
		if exit != wantExit {
			t.Errorf("%s: exit %d, want %d: %s", name, exit, wantExit, out)
		}
		for _, part := range want {
			if !strings.Contains(out, part) {
				t.Errorf("%s does not say %q: %s", name, part, out)
			}
		}
		if strings.Contains(out, secret) {
			t.Errorf("%s says what a draft holds: %s", name, out)
		}
	}
	put := func(data string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	repair := doctorCmd{Home: dir, Repair: true}
	step("good", c, 0, "good", "1 draft,", "generation 1", "lock        free", "watching    possible")
	step("repairing a good one", repair, 0, "nothing to repair")
	step("repairing a good one, as JSON", doctorCmd{Home: dir, Repair: true, JSON: true}, 0, `"nothing":true`)
	put(strings.Replace(string(good), `"trash"`, `"drafts"`, 1))
	step("malformed", c, exitInvalid, "DRAFT_STORAGE_INVALID", "line 3", "duplicate member", "holds       unknown", "of it whole 1 draft, and 0 records not", "ago), generation 1", "1 draft")
	step("repaired", repair, 0, "restored    1 draft of the file itself", "ago)", "lost        0 records", "kept", "drafts.bad-")
	step("good again", doctorCmd{Path: path}, 0, "good", "set aside", "generation 2")
	held := flock.New(path + ".lock")
	if ok, err := held.TryLock(); err != nil || !ok {
		t.Fatal(ok, err)
	}
	step("locked", c, exitBusy, "lock        held by")
	if err := held.Unlock(); err != nil {
		t.Fatal(err)
	}
	put("words")
	step("nothing whole", c, exitInvalid, "holds       unknown", "of it whole nothing")
	step("nothing whole, from the file", doctorCmd{Home: dir, Repair: true, From: "file"}, exitInvalid, "nothing was changed")
	step("repaired from the backup", repair, 0, "restored    1 draft of", "backups", "ago)", "kept")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	step("gone", c, exitGone, "none yet", "1 backup of it is there")
	step("repaired again", doctorCmd{Home: dir, Repair: true, JSON: true}, 0, `"restored"`)
	put(`{"version":3,"anything":1}`)
	step("newer", c, exitUnsupported, "DRAFT_STORAGE_UNSUPPORTED")
	step("repairing a newer one", repair, exitUnsupported)
	step("no home", doctorCmd{Home: t.TempDir()}, 0, "none yet")

	out, exit := doctor(t, doctorCmd{Home: dir, JSON: true})
	var d drafts.Diagnosis
	out = out[:strings.LastIndex(out, "}")+1]
	if err := json.Unmarshal([]byte(out), &d); err != nil || exit != exitUnsupported || d.Version != 3 || len(d.Backups) != 1 {
		t.Errorf("as JSON %+v, %v, exit %d", d, err, exit)
	}
}

// A mistyped place is an error, not one without drafts.
func TestDoctorFindsTheFile(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	t.Setenv("DRAFT_SESSIONS_HOME", "")
	own := drafts.PathIn(filepath.Join(dir, ".dsh"))
	if err := os.MkdirAll(own, 0o700); err != nil { // something is there
		t.Fatal(err)
	}
	file := filepath.Join(dir, "f")
	for _, c := range []struct {
		env  string
		cmd  doctorCmd
		want string
	}{
		{"", doctorCmd{}, own},
		{filepath.Join(dir, "env"), doctorCmd{}, drafts.PathIn(filepath.Join(dir, "env"))},
		{"/env", doctorCmd{Home: dir}, drafts.PathIn(dir)},
		{"/env", doctorCmd{Path: file}, file},
		{"", doctorCmd{Home: filepath.Join(dir, "none")}, ""},
		{"", doctorCmd{Path: filepath.Join(dir, "none", "f")}, ""},
		{"", doctorCmd{Path: dir}, ""},
		{"", doctorCmd{Home: dir, Path: file}, ""},
	} {
		t.Setenv("DSH_HOME", c.env)
		got, err := c.cmd.file()
		if got != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%+v is %q, %v; want %q", c.cmd, got, err, c.want)
		}
	}
}

// Whoever may not write into the folder is told so, though all can be read.
func TestDoctorOfAFolderThatCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	binary := buildCommand(t, dir)
	home := filepath.Join(dir, "home")
	if out, err := exec.Command(binary, "new", "--home", home, "x").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	folder := filepath.Dir(drafts.PathIn(home))
	// Everybody may look and nobody but root may write; root asks as somebody else.
	for path, mode := range map[string]os.FileMode{folder: 0o555, drafts.PathIn(home): 0o444, filepath.Join(folder, "backups"): 0o555} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	for at := filepath.Dir(folder); strings.HasPrefix(at, dir) || at == filepath.Dir(dir); at = filepath.Dir(at) {
		if err := os.Chmod(at, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if err := os.Chmod(folder, 0o700); err != nil {
			t.Error(err)
		}
	})
	asked := exec.Command(binary, "doctor", "--home", home)
	asked.Env = []string{"HOME=" + dir}
	if os.Geteuid() == 0 {
		const nobody = 65534
		asked.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	out, err := asked.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != exitIO || !strings.Contains(string(out), "folder      cannot be written: permission denied") || !strings.Contains(string(out), "DRAFT_STORAGE_IO") {
		t.Errorf("%v\n%s", err, out)
	}
}
