package jsonstore

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// A lock file that is removed while it is waited for locks nothing: whoever gets
// it then takes the new one.
func TestRemovedLockFileLocksNothing(t *testing.T) {
	dir := t.TempDir()
	a, b, c := newTurnstile(filepath.Join(dir, "f")), newTurnstile(filepath.Join(dir, "f")), newTurnstile(filepath.Join(dir, "f"))
	held := <-a.ask()
	a.received()
	waits := b.ask()
	time.Sleep(20 * time.Millisecond)
	if err := os.Remove(a.path); err != nil {
		t.Fatal(err)
	}
	held.release()
	second := <-waits
	b.received()
	if second.err != nil {
		t.Fatal(second.err)
	}
	select {
	case <-c.ask():
		t.Error("two hold the lock")
	case <-time.After(50 * time.Millisecond):
	}
	second.release()
	third := <-c.ask()
	c.received()
	third.release()
}

// A lock that nobody takes any more is given back.
func TestUnaskedLockIsGivenBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	a, b := newTurnstile(path), newTurnstile(path)
	held := <-a.ask()
	a.received()
	b.ask()
	time.Sleep(20 * time.Millisecond)
	b.end(time.Millisecond)
	held.release()
	b.waiting.Wait()
	again := <-a.ask()
	a.received()
	again.release()
}

// A lock that comes when all who wanted it have given up is given back.
func TestLockThatComesTooLateIsGivenBack(t *testing.T) {
	o := quiet(filepath.Join(t.TempDir(), "list.json"))
	o.LockWait = time.Millisecond
	s := open(t, o)
	o.LockWait = time.Hour
	other := open(t, o)
	mustAdd(t, other, "one")
	held := newTurnstile(o.Path)
	h, ok := held.try()
	if !ok {
		t.Fatal("a free lock was not taken")
	}
	_, err := s.Update(t.Context(), add("two"))
	wantCode(t, err, shared.StorageBusy)
	h.release()
	mustAdd(t, other, "three")
	if words(other) != "one three" {
		t.Errorf("%q", words(other))
	}
}

func TestHolderIsNamed(t *testing.T) {
	lock := newTurnstile(filepath.Join(t.TempDir(), "f"))
	if got := lock.holder(); got != (Holder{}) || got.String() != "an unknown process" {
		t.Errorf("nobody is %v", got)
	}
	held := <-lock.ask()
	lock.received()
	if got := lock.holder(); got.PID != os.Getpid() || !strings.Contains(got.String(), "process ") {
		t.Errorf("we are %v", got)
	}
	held.release()
}
