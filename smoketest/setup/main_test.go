package main

import (
	"context"
	"strings"
	"testing"
)

func TestReportNamesWhatToInstall(t *testing.T) {
	absent := func(context.Context) bool { return false }
	all := []need{
		{name: "Xvfb", why: "keys", packages: []string{"xvfb"}, there: absent},
		{name: "a font", why: "pictures", packages: []string{"fonts"}, optional: true, there: absent},
		{name: "present", there: func(context.Context) bool { return true }},
	}
	missing := lacking(t.Context(), all)
	if len(missing) != 2 {
		t.Fatalf("missing %v", names(missing))
	}
	var out strings.Builder
	err := report(&out, missing)
	if err == nil || !strings.Contains(err.Error(), "apt-get install xvfb)") {
		t.Errorf("error %v does not name the package that is needed, and that alone", err)
	}
	if !strings.Contains(out.String(), "a font is missing (pictures); going on without") {
		t.Errorf("output %q", out.String())
	}
	if err := report(&out, missing[1:]); err != nil {
		t.Errorf("something optional is an error: %v", err)
	}
}
