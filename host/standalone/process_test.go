package standalone_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// childrenOf are the living children of a process whose command line has all of words.
func childrenOf(pid int, words ...string) []int {
	var out []int
	entries, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil
	}
	for _, path := range entries {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue // ended just now
		}
		_, rest, _ := bytes.Cut(stat, []byte(") "))
		fields := strings.Fields(string(rest))
		if len(fields) < 2 || fields[0] == "Z" || fields[1] != strconv.Itoa(pid) {
			continue
		}
		line, err := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		if err != nil {
			continue
		}
		all := true
		for _, word := range words {
			all = all && bytes.Contains(line, []byte(word))
		}
		if child, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil && all {
			out = append(out, child)
		}
	}
	return out
}

func pluginOf(t *testing.T, host int) int {
	t.Helper()
	var found []int
	until(t, "the plugin process", func() bool {
		found = childrenOf(host, binary, "plugin")
		return len(found) == 1
	})
	return found[0]
}
