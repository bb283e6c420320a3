package compat

import (
	"slices"
	"strings"
	"testing"
)

const (
	page    = "@x/page"
	dsh     = "@x/dsh"
	pinned  = "0.1.0-rc.8"
	another = "0.1.0-rc.9"
)

// right are facts that fit the sample: everything as tested.
func right() Facts {
	return Facts{
		Host: "dsh", HostVersion: pinned, Packages: map[string]string{page: pinned}, NodeVersion: "v24.1.0", Protocol: 2,
		Probed:   []string{ScopeHost, ScopePage},
		Features: []string{"host.create", "host.commands", "page.composer", "page.references"},
	}
}

// answered are right ones with the page package told by sources.
func answered(answers ...Answer) Facts {
	f := right()
	f.Packages = nil
	for _, a := range answers {
		a.Subject = page
		f.Answers = append(f.Answers, a)
	}
	return f
}

func lacking(features ...string) func(*Facts) {
	return func(f *Facts) {
		f.Features = slices.DeleteFunc(f.Features, func(have string) bool { return slices.Contains(features, have) })
	}
}

func hostIs(version string) func(*Facts) { return func(f *Facts) { f.HostVersion = version } }
func pageIs(version string) func(*Facts) { return func(f *Facts) { f.Packages[page] = version } }
func nodeIs(version string) func(*Facts) { return func(f *Facts) { f.NodeVersion = version } }
func speaking(protocol int) func(*Facts) { return func(f *Facts) { f.Protocol = protocol } }

func sources(answers ...Answer) func(*Facts) { return func(f *Facts) { *f = answered(answers...) } }

func all(changes ...func(*Facts)) func(*Facts) {
	return func(f *Facts) {
		for _, change := range changes {
			change(f)
		}
	}
}

func overriding(version string) func(*Facts) { return func(f *Facts) { f.Override = version } }

