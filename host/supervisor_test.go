package host

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
	"github.com/draft-sessions/dsh-draft-sessions/shared/compat"
	pb "github.com/draft-sessions/dsh-draft-sessions/shared/proto/draftsessionsv1"
	"github.com/draft-sessions/dsh-draft-sessions/shared/rearm"
)

// played is a process of the rules' tests: it lives as long as it is told.
type played struct {
	gone   chan struct{}
	closed bool
	p      *Plugin
}

func (l *played) Gone() <-chan struct{} { return l.gone }
func (l *played) Why() string           { return "killed by the test" }
func (l *played) Close()                { l.closed = true }
func (l *played) plugin() *Plugin       { return l.p }

// stage plays one supervisor's processes on the clock of synctest.
type stage struct {
	*Supervisor
	// life is how long each process lives, 0 for ever; fail is what a start answers.
	life    func(start int) time.Duration
	fail    func(start int) error
	starts  []time.Time
	started []*played
}

func play(t *testing.T, st *stage, o Supervision) *stage {
	t.Helper()
	if o.Store == "" {
		o.Store = filepath.Join(t.TempDir(), "drafts.json")
	}
	st.Supervisor = newSupervisor(o)
	st.launch = func(context.Context, Options) (lifetime, error) {
		n := len(st.starts)
		st.starts = append(st.starts, time.Now())
		if st.fail != nil {
			if err := st.fail(n); err != nil {
				return nil, err
			}
		}
		l := &played{gone: make(chan struct{}), p: &Plugin{Info: &pb.InfoResponse{Version: "1"}, process: &os.Process{Pid: n + 1}}}
		st.started = append(st.started, l)
		if st.life != nil && st.life(n) > 0 {
			time.AfterFunc(st.life(n), func() { close(l.gone) })
		}
		return l, nil
	}
	st.begin(t.Context())
	return st
}

func always(d time.Duration) func(int) time.Duration { return func(int) time.Duration { return d } }

func codes(reasons []compat.Reason) (codes []string) {
	for _, r := range reasons {
		codes = append(codes, r.Code)
	}
	return codes
}

// Invariants 8 and 9: a plugin that ends is started again after 0.25 to 30 s, each
// pause longer than the one before; one that ends five times in two minutes is
// given up, until a person wants it again.
func TestCrashingPluginIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := play(t, &stage{life: always(time.Second)}, Supervision{})
		defer st.Close()
		time.Sleep(time.Hour)
		synctest.Wait()
		status := st.Status()
		if len(st.starts) != maxCrashes || status.Mode != Stock || !status.Rearmable || !slices.Equal(codes(status.Reasons), []string{PluginCrashed}) || status.Reasons[0].Found != "killed by the test" {
			t.Fatalf("%d starts, %+v", len(st.starts), status)
		}
		before := time.Duration(0)
		for i := range maxCrashes - 1 {
			pause := st.starts[i+1].Sub(st.starts[i]) - time.Second
			if pause < firstPause || pause > lastPause || pause < before {
				t.Errorf("pause %d is %v after %v", i, pause, before)
			}
			before = pause * 7 / 10 // the jitter
		}
		for _, l := range st.started {
			if !l.closed {
				t.Error("a process was not closed")
			}
		}
		if _, err := st.Client(); shared.CodeOf(err) != shared.OperationUnknown {
			t.Errorf("a client in stock mode: %v", err)
		}

		st.life = always(0)
		st.Rearm()
		synctest.Wait()
		if status := st.Status(); status.Mode != Full || status.Pid != maxCrashes+1 {
			t.Errorf("after a wish: %+v", status)
		}
	})
}

// A plugin that ends now and then is started again for ever, and after a healthy
// while as soon as the first time.
func TestPausesBeginAnewAfterAHealthyWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := play(t, &stage{life: always(healthyAfter)}, Supervision{})
		defer st.Close()
		time.Sleep(50 * healthyAfter)
		synctest.Wait()
		if n := len(st.starts); n < 45 {
			t.Errorf("%d starts", n)
		}
		for i := range len(st.starts) - 1 {
			if pause := st.starts[i+1].Sub(st.starts[i]) - healthyAfter; pause > 2*firstPause {
				t.Errorf("pause %d is %v", i, pause)
			}
		}
	})
}

