// Package qualify says what of compatibility.json changes when a release of the
// DeepSeek Harness has been tested: [Change].
package qualify

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
	"github.com/draft-sessions/dsh-draft-sessions/shared/compat"
)

// Found is what a release told of itself while it ran.
type Found struct {
	// Version is the host's.
	Version string
	// Packages are the pinned packages that have another version than the pinned one.
	Packages map[string]string
	// Node is the version that it ran on.
	Node string
}

// Line is a changed line of the file, without its end.
type Line struct{ Before, After string }

const host = "dsh"

// Change makes a release a tested one. A pin is exact, so a release with other
// packages takes the place of those that were tested before; otherwise it stands
// beside them. The edited file is read back, and lets the release through.
func Change(file []byte, found Found) (edited []byte, lines []Line, err error) {
	table, err := compat.Parse(file)
	if err != nil {
		return nil, nil, err
	}
	version, err := semver.StrictNewVersion(found.Version)
	if err != nil {
		return nil, nil, fmt.Errorf("the release's version %q: %w", found.Version, err)
	}
	known := table.Hosts[host]
	allowed, tested := known.Range, slices.Clone(known.Tested)
	inside, err := compat.ParseRange(known.Range)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case len(found.Packages) > 0:
		allowed, tested = rangeOf(version), []string{found.Version}
	case !inside.Contains(version):
		allowed = known.Range + " || " + rangeOf(version)
	}
	if !slices.Contains(tested, found.Version) {
		tested = append(tested, found.Version)
	}
	e := editor{lines: strings.Split(string(file), "\n")}
	e.set("range", quoted(allowed))
	e.set("tested", "["+quoted(tested...)+"]")
	for name, to := range found.Packages {
		e.set(name, quoted(to))
	}
	edited = []byte(strings.Join(e.lines, "\n"))
	return edited, e.changed, errors.Join(append(e.failed, check(edited, known, found))...)
}

// rangeOf is the range of one release: with it the further candidates of the same
// release, which pins and features still hold to what was tested.
func rangeOf(v *semver.Version) string {
	if v.Prerelease() == "" {
		return v.String()
	}
	return fmt.Sprintf(">=%s <%d.%d.%d", v, v.Major(), v.Minor(), v.Patch())
}

func quoted(texts ...string) string {
	var all []string
	for _, t := range texts {
		all = append(all, fmt.Sprintf("%q", t))
	}
	return strings.Join(all, ", ")
}

// editor changes members of the host's object, each of which has a line of its own.
type editor struct {
	lines   []string
	changed []Line
	failed  []error
}

func (e *editor) set(member, value string) {
	line := regexp.MustCompile(`^(\s*` + regexp.QuoteMeta(fmt.Sprintf("%q", member)) + `: )(.*?)(,?)$`)
	inHost := false
	for i, text := range e.lines {
		inHost = inHost || strings.HasPrefix(strings.TrimSpace(text), fmt.Sprintf("%q: {", host))
		parts := line.FindStringSubmatch(text)
		if !inHost || parts == nil {
			continue
		}
		if after := parts[1] + value + parts[3]; after != text {
			e.changed = append(e.changed, Line{Before: text, After: after})
			e.lines[i] = after
		}
		return
	}
	e.failed = append(e.failed, fmt.Errorf("compatibility.json has no line for %q", member))
}

// check reads the edited file and asks it about the release.
func check(edited []byte, known compat.Host, found Found) error {
	table, err := compat.Parse(edited)
	if err != nil {
		return err
	}
	facts := compat.Facts{
		Host: host, HostVersion: found.Version, NodeVersion: found.Node, Protocol: shared.ProtocolVersion,
		Packages: map[string]string{}, Probed: []string{"none"}, // the features were tested for real
	}
	for name, pin := range known.Pins {
		facts.Packages[name] = pin
	}
	for name, version := range found.Packages {
		facts.Packages[name] = version
	}
	if d := table.Decide(facts); d.Mode != compat.ModeFull || len(d.Reasons) > 0 {
		return fmt.Errorf("the edited file would still not let the release through: %+v", d.Reasons)
	}
	return nil
}
