package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/hashicorp/go-hclog"
)

// A host removes the socket folders of processes that are gone, and no other.
func TestSocketFoldersAreSwept(t *testing.T) {
	base := t.TempDir()
	gone := exec.CommandContext(t.Context(), "true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	folder := func(format string, values ...any) string {
		t.Helper()
		path := filepath.Join(base, fmt.Sprintf(format, values...))
		if err := errors.Join(os.Mkdir(path, 0o700), os.WriteFile(filepath.Join(path, "1.sock"), nil, 0o600)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	stays := map[string]bool{
		folder("draft-sessions-%d-123", gone.ProcessState.Pid()): false,
		folder("draft-sessions-%d-123", os.Getpid()):             true,
		folder("draft-sessions-%d", gone.ProcessState.Pid()):     true, // a number of another kind
		folder("draft-sessions-edit-123"):                        true,
		folder("other-%d-123", gone.ProcessState.Pid()):          true,
	}
	sweepSockets(base, hclog.NewNullLogger())
	for path, want := range stays {
		if _, err := os.Stat(filepath.Join(path, "1.sock")); errors.Is(err, fs.ErrNotExist) == want {
			t.Errorf("%s stays: %v, want %v", filepath.Base(path), !want, want)
		}
	}
}
