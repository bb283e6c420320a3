package install

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

const (
	// pipesWithin is how long a killed program's output may stay open.
	pipesWithin = 2 * time.Second
	// tailBytes bounds what of a program's output goes into an error.
	tailBytes = 4 << 10
)

// tailWriter keeps the last bytes of what is written.
type tailWriter struct{ data []byte }

func (w *tailWriter) Write(p []byte) (int, error) {
	w.data = append(w.data, p...)
	if len(w.data) > tailBytes {
		w.data = append([]byte(nil), w.data[len(w.data)-tailBytes:]...)
	}
	return len(p), nil
}

// run runs a program and gives the end of its output, stderr included. When ctx or
// limit ends, it is killed with everything that it started.
func run(ctx context.Context, limit time.Duration, dir string, env []string, argv ...string) (string, error) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(limited, argv[0], argv[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	out := &tailWriter{}
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = pipesWithin
	err := cmd.Run()
	text := strings.TrimSpace(string(out.data))
	switch {
	case err == nil:
		return text, nil
	case ctx.Err() != nil:
		return text, ctx.Err()
	case errors.Is(limited.Err(), context.DeadlineExceeded):
		return text, fmt.Errorf("no answer within %v", limit)
	}
	return text, err
}
