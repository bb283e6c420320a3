package drafts

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// The bars of docs/performance.md. Each is measured against a baseline that runs
// in the same process, turn by turn, so that what else the machine does falls on
// both. The baseline runs twice a turn: the ratio of its halves, A/A, is what the
// noise alone makes, and a run in which it leaves 0.9 to 1.1 is repeated.
//
//	go test -run xxx -bench Bars -benchtime 1x ./plugin/drafts

// manyDrafts is a file of n drafts of about 2.4 kB.
func manyDrafts(tb testing.TB, n int) []byte {
	tb.Helper()
	doc := shared.EmptyDocument()
	for i := range n {
		doc.Drafts = append(doc.Drafts, shared.DraftRecord{
			Version: shared.RecordVersion, ID: fmt.Sprintf("0193-8a00-7000-%06d", i), WorkspaceID: "w", WorkspacePath: "/home/someone/project",
			Text: strings.Repeat("Write a task in words, \"quoted\" too.\n", 55), State: shared.StateDraft, Revision: 1, TextRevision: 1, Order: int64(i),
		})
	}
	data, err := shared.EncodeDocument(doc)
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

// ratio are the medians of interleaved turns.
type ratio struct {
	ours, base time.Duration
	noise      float64 // A/A
}

func (r ratio) value() float64 { return float64(r.ours) / float64(r.base) }

// compare measures ours against base in turns, and again while the noise is loud.
func compare(turns int, base, ours func() time.Duration) ratio {
	var r ratio
	for range 5 {
		var first, second, own []time.Duration
		for turn := range turns {
			// The order changes, so that none always comes after the same other.
			steps := []func(){
				func() { first = append(first, base()) },
				func() { own = append(own, ours()) },
				func() { second = append(second, base()) },
			}
			for i := range steps {
				steps[(i+turn)%len(steps)]()
			}
		}
		r = ratio{median(own), median(slices.Concat(first, second)), float64(median(first)) / float64(median(second))}
		if r.noise >= 0.9 && r.noise <= 1.1 {
			break
		}
	}
	return r
}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

func timed(tb testing.TB, times int, f func() error) time.Duration {
	begun := time.Now()
	for range times {
		if err := f(); err != nil {
			tb.Fatal(err)
		}
	}
	return time.Since(begun) / time.Duration(times)
}

// report prints one line of the table.
func report(b *testing.B, what string, r ratio, bar string) {
	fmt.Printf("| %s | %.2f ms | %.2f ms | %.2f | %s | %.2f |\n", what, ms(r.ours), ms(r.base), r.value(), bar, r.noise)
	b.ReportMetric(r.value(), "x")
	b.ReportMetric(r.noise, "A/A")
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// bareSave is what any durable replacement of a file costs.
func bareSave(dir string, data []byte) error {
	temp, path := filepath.Join(dir, "temp"), filepath.Join(dir, "file")
	f, err := os.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		return err
	}
	if err := cmp.Or(f.Sync(), f.Close(), os.Rename(temp, path)); err != nil {
		return err
	}
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	return cmp.Or(folder.Sync(), folder.Close())
}

// openWith is a store on a file of n drafts.
func openWith(tb testing.TB, n int) (*Store, []byte) {
	tb.Helper()
	data := manyDrafts(tb, n)
	path := filepath.Join(tb.TempDir(), "drafts.json")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		tb.Fatal(err)
	}
	s, err := Open(tb.Context(), Options{Path: path, LimitPerWorkspace: n + 1000})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = s.Close() })
	return s, data
}

// edit is one save of another text of the same length.
func edit(tb testing.TB, s *Store, id string) error {
	_, err := s.Modify(tb.Context(), id, func(r *shared.DraftRecord) error {
		n, _ := strconv.Atoi(r.Text[len(r.Text)-8:]) // The first text ends otherwise: 0.
		r.Text = r.Text[:len(r.Text)-8] + fmt.Sprintf("%08d", n+1)
		return nil
	})
	return err
}

