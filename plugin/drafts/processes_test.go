package drafts

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// sharerEnv makes the test binary one of several processes that share the file
// it names. sharerNameEnv is its name, sharerCountEnv how many updates it makes.
const (
	sharerEnv      = "DRAFTS_TEST_SHARER"
	sharerNameEnv  = "DRAFTS_TEST_SHARER_NAME"
	sharerCountEnv = "DRAFTS_TEST_SHARER_COUNT"
	sharedDraft    = "shared"
)

// runSharer counts up its own draft and the one that all share, in turn, and
// says each count when it is acknowledged. At the end it waits for its input to
// end, looks at the file again and says what it holds.
func runSharer(path string) {
	ctx, name := context.Background(), os.Getenv(sharerNameEnv)
	count, _ := strconv.Atoi(os.Getenv(sharerCountEnv))
	s, err := Open(ctx, Options{Path: path, LimitPerWorkspace: 1 << 20, lockWait: patience})
	if err != nil {
		fmt.Println("failed", err)
		return
	}
	born, err := s.Create(ctx, CreateParams{WorkspaceID: "w", Text: "born"})
	if err == nil {
		fmt.Println("created", born.ID, born.Revision)
		_, err = s.Create(ctx, CreateParams{ID: name, WorkspaceID: "w", Text: "0"})
	}
	for i := 0; i < count && err == nil; i++ {
		time.Sleep(time.Duration(rand.IntN(3)) * time.Millisecond)
		id := name
		if i%2 == 0 {
			id = sharedDraft
		}
		var record shared.DraftRecord
		record, err = s.Modify(ctx, id, func(r *shared.DraftRecord) error {
			n, err := strconv.Atoi(r.Text)
			r.Text = strconv.Itoa(n + 1)
			return err
		})
		if err == nil {
			fmt.Println(id, record.Text, record.Revision)
		}
	}
	if err != nil {
		fmt.Println("failed", err)
		return
	}
	fmt.Println("done", 0, 0)
	_, _ = io.Copy(io.Discard, os.Stdin) // Until everyone is done.
	if err := s.Refresh(ctx); err != nil {
		fmt.Println("failed", err)
		return
	}
	data, err := shared.EncodeDocument(s.Snapshot())
	fmt.Printf("holds %x %d\n", sha256.Sum256(data), s.Snapshot().Generation)
	if err := errors.Join(err, s.Close()); err != nil {
		fmt.Println("failed", err)
	}
}

// sharers is what several processes acknowledged.
type sharers struct {
	t    *testing.T
	path string
	mu   sync.Mutex
	// counts are the acknowledged values of each draft with their revisions.
	counts  map[string]map[int]int64
	created map[string]bool
	holds   []string
	kills   int
}

// start runs one process that still has to make count updates.
func (s *sharers) start(name string, count int) (*exec.Cmd, *bufio.Scanner, io.Closer) {
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), sharerEnv+"="+s.path, sharerNameEnv+"="+name, sharerCountEnv+"="+strconv.Itoa(count))
	out, err := child.StdoutPipe()
	if err != nil {
		s.t.Error(err)
	}
	in, err := child.StdinPipe()
	if err != nil {
		s.t.Error(err)
	}
	if err := child.Start(); err != nil {
		s.t.Error(err)
	}
	return child, bufio.NewScanner(out), in
}