// What cannot get better by itself is never tried again: one start, one reason.
func TestMismatchIsNeverTriedAgain(t *testing.T) {
	refused := mismatch(compat.Reason{Code: compat.PackageMismatch, Subject: "page"}, nil)
	for name, c := range map[string]struct {
		fail      func(int) error
		starts    int
		code      string
		rearmable bool
	}{
		"at once":               {func(int) error { return refused }, 1, compat.PackageMismatch, false},
		"after a restart":       {func(n int) error { return map[bool]error{true: refused}[n == 1] }, 2, compat.PackageMismatch, false},
		"the first start fails": {func(int) error { return errors.New("no") }, 1, PluginStartFailed, true},
		"later starts fail":     {func(n int) error { return map[bool]error{true: errors.New("no")}[n > 0] }, maxCrashes, PluginCrashed, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				st := play(t, &stage{life: always(time.Second), fail: c.fail}, Supervision{})
				defer st.Close()
				time.Sleep(time.Hour)
				if !c.rearmable {
					st.Rearm()
				}
				synctest.Wait()
				status := st.Status()
				if len(st.starts) != c.starts || status.Mode != Stock || status.Rearmable != c.rearmable || !slices.Equal(codes(status.Reasons), []string{c.code}) {
					t.Errorf("%d starts, %+v", len(st.starts), status)
				}
			})
		})
	}
}

// A person need not wait for the next start, and a wish at another time is nothing.
func TestWishEndsThePause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := &stage{life: func(n int) time.Duration { return map[bool]time.Duration{true: 70 * time.Second}[n == 0] }}
		play(t, st, Supervision{})
		defer st.Close()
		synctest.Wait()
		st.Rearm() // full: nothing
		time.Sleep(70 * time.Second)
		synctest.Wait()
		if status := st.Status(); status.Mode != Paused || len(st.starts) != 1 {
			t.Fatalf("%d starts, %+v", len(st.starts), status)
		}
		asked := time.Now()
		st.Rearm()
		synctest.Wait()
		if len(st.starts) != 2 || !st.starts[1].Equal(asked) || st.Status().Mode != Full {
			t.Errorf("starts %v, asked %v", st.starts, asked)
		}
	})
}

// The command's request is taken when it is new, and only by one that has given up.
func TestRequestInTheFolderStartsAgain(t *testing.T) {
	folder := t.TempDir()
	ask := func(limit time.Duration) error {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		return rearm.Ask(ctx, folder)
	}
	synctest.Test(t, func(t *testing.T) {
		st := play(t, &stage{life: always(time.Second)}, Supervision{Options: Options{Store: filepath.Join(folder, "drafts.json")}})
		defer st.Close()
		if err := ask(10 * time.Millisecond); shared.CodeOf(err) != shared.SessionUnavailable {
			t.Errorf("asked while it runs: %v", err)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if n := len(st.starts); n != maxCrashes {
			t.Fatalf("%d starts", n)
		}
		st.life = always(0)
		if err := ask(time.Minute); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if st.Status().Mode != Full {
			t.Errorf("%+v", st.Status())
		}
	})
}

// What the host does with a new process comes before full mode; its own failure is
// no crash of the plugin's.
func TestReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := &stage{life: always(time.Minute)}
		seen := 0
		play(t, st, Supervision{Ready: func(ctx context.Context, p *Plugin) error {
			if seen++; st.Status().Mode == Full {
				t.Error("full before it was ready")
			}
			switch seen {
			case 2: // the process ends meanwhile
				<-ctx.Done()
				return ctx.Err()
			case 4:
				return errors.New("no room")
			}
			return nil
		}})
		defer st.Close()
		time.Sleep(time.Hour)
		synctest.Wait()
		if status := st.Status(); seen != 4 || status.Mode != Stock || status.Rearmable || !slices.Equal(codes(status.Reasons), []string{Internal}) {
			t.Errorf("ready %d times, %+v", seen, status)
		}
	})
}

// Whoever listens hears the newest status, and the end.
func TestChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := play(t, &stage{life: func(n int) time.Duration { return map[bool]time.Duration{true: time.Second}[n == 0] }}, Supervision{})
		var modes []Mode
		heard := make(chan struct{})
		go func() {
			defer close(heard)
			for status := range st.Changes(t.Context()) {
				modes = append(modes, status.Mode)
			}
		}()
		time.Sleep(time.Minute)
		if status, err := st.Await(t.Context(), Full); err != nil || status.Pid != 2 {
			t.Errorf("%+v, %v", status, err)
		}
		st.Close()
		<-heard
		if want := []Mode{Full, Paused, Full, Stock}; !slices.Equal(slices.DeleteFunc(modes, func(m Mode) bool { return m == Starting }), want) {
			t.Errorf("heard %v, want %v", modes, want)
		}
		if _, err := st.Await(t.Context(), Full); !errors.Is(err, errStopped) {
			t.Errorf("awaited full after the end: %v", err)
		}
		if status := st.Status(); len(status.Reasons) != 0 {
			t.Errorf("the host's end has reasons: %+v", status)
		}
	})
}
