package eventlog

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func object(text string) jsontext.Value {
	value, err := jsontext.AppendQuote([]byte(`{"text":`), text)
	if err != nil {
		panic(err)
	}
	return append(value, '}')
}

// written is the path of a log with these texts, and its bytes.
func written(t *testing.T, texts ...string) (path string, data []byte) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "log.jsonl")
	l, _, err := Open(path, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range texts {
		if _, err := l.Append("said", object(text)); err != nil {
			t.Fatal(err)
		}
	}
	if data, err = os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	return path, data
}

// Invariant 1: a log that was cut anywhere keeps every event before the cut, and
// the torn end lies beside it.
func TestTornAtEveryByte(t *testing.T) {
	_, data := written(t, "one\ntwo", "✓")
	step := 1
	if testing.Short() {
		step = 5
	}
	for size := 0; size <= len(data); size += step {
		path := filepath.Join(t.TempDir(), "log.jsonl")
		if err := os.WriteFile(path, data[:size], 0o600); err != nil {
			t.Fatal(err)
		}
		want := bytes.Count(data[:size], []byte("\n"))
		l, events, err := Open(path, time.Now)
		if err != nil || l.Damage() != nil || len(events) != want {
			t.Fatalf("cut at %d: %d events, want %d; damage %v, error %v", size, len(events), want, l.Damage(), err)
		}
		whole := bytes.LastIndexByte(data[:size], '\n') + 1
		beside, err := filepath.Glob(path + ".torn-*")
		if err != nil || (len(beside) == 1) != (whole < size) {
			t.Fatalf("cut at %d: %v set aside, %v", size, beside, err)
		}
		if len(beside) == 1 {
			if torn, err := os.ReadFile(beside[0]); err != nil || !bytes.Equal(torn, data[whole:size]) {
				t.Fatalf("cut at %d: set aside %q, %v", size, torn, err)
			}
		}
		if e, err := l.Append("said", object("next")); err != nil || e.Seq != int64(want+1) {
			t.Fatalf("cut at %d: the next event is %d, %v", size, e.Seq, err)
		}
		if again, events, err := Open(path, time.Now); err != nil || again.Damage() != nil || len(events) != want+1 {
			t.Fatalf("cut at %d and written on: %d events, %v", size, len(events), err)
		}
	}
}

// Invariant 7: whatever byte of an acknowledged line is changed, the damage is
// told with its place, what stands before it is read, and the file keeps its bytes.
func TestDamageAtEveryByte(t *testing.T) {
	_, data := written(t, "one", "secret words", "three")
	second := bytes.IndexByte(data, '\n') + 1
	for i := range data {
		if i == len(data)-1 {
			continue // without its last line feed the end is torn, not damaged
		}
		bad := bytes.Clone(data)
		bad[i] ^= 0x01
		path := filepath.Join(t.TempDir(), "log.jsonl")
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		l, events, err := Open(path, time.Now)
		if err != nil || l.Damage() == nil {
			t.Fatalf("byte %d: damage %v, error %v", i, l.Damage(), err)
		}
		if i >= second && len(events) == 0 {
			t.Fatalf("byte %d: the first event is gone", i)
		}
		if _, err := l.Append("said", object("more")); !errors.Is(err, l.Damage()) {
			t.Fatalf("byte %d: written all the same: %v", i, err)
		}
		if strings.Contains(l.Damage().Error(), "secret") {
			t.Fatalf("the damage quotes the line: %v", l.Damage())
		}
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, bad) {
			t.Fatalf("byte %d: the file was changed, %v", i, err)
		}
	}
}

// A line that is missing or doubled is damage too, although each line is whole.
func TestDamageOfOrder(t *testing.T) {
	_, data := written(t, "one", "two", "three")
	lines := bytes.SplitAfter(data, []byte("\n"))
	for name, bad := range map[string][]byte{
		"missing": bytes.Join([][]byte{lines[0], lines[2]}, nil),
		"doubled": bytes.Join([][]byte{lines[0], lines[0], lines[1]}, nil),
		"blank":   bytes.Join([][]byte{lines[0], []byte("\n"), lines[1]}, nil),
	} {
		path := filepath.Join(t.TempDir(), "log.jsonl")
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		l, events, err := Open(path, time.Now)
		if err != nil || l.Damage() == nil || l.Damage().Line != 2 || len(events) != 1 {
			t.Errorf("%s: %v, %d events, %v", name, l.Damage(), len(events), err)
		}
	}
}

// failing is a file whose nth call of a kind fails; a write writes half first.
type failing struct {
	handle
	write, sync, truncate bool
}

