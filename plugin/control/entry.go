package control

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/go-json-experiment/json"
)

// Entry is what run/<pid>.json says of a live plugin.
type Entry struct {
	PID int `json:"pid"`
	// Started tells this process from a later one of the same id: what the system
	// says of its start, "" where it does not tell.
	Started string `json:"started"`
	// Machine is the machine, or container, in which the id means this process.
	Machine string `json:"machine"`
	Socket  string `json:"socket"`
	// Store is the draft file, links resolved.
	Store string `json:"store"`
}

// runFolder is where the entries of a draft file lie.
func runFolder(store string) string { return filepath.Join(filepath.Dir(store), "run") }

func (e Entry) path() string {
	return filepath.Join(runFolder(e.Store), strconv.Itoa(e.PID)+".json")
}

// ours tells whether the entry is of this machine, so that its process can be looked for.
func (e Entry) ours() bool { return e.Machine == machine() }

// ended is the start of a process that its parent has not asked about yet: where
// nobody asks, as in a container without an init, it stays for ever.
const ended = "ended"

// alive tells whether the process is there still. It is true when in doubt.
func (e Entry) alive() bool {
	if err := syscall.Kill(e.PID, 0); errors.Is(err, syscall.ESRCH) {
		return false
	}
	now := startOf(e.PID)
	return now == "" || e.Started == "" || now == e.Started
}

// write puts the entry in its place, whole or not at all.
func (e Entry) write() error {
	data, err := json.Marshal(e)
	if err != nil {
		return err
	}
	temporary, err := os.CreateTemp(runFolder(e.Store), ".entry-*")
	if err != nil {
		return err
	}
	_, err = temporary.Write(append(data, '\n'))
	err = errors.Join(err, temporary.Close())
	if err == nil {
		err = os.Rename(temporary.Name(), e.path())
	}
	if err != nil {
		_ = os.Remove(temporary.Name()) // The first error tells.
	}
	return err
}

// remove takes the entry and its socket away.
func (e Entry) remove() {
	_ = os.Remove(e.path()) // Whoever finds it again removes it.
	if info, err := os.Lstat(e.Socket); err == nil && info.Mode().Type() == fs.ModeSocket {
		_ = os.Remove(e.Socket)
		if dir := filepath.Dir(e.Socket); dir != runFolder(e.Store) && strings.HasPrefix(filepath.Base(dir), socketFolder) {
			_ = os.Remove(dir) // Empty by now, or not ours.
		}
	}
}

// entries are the plugins that say they serve the draft file. Those whose
// process is gone are swept.
func entries(store string) ([]Entry, error) {
	names, err := filepath.Glob(filepath.Join(runFolder(store), "*.json"))
	if err != nil {
		return nil, fmt.Errorf("look for plugins: %w", err)
	}
	var live []Entry
	for _, name := range names {
		var e Entry
		data, err := os.ReadFile(name)
		if err != nil || json.Unmarshal(data, &e) != nil || e.PID <= 0 || e.Socket == "" {
			continue // Going away right now, or not ours.
		}
		e.Store = store // Files may have been moved together with their home.
		if e.path() != name || !e.ours() {
			continue
		}
		if !e.alive() {
			e.remove()
			continue
		}
		live = append(live, e)
	}
	return live, nil
}

// resolved is the draft file with links followed, as far as it exists: the same
// file has its entries in one place, whatever way leads to it.
func resolved(store string) string {
	if path, err := filepath.Abs(store); err == nil {
		store = path
	}
	if path, err := filepath.EvalSymlinks(store); err == nil {
		return path
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(store)); err == nil {
		return filepath.Join(dir, filepath.Base(store))
	}
	return store
}
