package compat

import (
	"encoding/json"
	"os"
	"testing"
)

// The table holds what npm's own range code answered (testdata/ranges.mjs made it).
func TestRangesAnswerAsNpmDoes(t *testing.T) {
	data, err := os.ReadFile("testdata/ranges.json")
	if err != nil {
		t.Fatal(err)
	}
	var table struct {
		Semver   string
		Versions []string
		Ranges   [][2]*string // the range, and a 1 or 0 for each version; null for no range
	}
	if err := json.Unmarshal(data, &table); err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, row := range table.Ranges {
		text, answers := *row[0], row[1]
		r, err := ParseRange(text)
		if (err == nil) != (answers != nil) {
			t.Errorf("%q: read with %v; a range of npm's: %v", text, err, answers != nil)
		}
		if err != nil || answers == nil {
			continue
		}
		for i, version := range table.Versions {
			v, err := parseVersion(version)
			if err != nil {
				t.Fatal(err)
			}
			if want := (*answers)[i] == '1'; r.Contains(v) != want {
				t.Errorf("%q contains %s: %v, npm %s says %v", text, version, !want, table.Semver, want)
			}
			compared++
		}
	}
	if compared < 20_000 {
		t.Errorf("the table has only %d answers", compared)
	}
}
