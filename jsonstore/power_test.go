package jsonstore

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// operation is one call of the write path, as far as a power cut can tell it.
type operation struct {
	kind     string // create, write, sync, lost, rename, link, remove, syncdir, lostdir, ack
	name, to string
	data     []byte
	words    int // acknowledged
}

// recorder is the real file system with a log of what would reach a disk.
type recorder struct {
	OS
	mu   sync.Mutex
	log  []operation
	fail func(operation) bool // what a sync fails for; nil is nothing
}

func (r *recorder) add(op operation) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fail != nil && r.fail(op) {
		// The kernel reports a failed sync once and may have dropped the data.
		op.kind = map[string]string{"sync": "lost", "syncdir": "lostdir"}[op.kind]
		r.log = append(r.log, op)
		return syscall.EIO
	}
	r.log = append(r.log, op)
	return nil
}

func (r *recorder) Open(name string) (File, error) {
	f, err := r.OS.Open(name)
	if err != nil {
		return nil, err
	}
	return &recorded{f, r, name}, nil
}

func (r *recorder) Create(name string, perm fs.FileMode) (File, error) {
	f, err := r.OS.Create(name, perm)
	if err != nil {
		return nil, err
	}
	return &recorded{f, r, name}, r.add(operation{kind: "create", name: name})
}

func (r *recorder) Rename(from, to string) error {
	if err := r.OS.Rename(from, to); err != nil {
		return err
	}
	return r.add(operation{kind: "rename", name: from, to: to})
}

func (r *recorder) Link(name, second string) error {
	if err := r.OS.Link(name, second); err != nil {
		return err
	}
	return r.add(operation{kind: "link", name: name, to: second})
}

func (r *recorder) Remove(name string) error {
	if err := r.OS.Remove(name); err != nil {
		return err
	}
	return r.add(operation{kind: "remove", name: name})
}

type recorded struct {
	File
	r    *recorder
	name string
}

func (f *recorded) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	return n, cmpErr(err, f.r.add(operation{kind: "write", name: f.name, data: bytes.Clone(p[:n])}))
}

func (f *recorded) Sync() error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	kind := "sync"
	if info.IsDir() {
		kind = "syncdir"
	}
	return cmpErr(f.File.Sync(), f.r.add(operation{kind: kind, name: f.name}))
}

