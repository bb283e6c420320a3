// Package compat decides whether a host is one that drafts were tested on.
// compatibility.json says which hosts, versions, pinned packages and features
// those are ([Parse]); [Table.Decide] compares it with the [Facts] that a host
// collected. Any mismatch means stock: the plugin then puts nothing into the host
// (invariant 8).
package compat

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json"
)

// Schema is the form of compatibility.json that Parse reads.
const Schema = 2

// Table is compatibility.json.
type Table struct {
	Schema int `json:"schema"`
	// Hosts by name; a host that is not named has only its protocol checked.
	Hosts map[string]Host `json:"hosts"`
	// Protocols are the values of shared.ProtocolVersion that this build speaks.
	Protocols []int `json:"protocols"`
}

// Host is what a host must be.
type Host struct {
	// Package is the npm package of the host, for messages and as the subject of an [Answer].
	Package string `json:"package"`
	// Range is the npm range of its version.
	Range string `json:"range"`
	// Tested are the versions that the gate tests run on; all lie in Range.
	Tested []string `json:"tested"`
	// Pins are packages that must be there in exactly this version.
	Pins map[string]string `json:"pins"`
	// Node is the npm range of the Node version; "" asks for none.
	Node string `json:"node,omitempty"`
	// Capabilities are what drafts can do in this host, by name, with the features
	// of the host that each one stands on.
	Capabilities map[string]Capability `json:"capabilities"`

	versions, node Range
}

// Capability is something that drafts can do in a host.
type Capability struct {
	// Required: without it there are no drafts at all. Of one that is not, a
	// missing feature costs only the capability.
	Required bool `json:"required"`
	// Features are names of the form <scope>.<feature> (see [Facts.Probed]).
	Features []string `json:"features"`
}

// Scopes of a feature: who can look whether it is there.
const (
	// ScopeHost: the host process, before the plugin serves anything.
	ScopeHost = "host"
	// ScopePage: a page, which has its own look at what it builds on.
	ScopePage = "page"
	// ScopeNothing, alone in [Facts.Probed], judges no feature: nobody could look.
	ScopeNothing = "nothing"
)

var (
	capabilityName = regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)
	featureName    = regexp.MustCompile(`^(` + ScopeHost + `|` + ScopePage + `)\.[a-z]+(-[a-z]+)*$`)
)

// Parse reads compatibility.json. It refuses unknown members, ranges, versions
// and names that cannot be read, a tested version outside its range and a
// capability that stands on nothing: a mistake in the file must fail the build,
// not open the gate.
func Parse(data []byte) (*Table, error) {
	table := &Table{}
	if err := json.Unmarshal(data, table, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("compatibility.json: %w", err)
	}
	if table.Schema != Schema {
		return nil, fmt.Errorf("compatibility.json: schema %d, not %d", table.Schema, Schema)
	}
	if len(table.Protocols) == 0 || len(table.Hosts) == 0 {
		return nil, fmt.Errorf("compatibility.json: hosts or protocols are missing")
	}
	for name, host := range table.Hosts {
		if err := host.prepare(); err != nil {
			return nil, fmt.Errorf("compatibility.json: host %q: %w", name, err)
		}
		table.Hosts[name] = host
	}
	return table, nil
}

func (h *Host) prepare() (err error) {
	if h.Package == "" || h.Range == "" || len(h.Tested) == 0 || len(h.Capabilities) == 0 {
		return fmt.Errorf("package, range, tested or capabilities are missing")
	}
	if h.versions, err = ParseRange(h.Range); err != nil {
		return err
	}
	if h.node, err = ParseRange(h.Node); err != nil {
		return err
	}
	for _, tested := range h.Tested {
		version, err := parseVersion(tested)
		if err != nil {
			return fmt.Errorf("tested version %q: %w", tested, err)
		}
		if !h.versions.Contains(version) {
			return fmt.Errorf("tested version %s is outside of %s", tested, h.Range)
		}
	}
	for name, pin := range h.Pins {
		if _, err := parseVersion(pin); err != nil {
			return fmt.Errorf("pin of %s: %w", name, err)
		}
	}
	for name, capability := range h.Capabilities {
		if err := capability.check(name); err != nil {
			return err
		}
	}
	return nil
}

func (c Capability) check(name string) error {
	if !capabilityName.MatchString(name) || len(c.Features) == 0 {
		return fmt.Errorf("capability %q: a lower-case name and at least one feature are needed", name)
	}
	seen := map[string]bool{}
	for _, feature := range c.Features {
		if !featureName.MatchString(feature) || seen[feature] {
			return fmt.Errorf("capability %s: feature %q is no <scope>.<feature>, or is there twice", name, feature)
		}
		seen[feature] = true
	}
	return nil
}

// scope is the part of a feature's name that says who can look for it.
func scope(feature string) string {
	s, _, _ := strings.Cut(feature, ".")
	return s
}