var errDisk = errors.New("the disk refuses")

func (f *failing) Write(p []byte) (int, error) {
	if !f.write {
		return f.handle.Write(p)
	}
	n, err := f.handle.Write(p[:len(p)/2])
	return n, errors.Join(errDisk, err)
}

func (f *failing) Sync() error {
	if f.sync {
		return errDisk
	}
	return f.handle.Sync()
}

func (f *failing) Truncate(size int64) error {
	if f.truncate {
		return errDisk
	}
	return f.handle.Truncate(size)
}

// Invariant 1: an append that failed is not in the log, not even when taking it
// back failed too and the next one has to do it.
func TestFailedAppendLeavesNothing(t *testing.T) {
	for name, fault := range map[string]failing{
		"write":              {write: true},
		"sync":               {sync: true},
		"write and truncate": {write: true, truncate: true},
		"sync and truncate":  {sync: true, truncate: true},
	} {
		path, _ := written(t, "one")
		l, _, err := Open(path, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		l.open = func(path string) (handle, error) {
			file, err := openFile(path)
			f := fault
			f.handle = file
			return &f, err
		}
		if _, err := l.Append("said", object("lost")); !errors.Is(err, errDisk) {
			t.Fatalf("%s: %v", name, err)
		}
		if l.Last() != 1 {
			t.Errorf("%s: the last event is %d", name, l.Last())
		}
		if events, err := l.Read(0); err != nil || len(events) != 1 {
			t.Errorf("%s: %d events are read, %v", name, len(events), err)
		}
		l.open = openFile
		if e, err := l.Append("said", object("two")); err != nil || e.Seq != 2 {
			t.Fatalf("%s: then event %d, %v", name, e.Seq, err)
		}
		again, events, err := Open(path, time.Now)
		if err != nil || again.Damage() != nil || len(events) != 2 || !strings.Contains(string(events[1].Data), "two") {
			t.Errorf("%s: %v, %d events, %v", name, again.Damage(), len(events), err)
		}
	}
}

// A file that another program changed is not written.
func TestForeignChange(t *testing.T) {
	path, data := written(t, "one")
	l, _, err := Open(path, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(data, "x\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append("said", object("two")); !errors.Is(err, errForeign) {
		t.Errorf("%v", err)
	}
}

func TestTooLarge(t *testing.T) {
	path, data := written(t, "one")
	l, _, err := Open(path, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append("said", object(strings.Repeat("x", MaxEventBytes))); !errors.Is(err, ErrTooLarge) {
		t.Errorf("%v", err)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, data) {
		t.Errorf("the file was changed, %v", err)
	}
}

// Many writers of one log: every event is there once, numbered without a gap.
func TestManyWriters(t *testing.T) {
	path, _ := written(t)
	l, _, err := Open(path, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	const writers, each = 8, 10
	var wait sync.WaitGroup
	for w := range writers {
		wait.Go(func() {
			for i := range each {
				if _, err := l.Append("said", object(fmt.Sprint(w, "-", i))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	again, events, err := Open(path, time.Now)
	if err != nil || again.Damage() != nil || len(events) != writers*each {
		t.Fatalf("%v, %d events, %v", again.Damage(), len(events), err)
	}
	seen := map[string]bool{}
	for _, e := range events {
		seen[string(e.Data)] = true
	}
	if len(seen) != writers*each {
		t.Errorf("%d different events", len(seen))
	}
}

// What is written is read again, whatever the text.
func TestEveryTextSurvives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var data []byte
		texts := rapid.SliceOfN(rapid.String(), 1, 5).Draw(t, "texts")
		for i, text := range texts {
			line, err := encode(Event{Seq: int64(i + 1), At: 1, Type: "said", Data: object(text)})
			if err != nil {
				t.Fatal(err)
			}
			data = append(data, line...)
		}
		events, damage := parse(data)
		if damage != nil || len(events) != len(texts) {
			t.Fatalf("%d events of %d, %v", len(events), len(texts), damage)
		}
		for i, e := range events {
			if !bytes.Equal(e.Data, object(texts[i])) {
				t.Fatalf("%q came back as %q", texts[i], e.Data)
			}
		}
	})
}

func TestReadGoesOnFromAnyEvent(t *testing.T) {
	path, _ := written(t, "1", "2", "3")
	l, _, err := Open(path, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	for after := range int64(4) {
		events, err := l.Read(after)
		if err != nil || len(events) != int(3-after) || len(events) > 0 && events[0].Seq != after+1 {
			t.Errorf("after %d: %v, %v", after, events, err)
		}
	}
}