func cmpErr(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// inode is a file of the simulated disk.
type inode struct {
	data   []byte
	synced bool // all of data is on disk
}

// simulated is the disk after a prefix of the log: what is certain, and the
// changes of names since, each of which may or may not have reached it.
type simulated struct {
	cached  map[string]*inode // what a program would see
	certain map[string]*inode
	pending []pending
}

type pending struct {
	operation
	file *inode
	// lost is set when syncing the folder failed: a later sync that succeeds says
	// nothing about this change.
	lost bool
}

func (d *simulated) apply(op operation) {
	switch op.kind {
	case "create":
		d.cached[op.name] = &inode{}
		d.pend(op, d.cached[op.name])
	case "write":
		f := d.cached[op.name]
		f.data, f.synced = append(slices.Clip(f.data), op.data...), false
	case "sync":
		if f := d.cached[op.name]; f != nil {
			f.synced = true
		}
	case "rename":
		f := d.cached[op.name]
		delete(d.cached, op.name)
		d.cached[op.to] = f
		d.pend(op, f)
	case "link":
		d.cached[op.to] = d.cached[op.name]
		d.pend(op, d.cached[op.name])
	case "remove":
		delete(d.cached, op.name)
		d.pend(op, nil)
	case "syncdir":
		for _, p := range d.pending {
			if !p.lost {
				change(d.certain, p.operation, p.file)
			}
		}
		d.pending = nil
	case "lostdir":
		for i := range d.pending {
			d.pending[i].lost = true
		}
	}
}

func (d *simulated) pend(op operation, f *inode) {
	d.pending = append(d.pending, pending{operation: op, file: f})
}

func change(names map[string]*inode, op operation, f *inode) {
	switch op.kind {
	case "create":
		names[op.name] = f
	case "rename":
		delete(names, op.name)
		names[op.to] = f
	case "link":
		names[op.to] = f
	case "remove":
		delete(names, op.name)
	}
}

// outcomes are the contents that the named file may have after a power cut: any
// of the changes of names may be missing, and what was not synced may be whole,
// half, empty or NUL.
func (d *simulated) outcomes(path string) []string {
	var all []string
	for _, names := range d.namings() {
		all = append(all, contents(names[path])...)
	}
	return all
}

// namings are the files that there may be after a power cut.
func (d *simulated) namings() []map[string]*inode {
	var all []map[string]*inode
	for subset := range 1 << len(d.pending) {
		names := maps.Clone(d.certain)
		for i, p := range d.pending {
			if subset&(1<<i) != 0 {
				change(names, p.operation, p.file)
			}
		}
		all = append(all, names)
	}
	return all
}

// contents are what a file may hold after a power cut.
func contents(f *inode) []string {
	switch {
	case f == nil:
		return []string{"(missing)"}
	case f.synced:
		return []string{string(f.data)}
	}
	return []string{string(f.data), string(f.data[:len(f.data)/2]), "", strings.Repeat("\x00", len(f.data))}
}

// replay cuts the power after each operation and has every outcome checked.
func replay(t *testing.T, log []operation, path, before string, check func(at string, acknowledged int, content string)) {
	t.Helper()
	d := &simulated{cached: map[string]*inode{}, certain: map[string]*inode{}}
	if before != "" {
		d.certain[path] = &inode{data: []byte(before), synced: true}
		d.cached[path] = d.certain[path]
	}
	acknowledged := 0
	for i, op := range log {
		d.apply(op)
		if op.kind == "ack" {
			acknowledged = op.words
		}
		at := fmt.Sprintf("after operation %d, %s %s", i, op.kind, kindOf(op.name))
		for _, content := range d.outcomes(path) {
			check(at, acknowledged, content)
		}
	}
}

// wantWhole is a check that the file is whole and has what was acknowledged.
func wantWhole(t *testing.T) func(at string, acknowledged int, content string) {
	return func(at string, acknowledged int, content string) {
		if content == "(missing)" && acknowledged == 0 {
			return
		}
		l, err := listFormat.Decode([][]byte{[]byte(content)}, Encoded[*list]{})
		if err != nil || len(l.Doc.Words) < acknowledged {
			t.Errorf("%s: %d were acknowledged, the disk has %q", at, acknowledged, content)
		}
	}
}

// everyFolderSync has every n-th sync of a folder fail; 0 is none.
func everyFolderSync(n int, dir string) func(operation) bool {
	syncs := 0
	return func(op operation) bool {
		if op.kind != "syncdir" || op.name != dir || n == 0 {
			return false
		}
		syncs++
		return syncs%n == 0
	}
}

// Invariant 1: wherever the power is cut, the file is a whole one, and it has
// every change that was acknowledged. So the data reaches the disk before the
// name does, and the folder before the answer. Syncs of the folder fail now and
// then: what is acknowledged after such a failure is safe too, although the
// kernel forgets what it could not write.
func TestPowerCutAfterEachOperation(t *testing.T) {
	for _, failEvery := range []int{0, 2, 3} {
		o := quiet(filepath.Join(t.TempDir(), "list.json"))
		r := &recorder{fail: everyFolderSync(failEvery, filepath.Dir(o.Path))}
		o.FS = r
		s := open(t, o)
		acknowledged := 0
		for i := range 8 {
			_, err := s.Update(t.Context(), add(fmt.Sprint(i)))
			if err != nil && shared.CodeOf(err) != shared.StorageUncertain {
				t.Fatal(err)
			}
			if err == nil {
				acknowledged = i + 1
				must(t, r.add(operation{kind: "ack", words: acknowledged}))
			} else if _, err := s.Update(t.Context(), add(fmt.Sprint(i))); err == nil {
				acknowledged = i + 1
				must(t, r.add(operation{kind: "ack", words: acknowledged}))
			}
		}
		if acknowledged < 6 {
			t.Fatalf("only %d were acknowledged", acknowledged)
		}
		replay(t, r.log, s.State().Path, "", wantWhole(t))
	}
}

// A store that skips a sync would be found out: the simulation is no rubber stamp.
func TestPowerCutSimulationFindsMissingSyncs(t *testing.T) {
	r := &recorder{}
	o := quiet(filepath.Join(t.TempDir(), "list.json"))
	o.FS = r
	s := open(t, o)
	for i := range 3 {
		mustAdd(t, s, fmt.Sprint(i))
		must(t, r.add(operation{kind: "ack", words: i + 1}))
	}
	for _, kind := range []string{"sync", "syncdir"} {
		lax := slices.DeleteFunc(slices.Clone(r.log), func(op operation) bool { return op.kind == kind })
		found := false
		replay(t, lax, s.State().Path, "", func(_ string, acknowledged int, content string) {
			l, err := listFormat.Decode([][]byte{[]byte(content)}, Encoded[*list]{})
			found = found || acknowledged > 0 && (err != nil || len(l.Doc.Words) < acknowledged)
		})
		if !found {
			t.Errorf("nothing is lost without %s", kind)
		}
	}
}

// A repair leaves the malformed file in its place or the restored one.
func TestPowerCutDuringARepair(t *testing.T) {
	o, _ := withBackups(t)
	write(t, o.Path, "broken")
	r := &recorder{}
	o.FS = r
	if _, err := Repair(t.Context(), listFormat, o, FromBest); err != nil {
		t.Fatal(err)
	}
	replay(t, r.log, o.Path, "broken", func(at string, _ int, content string) {
		if content != "broken" {
			wantWhole(t)(at, 4, content)
		}
	})
}
