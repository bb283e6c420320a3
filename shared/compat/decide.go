package compat

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
)

// What a decision is.
const (
	// ModeFull: everything that was tested is as it was tested.
	ModeFull = "full"
	// ModeStock: the host runs as if the plugin were not there.
	ModeStock = "stock"
)

// Codes of a [Reason].
const (
	HostUnknown         = "HOST_UNKNOWN"
	HostVersionMismatch = "HOST_VERSION_MISMATCH"
	PackageMissing      = "PACKAGE_MISSING"
	PackageMismatch     = "PACKAGE_MISMATCH"
	NodeMismatch        = "NODE_MISMATCH"
	ProtocolMismatch    = "PROTOCOL_MISMATCH"
	FactUnparsable      = "FACT_UNPARSABLE"
)

// Facts are what a host found out about itself.
type Facts struct {
	// Host is its name: "dsh", "standalone", "test".
	Host string
	// HostVersion is the version of the host's package.
	HostVersion string
	// Packages are the versions of packages found, by name.
	Packages map[string]string
	// NodeVersion is that of the running Node, with or without a leading v.
	NodeVersion string
	// Protocol is the shared.ProtocolVersion that the host speaks.
	Protocol int
}

// Decision is the mode to run in and, for stock, all reasons for it.
type Decision struct {
	Mode    string
	Reasons []Reason
}

// Reason is one thing that is not as it was tested.
type Reason struct {
	Code string
	// Subject is the host, package or program that it is about.
	Subject         string
	Expected, Found string
	// Message is one sentence for a person: what it means and what to do.
	Message string
}

// Decide compares the facts with the table. It is full only without any reason.
// Of a host that the table does not name, such as the project's own ones, only
// the protocol is checked; "dsh" must be named.
func (t *Table) Decide(f Facts) Decision {
	var reasons []Reason
	if !slices.Contains(t.Protocols, f.Protocol) {
		reasons = append(reasons, Reason{
			Code: ProtocolMismatch, Subject: "protocol", Expected: joined(t.Protocols), Found: fmt.Sprint(f.Protocol),
			Message: "The host's half and the plugin are of different builds; install both of one release.",
		})
	}
	host, named := t.Hosts[f.Host]
	switch {
	case named:
		reasons = append(reasons, host.check(f)...)
	case f.Host == "" || f.Host == "dsh":
		reasons = append(reasons, Reason{
			Code: HostUnknown, Subject: f.Host, Expected: strings.Join(slices.Sorted(maps.Keys(t.Hosts)), ", "), Found: f.Host,
			Message: "The host is none that drafts were tested on, so it runs without them.",
		})
	}
	if len(reasons) > 0 {
		return Decision{Mode: ModeStock, Reasons: reasons}
	}
	return Decision{Mode: ModeFull}
}

func (h Host) check(f Facts) []Reason {
	var reasons []Reason
	if version, err := parseVersion(f.HostVersion); err != nil {
		reasons = append(reasons, unparsable(h.Package, h.Range, f.HostVersion))
	} else if !h.versions.Contains(version) {
		reasons = append(reasons, Reason{
			Code: HostVersionMismatch, Subject: h.Package, Expected: h.Range, Found: f.HostVersion,
			Message: fmt.Sprintf("Drafts were not tested on this version; use %s %s or a plugin release made for it.", h.Package, strings.Join(h.Tested, " or ")),
		})
	}
	for _, name := range slices.Sorted(maps.Keys(h.Pins)) {
		pin, found := h.Pins[name], f.Packages[name]
		if found == "" {
			reasons = append(reasons, Reason{
				Code: PackageMissing, Subject: name, Expected: pin,
				Message: "A part of the host that drafts build on was not found; install the host again at the tested version.",
			})
			continue
		}
		version, err := parseVersion(found)
		if err != nil {
			reasons = append(reasons, unparsable(name, pin, found))
		} else if want, _ := parseVersion(pin); !version.Equal(want) {
			reasons = append(reasons, Reason{
				Code: PackageMismatch, Subject: name, Expected: pin, Found: found,
				Message: "A part of the host that drafts build on is of another version than tested; use the tested host or a plugin release made for this one.",
			})
		}
	}
	if h.Node == "" {
		return reasons
	}
	if version, err := parseVersion(f.NodeVersion); err != nil {
		reasons = append(reasons, unparsable("node", h.Node, f.NodeVersion))
	} else if !h.node.Contains(version) {
		reasons = append(reasons, Reason{
			Code: NodeMismatch, Subject: "node", Expected: h.Node, Found: f.NodeVersion,
			Message: "The host runs on a Node that it does not support; start it with one that it does.",
		})
	}
	return reasons
}

func unparsable(subject, expected, found string) Reason {
	return Reason{
		Code: FactUnparsable, Subject: subject, Expected: expected, Found: found,
		Message: "The version found is none that can be read, so nothing is known about it; install it again at the tested version.",
	}
}

// parseVersion reads a full version; a leading v, as Node has it, is no part of it.
func parseVersion(text string) (*semver.Version, error) {
	return semver.StrictNewVersion(strings.TrimPrefix(text, "v"))
}

func joined(numbers []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(numbers), " ", ", "), "[]")
}
