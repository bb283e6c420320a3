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
	// ModeFull: everything that drafts need is as it was tested.
	ModeFull = "full"
	// ModeStock: the host runs as if the plugin were not there.
	ModeStock = "stock"
)

// Codes of a [Reason].
const (
	// HostUnknown: no such host in compatibility.json.
	HostUnknown = "HOST_UNKNOWN"
	// HostVersionMismatch: the host's version is outside of the range.
	HostVersionMismatch = "HOST_VERSION_MISMATCH"
	// PackageMissing: a pinned package (or the host's own) was not found.
	PackageMissing = "PACKAGE_MISSING"
	// PackageMismatch: a pinned package is of another version.
	PackageMismatch = "PACKAGE_MISMATCH"
	// PackageCopies: one source found a package twice.
	PackageCopies = "PACKAGE_COPIES"
	// FactsDisagree: two sources found different versions.
	FactsDisagree = "FACTS_DISAGREE"
	// ProbeFailed: a source did not answer in time, or failed.
	ProbeFailed = "PROBE_FAILED"
	// FactUnparsable: a version that nobody can read.
	FactUnparsable = "FACT_UNPARSABLE"
	// NodeMismatch: the Node that runs the host is outside of the range.
	NodeMismatch = "NODE_MISMATCH"
	// ProtocolMismatch: host and plugin would misunderstand each other.
	ProtocolMismatch = "PROTOCOL_MISMATCH"
	// FeatureMissing: a feature that a required capability stands on is missing.
	FeatureMissing = "FEATURE_MISSING"
	// CapabilityOff: a feature is missing, and with it an optional capability. The mode stays full.
	CapabilityOff = "CAPABILITY_OFF"
)

// overridable are the codes that say no more than that a release was not tested.
var overridable = []string{HostVersionMismatch, PackageMismatch}

// Decision is the mode to run in and all reasons for what is not as tested.
type Decision struct {
	// Mode is ModeFull or ModeStock.
	Mode string
	// Capabilities are the names of what works, sorted; none in stock mode.
	Capabilities []string
	// Reasons are why the mode is stock; in full mode why a capability is off, or
	// what the override overrode.
	Reasons []Reason
	// Overridden: full at the user's risk, on a release that was not tested.
	Overridden bool
}

// Reason is one thing that is not as it was tested.
type Reason struct {
	// Code is one of the constants of this package, or of package manifest.
	Code string `json:"code"`
	// Subject is the host, package, program or capability that it is about.
	Subject  string `json:"subject"`
	Expected string `json:"expected"`
	Found    string `json:"found"`
	// Message is for a person: what it means and what to do.
	Message string `json:"message"`
}

// Decide compares the facts with the table. The mode is full when every reason is
// a [CapabilityOff], or the user overrides exactly this version of the host and
// the others only say that a release was not tested. Of a host that the table
// does not name, such as the project's own ones, only the protocol is checked;
// "dsh" must be named.
func (t *Table) Decide(f Facts) Decision {
	reasons := t.checkProtocol(f.Protocol)
	host, named := t.Hosts[f.Host]
	var capabilities []string
	switch {
	case named:
		reasons = append(reasons, host.checkVersions(f)...)
		on, why := host.checkFeatures(f)
		capabilities, reasons = on, append(reasons, why...)
	case f.Host == "" || f.Host == "dsh":
		reasons = append(reasons, Reason{
			Code: HostUnknown, Subject: f.Host, Expected: strings.Join(slices.Sorted(maps.Keys(t.Hosts)), ", "), Found: f.Host,
			Message: "The host is none that drafts were tested on, so it runs without them.",
		})
	}
	untested, broken := false, false
	for _, r := range reasons {
		switch {
		case r.Code == CapabilityOff:
		case slices.Contains(overridable, r.Code):
			untested = true
		default:
			broken = true
		}
	}
	overridden := untested && !broken && host.overriddenBy(f)
	if broken || untested && !overridden {
		return Decision{Mode: ModeStock, Reasons: reasons}
	}
	return Decision{Mode: ModeFull, Capabilities: capabilities, Reasons: reasons, Overridden: overridden}
}

