// Package processes finds the processes of a test's home.
package processes

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// Plugins are the plugin processes of a draft file, whoever their parent is now.
func Plugins(draftFile string) []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	store := []byte(shared.EnvStore + "=" + draftFile)
	var pids []int
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		// A process that ends meanwhile is none of the pids.
		command, err := os.ReadFile(filepath.Join("/proc", entry.Name(), "cmdline"))
		if err != nil || len(command) == 0 {
			continue
		}
		if name, _, _ := bytes.Cut(command, []byte{0}); filepath.Base(string(name)) != "draft-sessions" {
			continue
		}
		environment, err := os.ReadFile(filepath.Join("/proc", entry.Name(), "environ"))
		if err != nil {
			continue
		}
		for _, variable := range bytes.Split(environment, []byte{0}) {
			if bytes.Equal(variable, store) {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}