func BenchmarkBars(b *testing.B) {
	fmt.Println("\n| what | ours | baseline | ratio | bar | A/A |\n|---|---|---|---|---|---|")
	for _, test := range []struct {
		drafts, turns int
		bar           string
	}{{50, 151, "1.25"}, {1000, 51, "1.2"}, {10000, 15, "1.15"}} {
		b.Run(fmt.Sprint("Save/", test.drafts), func(b *testing.B) { benchSave(b, test.drafts, test.turns, test.bar) })
	}
	for _, test := range []struct{ drafts, times, turns int }{{50, 20, 11}, {1000, 5, 11}, {10000, 1, 7}} {
		b.Run(fmt.Sprint("Open/", test.drafts), func(b *testing.B) { benchOpen(b, test.drafts, test.times, test.turns) })
	}
	b.Run("Reread", benchReread)
	b.Run("Savers", benchSavers)
	b.Run("Memory", benchMemory)
	b.Run("Processes", benchProcesses)
}

// savePause is longer than it takes to free a replaced file.
const savePause = 5 * time.Millisecond

func benchSave(b *testing.B, n, turns int, bar string) {
	s, data := openWith(b, n)
	dir, id := b.TempDir(), s.Snapshot().Drafts[n/2].ID
	save := func() error { return edit(b, s, id) }
	timed(b, 2, save) // The first one writes the first backup beside it.
	// What is measured is how long somebody waits for one save. The replaced file is
	// freed after the answer, so each begins when nothing is left of the one before.
	each := func(f func() error) func() time.Duration {
		return func() time.Duration {
			time.Sleep(savePause)
			return timed(b, 1, f)
		}
	}
	b.ResetTimer()
	for range b.N {
		report(b, fmt.Sprintf("one save, %d drafts", n), compare(turns, each(func() error { return bareSave(dir, data) }), each(save)), "<= "+bar)
	}
}

func benchOpen(b *testing.B, n, times, turns int) {
	data := manyDrafts(b, n)
	path := filepath.Join(b.TempDir(), "drafts.json")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		b.Fatal(err)
	}
	// Closing is not opening, and takes 10 ms that the kernel needs to end a watch:
	// both are measured after such a pause, with equally cold caches.
	each := func(f func() error) func() time.Duration {
		return func() time.Duration {
			total := time.Duration(0)
			for range times {
				s, err := Open(b.Context(), Options{Path: path})
				if err == nil {
					err = s.Close()
				}
				if err != nil {
					b.Fatal(err)
				}
				total += timed(b, 1, f)
			}
			return total / time.Duration(times)
		}
	}
	opened := []*Store{}
	open := each(func() error {
		s, err := Open(b.Context(), Options{Path: path})
		opened = append(opened, s)
		return err
	})
	b.ResetTimer()
	for range b.N {
		report(b, fmt.Sprintf("open, %d drafts", n), compare(turns,
			each(func() error {
				data, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				return json.Unmarshal(data, &shared.Document{}, json.RejectUnknownMembers(true))
			}),
			func() time.Duration {
				took := open()
				for _, s := range opened {
					if len(s.Snapshot().Drafts) != n {
						b.Fatal("not all drafts are there")
					}
					if err := s.Close(); err != nil {
						b.Fatal(err)
					}
				}
				opened = nil
				return took
			}), "<= 1.15")
	}
}

// benchReread is reading what another process changed one draft of.
func benchReread(b *testing.B) {
	s, data := openWith(b, 10000)
	other, err := Open(b.Context(), Options{Path: s.State().Path})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = other.Close() }() // The figures are taken.
	b.ResetTimer()
	for range b.N {
		report(b, "re-read another's save, 10000 drafts", compare(7,
			func() time.Duration {
				return timed(b, 1, func() error { return json.Unmarshal(data, &shared.Document{}, json.RejectUnknownMembers(true)) })
			},
			func() time.Duration {
				if err := edit(b, other, other.Snapshot().Drafts[5000].ID); err != nil {
					b.Fatal(err)
				}
				return timed(b, 1, func() error { return s.Refresh(b.Context()) })
			}), "-")
	}
}