func (t *Table) checkProtocol(protocol int) []Reason {
	if slices.Contains(t.Protocols, protocol) {
		return nil
	}
	reason := Reason{Code: ProtocolMismatch, Subject: "protocol", Expected: joined(t.Protocols), Found: fmt.Sprint(protocol)}
	switch {
	case protocol == 0:
		reason.Message = "The host's half does not say which protocol it speaks; install it and the plugin of one release."
	case protocol < slices.Min(t.Protocols):
		reason.Message = "The host's half is older than the plugin; install the host's half of the plugin's release."
	default:
		reason.Message = "The host's half is newer than the plugin; install the plugin of its release."
	}
	return []Reason{reason}
}

func (h Host) checkVersions(f Facts) []Reason {
	var reasons []Reason
	add := func(r *Reason) {
		if r != nil {
			reasons = append(reasons, *r)
		}
	}
	add(checkVersion(h.Package, h.Range, f.about(h.Package, f.HostVersion), h.versions.Contains, Reason{
		Code:    HostVersionMismatch,
		Message: fmt.Sprintf("Drafts were not tested on this version; use %s %s or a plugin release made for it.", h.Package, strings.Join(h.Tested, " or ")),
	}))
	for _, name := range slices.Sorted(maps.Keys(h.Pins)) {
		pin, _ := parseVersion(h.Pins[name]) // Parse has read it
		add(checkVersion(name, h.Pins[name], f.about(name, f.Packages[name]), pin.Equal, Reason{
			Code:    PackageMismatch,
			Message: "A part of the host that drafts build on is of another version than tested; use the tested host or a plugin release made for this one.",
		}))
	}
	if h.Node != "" {
		add(checkVersion(SubjectNode, h.Node, f.about(SubjectNode, f.NodeVersion), h.node.Contains, Reason{
			Code:    NodeMismatch,
			Message: "The host runs on a Node that it does not support; start it with one that it does.",
		}))
	}
	return reasons
}

// checkVersion gives the reason against one subject, or nil. mismatch is that
// reason's code and message when there is one good version that does not fit.
func checkVersion(subject, expected string, answers []Answer, fits func(*semver.Version) bool, mismatch Reason) *Reason {
	found, reason := agreed(subject, expected, answers)
	if reason != nil {
		return reason
	}
	version, err := parseVersion(found)
	if err != nil {
		return &Reason{
			Code: FactUnparsable, Subject: subject, Expected: expected, Found: found,
			Message: "The version found is none that can be read, so nothing is known about it; install it again at the tested version.",
		}
	}
	if fits(version) {
		return nil
	}
	mismatch.Subject, mismatch.Expected, mismatch.Found = subject, expected, found
	return &mismatch
}

// checkFeatures gives the capabilities that work, sorted, and a reason for each
// missing feature.
func (h Host) checkFeatures(f Facts) (on []string, reasons []Reason) {
	for _, name := range slices.Sorted(maps.Keys(h.Capabilities)) {
		capability := h.Capabilities[name]
		whole := true
		for _, feature := range capability.Features {
			judged := len(f.Probed) == 0 || slices.Contains(f.Probed, scope(feature))
			if !judged || slices.Contains(f.Features, feature) {
				continue
			}
			whole = false
			reason := Reason{Code: CapabilityOff, Subject: name, Expected: feature, Message: fmt.Sprintf(
				"The host lacks something that %q needs; drafts work without it. The tested host has it.", name)}
			if capability.Required {
				reason.Code = FeatureMissing
				reason.Message = fmt.Sprintf("The host lacks something that drafts cannot do without (%q); use the tested host or a plugin release made for this one.", name)
			}
			reasons = append(reasons, reason)
		}
		if whole {
			on = append(on, name)
		}
	}
	return on, reasons
}

// overriddenBy tells whether the user's override names the version that was found.
func (h Host) overriddenBy(f Facts) bool {
	if f.Override == "" {
		return false
	}
	found, reason := agreed(h.Package, h.Range, f.about(h.Package, f.HostVersion))
	return reason == nil && found == f.Override
}

// parseVersion reads a full version; a leading v, as Node has it, is no part of it.
func parseVersion(text string) (*semver.Version, error) {
	return semver.StrictNewVersion(strings.TrimPrefix(text, "v"))
}

func joined(numbers []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(numbers), " ", ", "), "[]")
}