// live runs one process, killing and stopping it now and then, until it has made
// all its updates and said what it holds. finish is called once it made them.
func (s *sharers) live(name string, count int, finish func()) {
	for {
		child, lines, in := s.start(name, count)
		killAfter := 10 + rand.IntN(count+10)
		stopAfter := 5 + rand.IntN(30)
		finished, killed := false, false
		for lines.Scan() {
			id, value, revision := fields(lines.Text())
			switch id {
			case "failed":
				s.t.Errorf("%s %s", name, lines.Text())
				finish()
				finished = true
			case "done":
				if killed {
					break // It said so before it died, and is started again to say what it holds.
				}
				finished = true
				finish()
				if err := in.Close(); err != nil {
					s.t.Error(err)
				}
			case "holds":
				s.mu.Lock()
				s.holds = append(s.holds, lines.Text())
				s.mu.Unlock()
			case "created":
				s.mu.Lock()
				s.created[value] = true
				s.mu.Unlock()
			default:
				s.acknowledge(id, value, revision)
				count--
			}
			if killAfter--; killAfter == 0 && !finished {
				s.mu.Lock()
				s.kills++
				s.mu.Unlock()
				killed = true
				_ = child.Process.Signal(syscall.SIGKILL) // It may have ended.
			}
			if stopAfter--; stopAfter == 0 {
				_ = child.Process.Signal(syscall.SIGSTOP) // As above.
				time.Sleep(time.Duration(rand.IntN(40)) * time.Millisecond)
				_ = child.Process.Signal(syscall.SIGCONT) // As above.
			}
		}
		_ = in.Close()   // Closed already, or of a process that is dead.
		_ = child.Wait() // Killed, or told to fail above.
		if finished {
			return
		}
	}
}

func fields(line string) (id, value string, revision int64) {
	parts := append(strings.Fields(line), "", "")
	revision, _ = strconv.ParseInt(parts[2], 10, 64)
	return parts[0], parts[1], revision
}

// acknowledge checks that no two updates count the same and that a later count
// has a later revision.
func (s *sharers) acknowledge(id, value string, revision int64) {
	n, err := strconv.Atoi(value)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.counts[id] == nil {
		s.counts[id] = map[int]int64{}
	}
	if other, twice := s.counts[id][n]; twice || err != nil {
		s.t.Errorf("%s counted to %s at revision %d and at %d: an update was lost (%v)", id, value, other, revision, err)
	}
	s.counts[id][n] = revision
}

// Invariant 14: processes that are stopped and killed at random lose no
// acknowledged update of their own or of a shared draft, revisions only go up,
// no draft is dropped by another's save, and all hold the same bytes in the end.
func TestProcessesLoseNothing(t *testing.T) {
	const processes = 4
	each := rounds(200, 2000)
	path := draftFile(t)
	owner := openStore(t, Options{Path: path, LimitPerWorkspace: 1 << 20})
	create(t, owner, CreateParams{ID: sharedDraft, Text: "0"})
	s := &sharers{t: t, path: path, counts: map[string]map[int]int64{}, created: map[string]bool{}}
	var working, ended sync.WaitGroup
	working.Add(processes)
	for n := range processes {
		ended.Go(func() {
			s.live(fmt.Sprintf("own-%d", n), each, func() { working.Done(); working.Wait() })
		})
	}
	ended.Wait()

	if err := owner.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	for id, counts := range s.counts {
		record := get(t, owner, id)
		last, err := strconv.Atoi(record.Text)
		if err != nil {
			t.Fatal(err)
		}
		// A killed process may have written one more than it could say.
		if last < len(counts) || last > len(counts)+s.kills {
			t.Errorf("%s: %d of %d acknowledged updates are there, after %d kills", id, last, len(counts), s.kills)
		}
		revision := int64(0)
		for n := 1; n <= last; n++ {
			if at, said := counts[n]; said && at <= revision {
				t.Errorf("%s: count %d at revision %d, after %d", id, n, at, revision)
			} else if said {
				revision = at
			}
		}
	}
	for id := range s.created {
		get(t, owner, id)
	}
	want := fmt.Sprintf("holds %x %d", sha256.Sum256([]byte(readFile(t, path))), owner.Snapshot().Generation)
	for _, holds := range s.holds {
		if holds != want {
			t.Errorf("one process %s, the file %s", holds, want)
		}
	}
	if len(s.holds) != processes || s.kills == 0 {
		t.Errorf("%d processes ended, %d were killed", len(s.holds), s.kills)
	}
}
