package compat

import (
	"strings"
	"testing"
)

// The expectations are what npm's own range code answers.
func TestRangeHasNpmMeaning(t *testing.T) {
	for _, test := range []struct{ text, accepts, refuses string }{
		{">=0.1.0-rc.8 <0.1.0", "0.1.0-rc.8 0.1.0-rc.9 0.1.0-rc.10", "0.1.0-rc.7 0.1.0 0.1.1-rc.2 0.0.9 0.0.9-rc.9"},
		{">=0.1.1-rc.2 <0.2.0", "0.1.1-rc.2 0.1.1 0.1.9", "0.1.2-rc.1 0.2.0-rc.1 0.2.0 0.1.1-rc.1"},
		{"^22.19.0 || >=24.0.0", "22.19.0 22.99.0 24.0.0 25.1.0", "22.18.9 23.5.0 24.0.0-rc.1 22.20.0-nightly"},
		{"*", "0.0.0 1.2.3", "1.2.3-rc.1"},
		{"", "0.0.0 25.0.0", "1.0.0-0"},
		{"1", "1.0.0 1.9.9", "2.0.0 0.9.9 1.0.0-rc.1"},
		{"1.2.x", "1.2.0 1.2.9", "1.3.0 1.3.0-0 1.1.9"},
		{"1.2.3", "1.2.3 1.2.3+build", "1.2.4 1.2.3-rc.1"},
		{"= v1.2.3", "1.2.3", "1.2.2"},
		{"~1.2.3", "1.2.3 1.2.9", "1.3.0 1.2.2"},
		{"~>1", "1.0.0 1.9.0", "2.0.0"},
		{"~1.2.3-beta.2", "1.2.3-beta.4 1.2.3 1.2.4", "1.2.3-beta.1 1.2.4-beta.2"},
		{"^1.2.3", "1.2.3 1.9.9", "2.0.0 2.0.0-alpha 1.2.3-beta"},
		{"^0.2.3", "0.2.3 0.2.9", "0.3.0 0.2.2"},
		{"^0.0.3", "0.0.3", "0.0.4 0.0.4-0 0.0.2"},
		{"^0.0", "0.0.0 0.0.9", "0.1.0"},
		{"^0.x", "0.0.0 0.9.9", "1.0.0"},
		{"^0.0.3-beta", "0.0.3-beta 0.0.3-gamma 0.0.3", "0.0.4"},
		{">1", "2.0.0", "1.9.9 2.0.0-0"},
		{">1.2", "1.3.0", "1.2.9"},
		{">1.2.3-alpha.3", "1.2.3-alpha.7 1.2.3 3.0.0", "1.2.3-alpha.3 1.2.4-beta.2"},
		{"<1.2", "1.1.9", "1.2.0 1.2.0-0"},
		{"<=1.2", "1.2.9", "1.3.0"},
		{">*", "", "0.0.0 1.0.0"},
		{"1.2 - 2.3", "1.2.0 2.3.9", "2.4.0 1.1.9"},
		{"1.2.3 - 2.3.4", "1.2.3 2.3.4", "2.3.5"},
		{"1 - 2", "1.0.0 2.9.0", "3.0.0 3.0.0-0"},
		{"1.2.3-rc.1 - 1.2.3", "1.2.3-rc.1 1.2.3", "1.2.4"},
	} {
		r, err := ParseRange(test.text)
		if err != nil {
			t.Errorf("%q: %v", test.text, err)
			continue
		}
		for want, list := range map[bool]string{true: test.accepts, false: test.refuses} {
			for _, text := range strings.Fields(list) {
				v, err := parseVersion(text)
				if err != nil {
					t.Fatal(err)
				}
				if r.Contains(v) != want {
					t.Errorf("%q contains %s: %v, want %v", test.text, text, !want, want)
				}
			}
		}
	}
}

func TestParseRangeRefuses(t *testing.T) {
	for _, text := range []string{"latest", ">=", "1.2.3.4", "^^1", "01.2.3", ">1 - 2", "1.2.3-", "99999999999999999999.0.0", "1,2", "workspace:*"} {
		if r, err := ParseRange(text); err == nil {
			t.Errorf("%q was read as %v", text, r)
		}
	}
}
