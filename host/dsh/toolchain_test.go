package dsh

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
)

func TestInstallOnceFinishesWhatWasInterrupted(t *testing.T) {
	tools := &Toolchain{CacheDir: t.TempDir(), progress: os.Stderr}
	broken := errors.New("network gone")
	_, err := tools.installOnce("thing", "v1", func(dir string) error {
		return errors.Join(os.WriteFile(filepath.Join(dir, "half"), nil, 0o600), broken)
	})
	if !errors.Is(err, broken) {
		t.Fatalf("installOnce = %v, want the cause", err)
	}
	installs := 0
	install := func(dir string) error {
		installs++
		if _, err := os.Stat(filepath.Join(dir, "half")); err == nil {
			t.Error("the interrupted install's files are still there")
		}
		return nil
	}
	for _, request := range []string{"v1", "v1", "v2", "v2"} {
		if _, err := tools.installOnce("thing", request, install); err != nil {
			t.Fatal(err)
		}
	}
	if installs != 2 {
		t.Errorf("%d installs, want one for each request", installs)
	}
}

func TestLockLetsOneInstallAtATime(t *testing.T) {
	dir := t.TempDir()
	var inside, most atomic.Int32
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			tools := &Toolchain{CacheDir: dir, progress: os.Stderr}
			unlock, err := tools.lock(t.Context(), "toolchain")
			if err != nil {
				t.Error(err)
				return
			}
			defer unlock()
			if n := inside.Add(1); n > most.Load() {
				most.Store(n)
			}
			_, err = tools.installOnce("thing", "v1", func(string) error { return nil })
			if err != nil {
				t.Error(err)
			}
			inside.Add(-1)
		})
	}
	group.Wait()
	if most.Load() != 1 {
		t.Errorf("%d at once, want 1", most.Load())
	}
}

func TestPinnedVersionIsATestedOne(t *testing.T) {
	version, err := pinnedDSH()
	if err != nil || version == "" {
		t.Fatalf("pinnedDSH = %q, %v", version, err)
	}
}
