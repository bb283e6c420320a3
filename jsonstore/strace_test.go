package jsonstore

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// oneSaveEnv makes the test binary add a word to the file it names and say how
// that went.
const oneSaveEnv = "JSONSTORE_TEST_SAVE"

func saveOnce(path string) {
	s, err := Open(context.Background(), listFormat, quiet(path))
	if err != nil {
		fmt.Println("open", err)
		return
	}
	defer func() { _ = s.Close() }() // The process ends.
	_, err = s.Update(context.Background(), add("saved"))
	fmt.Printf("code %q\n", shared.CodeOf(err))
}

// traced runs one save under strace; false where there is none or it may not
// trace. What the seam proves stands without it: this confirms that the seam is
// the kernel.
func traced(t *testing.T, path string, options ...string) (output string, calls []string, ok bool) {
	t.Helper()
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Log("no strace here; the file-system seam is the proof")
		return "", nil, false
	}
	trace := filepath.Join(t.TempDir(), "trace")
	command := exec.Command(strace, append(append([]string{"-f", "-qq", "-y", "-o", trace}, options...), os.Args[0])...)
	command.Env = append(os.Environ(), oneSaveEnv+"="+path)
	out, err := command.CombinedOutput()
	if err != nil {
		t.Logf("strace cannot trace here (%v: %s); the file-system seam is the proof", err, out)
		return "", nil, false
	}
	data, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		calls = append(calls, lines.Text())
	}
	return string(out), calls, true
}

// Invariant 1, in the kernel: the data is synced before the rename, the folder
// after it.
func TestSaveOrderInTheKernel(t *testing.T) {
	path := filepath.Join(t.TempDir(), "list.json")
	mustAdd(t, open(t, quiet(path)), "one")
	out, calls, ok := traced(t, path, "-e", "trace=write,writev,fsync,fdatasync,rename,renameat,renameat2")
	if !ok {
		return
	}
	var order []string
	for _, call := range calls {
		onTemp := strings.Contains(call, tempSuffix+">")
		switch {
		case (strings.Contains(call, "write(") || strings.Contains(call, "writev(")) && onTemp:
			order = append(order, "write temp")
		case strings.Contains(call, "sync(") && onTemp:
			order = append(order, "sync temp")
		case strings.Contains(call, "rename") && strings.Contains(call, "list.json\""):
			order = append(order, "rename")
		case strings.Contains(call, "sync(") && strings.Contains(call, "<"+filepath.Dir(path)+">"):
			order = append(order, "sync folder")
		}
	}
	if got := strings.Join(order, ", "); got != "write temp, sync temp, rename, sync folder" {
		t.Errorf("the kernel saw %s\n%s\n%s", got, out, strings.Join(calls, "\n"))
	}
}

// A sync that fails in the kernel is told as the seam's is.
func TestFailedSyncInTheKernel(t *testing.T) {
	for name, test := range map[string]struct {
		on   func(path string) []string
		code shared.Code
		file string
	}{
		"folder": {func(path string) []string { return []string{"-P", filepath.Dir(path)} }, shared.StorageUncertain, `["one","saved"]`},
		"all":    {func(string) []string { return nil }, shared.StorageIO, `["one"]`},
	} {
		path := filepath.Join(t.TempDir(), "list.json")
		mustAdd(t, open(t, quiet(path)), "one")
		out, calls, ok := traced(t, path, append(test.on(path), "-e", "trace=fsync", "-e", "inject=fsync:error=EIO")...)
		if !ok {
			return
		}
		if !strings.Contains(out, fmt.Sprintf("code %q", test.code)) || !strings.Contains(read(t, path), test.file) {
			t.Errorf("%s: %s with %s\n%s", name, out, read(t, path), strings.Join(calls, "\n"))
		}
	}
}