// benchSavers is how much more 64 savers save than one.
func benchSavers(b *testing.B) {
	const savers, each = 64, 20
	s, _ := openWith(b, savers)
	one := func() time.Duration {
		return timed(b, 2*each, func() error { return edit(b, s, s.Snapshot().Drafts[0].ID) })
	}
	all := func() time.Duration {
		begun := time.Now()
		var wait sync.WaitGroup
		for i := range savers {
			id := s.Snapshot().Drafts[i].ID
			wait.Go(func() {
				for range each {
					if err := edit(b, s, id); err != nil {
						b.Error(err)
					}
				}
			})
		}
		wait.Wait()
		return time.Since(begun) / (savers * each)
	}
	b.ResetTimer()
	for range b.N {
		r := compare(7, one, all)
		fmt.Printf("| 64 savers, each on its own draft, of 64 | %.3f ms a save | %.2f ms for one saver | %.1f x as many | >= 20 | %.2f |\n", ms(r.ours), ms(r.base), 1/r.value(), r.noise)
		b.ReportMetric(1/r.value(), "x")
	}
}

// gcPercent is what the command sets for the plugin process, see its main.
const gcPercent = 25

// benchMemory is the heap of an open store of 10,000 drafts, after a collection
// and at its highest, while it is opened, saved to and re-read.
func benchMemory(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(gcPercent))
	data := manyDrafts(b, 10000)
	size := float64(len(data))
	path := filepath.Join(b.TempDir(), "drafts.json")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		b.Fatal(err)
	}
	data = nil
	before := heap(true)
	stop, peak := make(chan struct{}), make(chan uint64)
	go func() { // Ends with stop.
		highest := uint64(0)
		for {
			select {
			case <-stop:
				peak <- highest
				return
			case <-time.After(500 * time.Microsecond):
				highest = max(highest, heap(false))
			}
		}
	}()
	s, err := Open(b.Context(), Options{Path: path})
	if err != nil {
		b.Fatal(err)
	}
	live := heap(true)
	for i := range 40 {
		if err := edit(b, s, s.Snapshot().Drafts[i*200].ID); err != nil {
			b.Fatal(err)
		}
	}
	after := heap(true)
	close(stop)
	highest := <-peak
	fmt.Printf("| live heap after opening 10000 drafts, then after 40 saves | %.1f MB, %.1f MB | %.1f MB of file | %.2f, %.2f | <= 2.5 | |\n",
		mb(live-before), mb(after-before), size/1e6, float64(live-before)/size, float64(after-before)/size)
	fmt.Printf("| highest heap meanwhile, GOGC=%d as in the plugin | %.1f MB | | %.2f | <= 3 | |\n", gcPercent, mb(highest-before), float64(highest-before)/size)
	b.ReportMetric(float64(after-before)/size, "live/file")
	b.ReportMetric(float64(highest-before)/size, "peak/file")
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
}

func heap(collect bool) uint64 {
	if collect {
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func mb(bytes uint64) float64 { return float64(bytes) / 1e6 }

// timerEnv makes the test binary save to the file it names and print how long
// each save took, in nanoseconds.
const timerEnv = "DRAFTS_TEST_TIMER"

func benchProcesses(b *testing.B) {
	const processes = 4
	s, _ := openWith(b, 50)
	path := s.State().Path
	for range b.N {
		times := make([][]time.Duration, processes)
		var wait sync.WaitGroup
		for n := range processes {
			wait.Go(func() {
				child := exec.Command(os.Args[0])
				child.Env = append(os.Environ(), timerEnv+"="+path, sharerNameEnv+"="+strconv.Itoa(n), sharerCountEnv+"=150")
				out, err := child.Output()
				if err != nil {
					b.Error(err)
				}
				for line := range strings.Lines(string(out)) {
					took, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
					if err != nil {
						b.Errorf("a process said %q", line)
					}
					times[n] = append(times[n], time.Duration(took))
				}
			})
		}
		wait.Wait()
		all := slices.Concat(times...)
		if len(all) == 0 {
			b.Fatal("no process saved anything")
		}
		middle, longest := median(all), slices.Max(all)
		fmt.Printf("| 4 processes, 50 drafts: the longest save against the median | %.1f ms | %.1f ms | %.1f | <= 10 | |\n", ms(longest), ms(middle), float64(longest)/float64(middle))
		b.ReportMetric(float64(longest)/float64(middle), "longest/median")
	}
}
