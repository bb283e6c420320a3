package compat

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/Masterminds/semver/v3"
)

// Range is a version range with npm's meaning, which differs from that of the
// Go libraries for prereleases: 0.2.0-rc.1 is lower than 0.2.0, yet "<0.2.0" does
// not accept it, since a prerelease is only accepted by a range that names a
// prerelease of the same major.minor.patch.
type Range struct {
	text string
	// sets are the alternatives; a version must satisfy every comparator of one.
	sets [][]comparator
}

// comparator is an operator (one of < <= > >=) and a full version.
type comparator struct {
	op      string
	version *semver.Version
}

var (
	hyphenRange  = regexp.MustCompile(`^\s*(\S+)\s+-\s+(\S+)\s*$`)
	operatorGap  = regexp.MustCompile(`(<=|>=|<|>|=|~>|~|\^)\s+`)
	partialShape = regexp.MustCompile(`^(<=|>=|<|>|=|~>|~|\^)?v?(0|[1-9][0-9]*|[xX*])(?:\.(0|[1-9][0-9]*|[xX*])(?:\.(0|[1-9][0-9]*|[xX*])(-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?)?)?$`)
)

// ParseRange reads an npm range: comparators, partial versions, ~, ^, hyphen
// ranges, and alternatives separated by ||.
func ParseRange(text string) (Range, error) {
	r := Range{text: text}
	for _, alternative := range strings.Split(text, "||") {
		set, err := parseSet(alternative)
		if err != nil {
			return Range{}, fmt.Errorf("range %q: %w", text, err)
		}
		r.sets = append(r.sets, set)
	}
	return r, nil
}

// String is the range as it was written.
func (r Range) String() string { return r.text }

// Contains tells whether npm would accept v for this range.
func (r Range) Contains(v *semver.Version) bool {
	for _, set := range r.sets {
		if accepts(set, v) {
			return true
		}
	}
	return false
}

func accepts(set []comparator, v *semver.Version) bool {
	invited := v.Prerelease() == ""
	for _, c := range set {
		if !c.accepts(v) {
			return false
		}
		named := c.version.Prerelease() != "" && c.version.Major() == v.Major() &&
			c.version.Minor() == v.Minor() && c.version.Patch() == v.Patch()
		invited = invited || named
	}
	return invited
}

func (c comparator) accepts(v *semver.Version) bool {
	order := v.Compare(c.version)
	switch c.op {
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	}
	return order >= 0
}

func parseSet(text string) ([]comparator, error) {
	if m := hyphenRange.FindStringSubmatch(text); m != nil {
		from, err := parsePartial(m[1])
		if err != nil {
			return nil, err
		}
		to, err := parsePartial(m[2])
		if err != nil {
			return nil, err
		}
		if from.op != "" || to.op != "" {
			return nil, fmt.Errorf("operator in %q", text)
		}
		return append(from.atLeast(), to.atMost()...), nil
	}
	fields := strings.Fields(operatorGap.ReplaceAllString(text, "$1"))
	if len(fields) == 0 {
		fields = []string{"*"}
	}
	var set []comparator
	for _, field := range fields {
		p, err := parsePartial(field)
		if err != nil {
			return nil, err
		}
		set = append(set, p.comparators()...)
	}
	return set, nil
}

// partial is an operator with a version that may leave off its last numbers.
type partial struct {
	op         string
	numbers    [3]uint64
	given      int // how many numbers were given, 0 for *
	prerelease string
}

func parsePartial(text string) (partial, error) {
	m := partialShape.FindStringSubmatch(text)
	if m == nil {
		return partial{}, fmt.Errorf("cannot read %q", text)
	}
	p := partial{op: m[1], prerelease: strings.TrimPrefix(m[5], "-")}
	for p.given < 3 {
		number := m[2+p.given]
		if number == "" || strings.ContainsAny(number, "xX*") {
			break
		}
		if _, err := fmt.Sscanf(number, "%d", &p.numbers[p.given]); err != nil {
			return partial{}, fmt.Errorf("cannot read %q", text)
		}
		p.given++
	}
	if p.given < 3 {
		p.prerelease = ""
	} else if _, err := semver.StrictNewVersion(p.version().String()); err != nil {
		return partial{}, fmt.Errorf("cannot read %q: %w", text, err)
	}
	return p, nil
}

// version is p with zeros for what was left off.
func (p partial) version() *semver.Version {
	return semver.New(p.numbers[0], p.numbers[1], p.numbers[2], p.prerelease, "")
}

// next is the first version after everything that starts with the first n
// numbers of p, the lowest prerelease of it included ("-0").
func (p partial) next(n int, prerelease string) *semver.Version {
	var numbers [3]uint64
	copy(numbers[:], p.numbers[:n])
	numbers[n-1]++
	return semver.New(numbers[0], numbers[1], numbers[2], prerelease, "")
}

// lowest is below every version: a comparator "<" of it accepts nothing.
var lowest = semver.New(0, 0, 0, "0", "")

func (p partial) atLeast() []comparator {
	return []comparator{{">=", p.version()}}
}

func (p partial) atMost() []comparator {
	switch p.given {
	case 0:
		return nil
	case 3:
		return []comparator{{"<=", p.version()}}
	}
	return []comparator{{"<", p.next(p.given, "0")}}
}

// comparators is what p stands for.
func (p partial) comparators() []comparator {
	below := func(n int) []comparator { return append(p.atLeast(), comparator{"<", p.next(n, "0")}) }
	switch {
	case p.given == 0 && (p.op == "<" || p.op == ">"):
		return []comparator{{"<", lowest}}
	case p.given == 0:
		return p.atLeast()
	}
	switch p.op {
	case ">=":
		return p.atLeast()
	case "<=":
		return p.atMost()
	case ">":
		if p.given == 3 {
			return []comparator{{">", p.version()}}
		}
		return []comparator{{">=", p.next(p.given, "")}}
	case "<":
		if p.given < 3 {
			p.prerelease = "0"
		}
		return []comparator{{"<", p.version()}}
	case "~", "~>":
		return below(min(p.given, 2))
	case "^":
		// The first number that is not zero stays, or the last one given.
		keep := 1
		for keep < p.given && p.numbers[keep-1] == 0 {
			keep++
		}
		return below(keep)
	}
	if p.given == 3 {
		return append(p.atLeast(), p.atMost()...)
	}
	return below(p.given)
}