// Any mismatch means stock, with every reason named (invariant 8): the bar of
// facts that a host can come with.
func TestDecide(t *testing.T) {
	table, err := Parse([]byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	loaded := func(version string) Answer { return Answer{Source: SourceLoaded, Version: version, Where: "/l"} }
	own := func(version string) Answer { return Answer{Source: SourceOwn, Version: version} }
	served := func(version string) Answer { return Answer{Source: SourceServed, Version: version} }
	for _, test := range []struct {
		name   string
		change func(*Facts)
		codes  string // of the reasons, in order
		full   string // the capabilities in full mode, "" for stock
	}{
		{"as tested", all(), "", "commands drafts references"},

		{"the host's next candidate in range", hostIs("0.1.0-rc.9"), "", "commands drafts references"},
		{"the host a candidate with two digits", hostIs("0.1.0-rc.10"), "", "commands drafts references"},
		{"the host with build metadata", hostIs("0.1.0-rc.8+local"), "", "commands drafts references"},
		{"the host one candidate older", hostIs("0.1.0-rc.7"), HostVersionMismatch, ""},
		{"the host much older", hostIs("0.0.9"), HostVersionMismatch, ""},
		{"the host an older alpha", hostIs("0.1.0-alpha.1"), HostVersionMismatch, ""},
		{"the host's release", hostIs("0.1.0"), HostVersionMismatch, ""},
		{"the host's newer patch", hostIs("0.1.1"), HostVersionMismatch, ""},
		{"the host's newer patch's candidate", hostIs("0.1.1-rc.2"), HostVersionMismatch, ""},
		{"the host's newer minor", hostIs("0.2.0"), HostVersionMismatch, ""},
		{"the host's newer major", hostIs("1.0.0"), HostVersionMismatch, ""},
		{"the host without a version", hostIs(""), PackageMissing, ""},
		{"the host with a range for a version", hostIs("^0.1.0"), FactUnparsable, ""},
		{"the host with half a version", hostIs("0.1"), FactUnparsable, ""},
		{"the host with spaces", hostIs(" 0.1.0-rc.8"), FactUnparsable, ""},
		{"the host with a leading zero", hostIs("0.01.0"), FactUnparsable, ""},
		{"the host with words", hostIs("latest"), FactUnparsable, ""},

		{"the pin one candidate newer", pageIs("0.1.0-rc.9"), PackageMismatch, ""},
		{"the pin one candidate older", pageIs("0.1.0-rc.7"), PackageMismatch, ""},
		{"the pin without its candidate", pageIs("0.1.0"), PackageMismatch, ""},
		{"the pin's newer patch", pageIs("0.1.1"), PackageMismatch, ""},
		{"the pin's newer minor", pageIs("0.2.0"), PackageMismatch, ""},
		{"the pin older", pageIs("0.0.9"), PackageMismatch, ""},
		{"the pin missing", func(f *Facts) { f.Packages = nil }, PackageMissing, ""},
		{"the pin of an empty version", pageIs(""), PackageMissing, ""},
		{"the pin of a workspace", pageIs("workspace:*"), FactUnparsable, ""},

		{"every source says the same", sources(loaded(pinned), own(pinned), served(pinned)), "", "commands drafts references"},
		{"one source, as pinned", sources(loaded(pinned)), "", "commands drafts references"},
		{"every source says the same wrong one", sources(loaded(another), own(another)), PackageMismatch, ""},
		{"a stale mirror beside the right one", sources(loaded(another), own(pinned)), FactsDisagree, ""},
		{"the loader right, the host's own newer", sources(loaded(pinned), own(another)), FactsDisagree, ""},
		{"the page was served another", sources(loaded(pinned), own(pinned), served(another)), FactsDisagree, ""},
		{"two copies of one version", sources(loaded(pinned), loaded(pinned)), PackageCopies, ""},
		{"two copies of two versions", sources(loaded(pinned), loaded(another)), PackageCopies, ""},
		{"the loader finds none", sources(loaded(""), own(pinned)), PackageMissing, ""},
		{"no source finds any", sources(loaded(""), own("")), PackageMissing, ""},
		{"a source that hangs", sources(loaded(pinned), Answer{Source: SourceOwn, Problem: "no answer within 5 s"}), ProbeFailed, ""},
		{"the host's own version disagrees with what is loaded", func(f *Facts) {
			f.Answers = []Answer{{Subject: dsh, Source: SourceLoaded, Version: another}}
		}, FactsDisagree, ""},
		{"a Node that two ways tell apart by their v only", func(f *Facts) {
			f.Answers = []Answer{{Subject: SubjectNode, Source: SourceOwn, Version: "24.1.0"}}
		}, "", "commands drafts references"},

		{"Node 22 just new enough", nodeIs("v22.19.0"), "", "commands drafts references"},
		{"Node 22 too old", nodeIs("v22.18.9"), NodeMismatch, ""},
		{"Node 23, between the lines", nodeIs("v23.11.0"), NodeMismatch, ""},
		{"Node 24's candidate", nodeIs("v24.0.0-rc.1"), NodeMismatch, ""},
		{"Node much too old", nodeIs("v18.0.0"), NodeMismatch, ""},
		{"a later Node", nodeIs("26.0.0"), "", "commands drafts references"},
		{"no Node", nodeIs(""), PackageMissing, ""},
		{"a Node that nobody can read", nodeIs("v24"), FactUnparsable, ""},

		{"the other protocol", speaking(3), "", "commands drafts references"},
		{"a protocol too old", speaking(1), ProtocolMismatch, ""},
		{"a protocol too new", speaking(4), ProtocolMismatch, ""},
		{"no protocol", speaking(0), ProtocolMismatch, ""},

		{"a required feature of the host missing", lacking("host.create"), FeatureMissing, ""},
		{"a required feature of the page missing, which an optional capability needs too", lacking("page.composer"), FeatureMissing + " " + CapabilityOff, ""},
		{"an optional feature of the host missing", lacking("host.commands"), CapabilityOff, "drafts references"},
		{"an optional feature of the page missing", lacking("page.references"), CapabilityOff, "commands drafts"},
		{"both optional features missing", lacking("page.references", "host.commands"), CapabilityOff + " " + CapabilityOff, "drafts"},
		{"nothing probed", func(f *Facts) { f.Probed, f.Features = nil, nil },
			strings.Join([]string{CapabilityOff, FeatureMissing, FeatureMissing, CapabilityOff, CapabilityOff}, " "), ""},
		{"the page not yet there", func(f *Facts) { f.Probed, f.Features = []string{ScopeHost}, []string{"host.create", "host.commands"} }, "", "commands drafts references"},
		{"the page not yet there and the host lacking", func(f *Facts) { f.Probed, f.Features = []string{ScopeHost}, nil }, CapabilityOff + " " + FeatureMissing, ""},
		{"a feature that nobody asks for", func(f *Facts) { f.Features = append(f.Features, "host.more") }, "", "commands drafts references"},

		{"an override of a newer host", all(hostIs("0.1.5"), overriding("0.1.5")), HostVersionMismatch, "commands drafts references"},
		{"an override of a newer host with its page", all(hostIs("0.1.5"), pageIs("0.1.5"), overriding("0.1.5")), HostVersionMismatch + " " + PackageMismatch, "commands drafts references"},
		{"an override without an optional feature", all(hostIs("0.1.5"), lacking("host.commands"), overriding("0.1.5")), HostVersionMismatch + " " + CapabilityOff, "drafts references"},
		{"an override of the page alone", all(pageIs(another), overriding(pinned)), PackageMismatch, "commands drafts references"},
		{"an override of another version", all(hostIs("0.1.6"), overriding("0.1.5")), HostVersionMismatch, ""},
		{"an override where none is needed", overriding(pinned), "", "commands drafts references"},
		{"an override with another protocol", all(hostIs("0.1.5"), speaking(4), overriding("0.1.5")), ProtocolMismatch + " " + HostVersionMismatch, ""},
		{"an override with a feature missing", all(hostIs("0.1.5"), lacking("host.create"), overriding("0.1.5")), HostVersionMismatch + " " + FeatureMissing, ""},
		{"an override with a Node too old", all(hostIs("0.1.5"), nodeIs("v18.0.0"), overriding("0.1.5")), HostVersionMismatch + " " + NodeMismatch, ""},
		{"an override with the page missing", all(hostIs("0.1.5"), pageIs(""), overriding("0.1.5")), HostVersionMismatch + " " + PackageMissing, ""},
		{"an override with sources that disagree", all(sources(loaded(another), own(pinned)), hostIs("0.1.5"), overriding("0.1.5")), HostVersionMismatch + " " + FactsDisagree, ""},
		{"an override of what nobody can read", all(hostIs("latest"), overriding("latest")), FactUnparsable, ""},

		{"everything wrong", func(f *Facts) {
			*f = Facts{Host: "dsh", HostVersion: "9.0.0", NodeVersion: "v1.0.0", Protocol: 9, Probed: []string{ScopeHost}}
		}, strings.Join([]string{ProtocolMismatch, HostVersionMismatch, PackageMissing, NodeMismatch, CapabilityOff, FeatureMissing}, " "), ""},
		{"no host", func(f *Facts) { f.Host = "" }, HostUnknown, ""},
		{"no facts at all", func(f *Facts) { *f = Facts{} }, ProtocolMismatch + " " + HostUnknown, ""},
	} {
		facts := right()
		test.change(&facts)
		got := table.Decide(facts)
		var codes []string
		for _, reason := range got.Reasons {
			codes = append(codes, reason.Code)
			if reason.Message == "" || reason.Subject == "" && reason.Code != HostUnknown {
				t.Errorf("%s: a reason explains nothing: %+v", test.name, reason)
			}
		}
		mode := ModeStock
		if test.full != "" {
			mode = ModeFull
		}
		if got.Mode != mode || strings.Join(codes, " ") != test.codes || strings.Join(got.Capabilities, " ") != test.full {
			t.Errorf("%s: %s of %v with %v, want %s of %s with %s", test.name, got.Mode, got.Capabilities, codes, mode, test.full, test.codes)
		}
		overridden := mode == ModeFull && (slices.Contains(codes, HostVersionMismatch) || slices.Contains(codes, PackageMismatch))
		if got.Overridden != overridden {
			t.Errorf("%s: overridden %v", test.name, got.Overridden)
		}
	}
}

// A reason tells which answers differ and where they were found.
func TestReasonNamesBothAnswers(t *testing.T) {
	table, err := Parse([]byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		facts           Facts
		expected, found string
	}{
		{answered(Answer{Source: SourceLoaded, Version: pinned, Where: "/mirror"}, Answer{Source: SourceOwn, Version: another}),
			pinned, "0.1.0-rc.8 (loaded: /mirror), 0.1.0-rc.9 (own)"},
		{answered(Answer{Source: SourceLoaded}, Answer{Source: SourceOwn, Version: pinned}), pinned, "none (loaded), 0.1.0-rc.8 (own)"},
		{answered(Answer{Source: SourceServed, Problem: "no answer within 5 s"}), pinned, "no answer within 5 s (served)"},
		{answered(), pinned, ""},
	} {
		got := table.Decide(c.facts).Reasons
		if len(got) != 1 || got[0].Expected != c.expected || got[0].Found != c.found || got[0].Subject != page {
			t.Errorf("%+v, want %q for %q", got, c.found, c.expected)
		}
	}
}

// Of a host that is not in the table only the protocol counts.
func TestDecideOfOwnHosts(t *testing.T) {
	table, err := Parse([]byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	if got := table.Decide(Facts{Host: "standalone", Protocol: 2}); got.Mode != ModeFull || len(got.Reasons) > 0 {
		t.Errorf("the project's own host runs in %+v", got)
	}
	if got := table.Decide(Facts{Host: "test", Protocol: 7, Override: "1.0.0"}); got.Mode != ModeStock || got.Reasons[0].Code != ProtocolMismatch {
		t.Errorf("a host of another protocol runs in %+v", got)
	}
	delete(table.Hosts, "dsh")
	if got := table.Decide(Facts{Host: "dsh", Protocol: 2}); got.Mode != ModeStock || got.Reasons[0].Code != HostUnknown {
		t.Errorf("a DSH that the table does not name runs in %+v", got)
	}
}
