package host_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/draft-sessions/dsh-draft-sessions/host"
	pb "github.com/draft-sessions/dsh-draft-sessions/shared/proto/draftsessionsv1"
)

// envSoak makes the long tests run in full.
const envSoak = "DRAFT_SESSIONS_SOAK"

// Invariant 9: 40 processes (500 in a soak), ended in each way, leave the host no
// process, socket, descriptor or goroutine more than the first.
func TestGoHostLeaksNothing(t *testing.T) {
	rounds := 40
	if os.Getenv(envSoak) != "" {
		rounds = 500
	}
	o := supervision(t)
	o.Binary = copyBinary(t)
	temp, err := os.MkdirTemp("", "cy") // short, as a socket's folder must be
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(temp) })
	t.Setenv("TMPDIR", temp)
	var pids []int
	cycle := func(round int) {
		p := must[*host.Plugin](t)(host.Launch(t.Context(), o.Options))
		pids = append(pids, p.Pid())
		must[*pb.ListResponse](t)(p.Client.List(t.Context(), &pb.ListRequest{}))
		if round%2 == 1 {
			if err := syscall.Kill(p.Pid(), syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			<-p.Gone()
		}
		p.Close()
	}
	for round := range 4 {
		cycle(round)
	}
	descriptors, goroutines := openFiles(t), runtime.NumGoroutine()
	for round := range rounds {
		if round%8 == 7 {
			s := host.Supervise(t.Context(), o)
			pids = append(pids, await(t, s, host.Full).Pid)
			s.Close()
			continue
		}
		cycle(round)
	}
	eventually(t, "no descriptor more", func() bool { return openFiles(t) <= descriptors })
	eventually(t, "no goroutine more", func() bool { return runtime.NumGoroutine() <= goroutines })
	for _, pid := range pids {
		if alive(pid) {
			t.Errorf("process %d is left", pid)
		}
		if syscall.Kill(-pid, 0) == nil {
			t.Errorf("something of the group of %d is left", pid)
		}
	}
	noneOf(t, o.Binary)
	if left := must[[]os.DirEntry](t)(os.ReadDir(temp)); len(left) != 0 {
		t.Errorf("%v are left", left)
	}
	for _, entry := range must[[]os.DirEntry](t)(os.ReadDir(filepath.Dir(o.Store))) {
		if strings.Contains(entry.Name(), ".tmp") {
			t.Errorf("%s is left beside the draft file", entry.Name())
		}
	}
	t.Logf("after %d rounds: %d descriptors, %d goroutines", rounds, openFiles(t), runtime.NumGoroutine())
}

// openFiles counts this process' descriptors, its own of the count included.
func openFiles(t *testing.T) int {
	t.Helper()
	return len(must[[]os.DirEntry](t)(os.ReadDir("/dev/fd")))
}
