package qualify

import (
	"slices"
	"strings"
	"testing"

	draftsessions "github.com/draft-sessions/dsh-draft-sessions"
	"github.com/draft-sessions/dsh-draft-sessions/shared/compat"
)

const ui = "@deepseek-ai/dsh-client-ui-workspace"

func TestChange(t *testing.T) {
	table, err := compat.Parse(draftsessions.Compatibility)
	if err != nil {
		t.Fatal(err)
	}
	known := table.Hosts["dsh"]
	newest := known.Tested[len(known.Tested)-1]
	for _, c := range []struct {
		name  string
		found Found
		want  []string // what the new lines hold
	}{
		{"the tested one", Found{Version: newest, Node: "24.0.0"}, nil},
		{"a later candidate with the same page", Found{Version: "0.1.0-rc.99", Node: "24.0.0"}, []string{`"0.1.0-rc.99"]`}},
		{"another release with the same page", Found{Version: "0.2.0", Node: "24.0.0"}, []string{known.Range + ` || 0.2.0"`, `"0.2.0"]`}},
		{"a candidate with another page", Found{Version: "0.3.1-rc.2", Node: "24.0.0", Packages: map[string]string{ui: "0.3.1-rc.2"}},
			[]string{`">=0.3.1-rc.2 <0.3.1"`, `["0.3.1-rc.2"]`, `"` + ui + `": "0.3.1-rc.2"`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			edited, lines, err := Change(draftsessions.Compatibility, c.found)
			if err != nil {
				t.Fatal(err)
			}
			if len(lines) != len(c.want) {
				t.Errorf("changes %+v", lines)
			}
			for _, want := range c.want {
				if !slices.ContainsFunc(lines, func(l Line) bool { return strings.Contains(l.After, want) && !strings.Contains(l.Before, want) }) {
					t.Errorf("no line has %s: %+v", want, lines)
				}
			}
			if again, none, err := Change(edited, Found{Version: c.found.Version, Node: "24.0.0"}); err != nil || len(none) != 0 || string(again) != string(edited) {
				t.Errorf("a second time it changes %+v, %v", none, err)
			}
		})
	}
}

func TestChangeRefusesWhatWouldNotWork(t *testing.T) {
	for name, found := range map[string]Found{
		"no version":         {Version: "newest", Node: "24.0.0"},
		"a Node too old":     {Version: "0.2.0", Node: "18.0.0"},
		"an unknown package": {Version: "0.2.0", Node: "24.0.0", Packages: map[string]string{"@x/unknown": "1.0.0"}},
	} {
		if _, _, err := Change(draftsessions.Compatibility, found); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}
