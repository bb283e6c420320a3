package compat

import (
	"os"
	"slices"
	"strings"
	"testing"
)

const sample = `{"schema":1,"hosts":{"dsh":{"package":"@x/dsh","range":">=0.1.0-rc.8 <0.1.0","tested":["0.1.0-rc.8"],
"pins":{"@x/page":"0.1.0-rc.8"},"node":"^22.19.0 || >=24.0.0"}},"protocols":[1,2]}`

func TestProjectTableIsReadable(t *testing.T) {
	data, err := os.ReadFile("../../compatibility.json")
	if err != nil {
		t.Fatal(err)
	}
	table, err := Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	host := table.Hosts["dsh"]
	facts := Facts{Host: "dsh", HostVersion: host.Tested[0], Packages: host.Pins, NodeVersion: "v24.1.0", Protocol: table.Protocols[0]}
	if got := table.Decide(facts); got.Mode != ModeFull {
		t.Errorf("the tested version runs in %v", got)
	}
}

func TestParseRefuses(t *testing.T) {
	if _, err := Parse([]byte(sample)); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string][2]string{
		"another schema":           {`"schema":1`, `"schema":2`},
		"an unknown member":        {`"schema":1`, `"schema":1,"extra":0`},
		"a duplicate member":       {`"schema":1`, `"schema":1,"schema":1`},
		"a range nobody reads":     {`>=0.1.0-rc.8 <0.1.0`, `newest`},
		"a tested one out of it":   {`"tested":["0.1.0-rc.8"]`, `"tested":["0.1.0"]`},
		"a pin that is no version": {`"@x/page":"0.1.0-rc.8"`, `"@x/page":"^0.1.0"`},
		"no protocol":              {`[1,2]`, `[]`},
		"no package":               {`"@x/dsh"`, `""`},
		"trailing data":            {`[1,2]}`, `[1,2]} {}`},
	} {
		text := strings.Replace(sample, change[0], change[1], 1)
		if text == sample {
			t.Fatalf("%s: the sample has no %s", name, change[0])
		}
		if _, err := Parse([]byte(text)); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

// Any mismatch means stock (invariant 8), with every reason named.
func TestDecide(t *testing.T) {
	table, err := Parse([]byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	right := func() Facts {
		return Facts{Host: "dsh", HostVersion: "0.1.0-rc.8", Packages: map[string]string{"@x/page": "0.1.0-rc.8"}, NodeVersion: "v24.1.0", Protocol: 1}
	}
	for _, test := range []struct {
		name   string
		change func(*Facts)
		codes  []string
	}{
		{"as tested", func(*Facts) {}, nil},
		{"a later release candidate", func(f *Facts) { f.HostVersion = "0.1.0-rc.9" }, nil},
		{"the release itself", func(f *Facts) { f.HostVersion = "0.1.0" }, []string{HostVersionMismatch}},
		{"an earlier candidate", func(f *Facts) { f.HostVersion = "0.1.0-rc.6" }, []string{HostVersionMismatch}},
		{"another patch's candidate", func(f *Facts) { f.HostVersion = "0.1.5-rc.2" }, []string{HostVersionMismatch}},
		{"no host version", func(f *Facts) { f.HostVersion = "" }, []string{FactUnparsable}},
		{"no page package", func(f *Facts) { f.Packages = nil }, []string{PackageMissing}},
		{"another page package", func(f *Facts) { f.Packages["@x/page"] = "0.1.1-rc.2" }, []string{PackageMismatch}},
		{"a page package of no version", func(f *Facts) { f.Packages["@x/page"] = "workspace:*" }, []string{FactUnparsable}},
		{"an old Node", func(f *Facts) { f.NodeVersion = "v20.1.0" }, []string{NodeMismatch}},
		{"no Node", func(f *Facts) { f.NodeVersion = "" }, []string{FactUnparsable}},
		{"another protocol", func(f *Facts) { f.Protocol = 3 }, []string{ProtocolMismatch}},
		{"everything wrong", func(f *Facts) { *f = Facts{Host: "dsh", HostVersion: "9.0.0", NodeVersion: "v1.0.0"} },
			[]string{ProtocolMismatch, HostVersionMismatch, PackageMissing, NodeMismatch}},
		{"no host", func(f *Facts) { f.Host = "" }, []string{HostUnknown}},
		{"the project's own host", func(f *Facts) { *f = Facts{Host: "standalone", Protocol: 2} }, nil},
		{"a test host of another protocol", func(f *Facts) { *f = Facts{Host: "test", Protocol: 7} }, []string{ProtocolMismatch}},
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
		if !slices.Equal(codes, test.codes) || (got.Mode == ModeFull) != (test.codes == nil) {
			t.Errorf("%s: %s with %v, want %v", test.name, got.Mode, codes, test.codes)
		}
	}
}

func TestDecideNeedsDSHInTheTable(t *testing.T) {
	table := &Table{Hosts: map[string]Host{"other": {}}, Protocols: []int{1}}
	if got := table.Decide(Facts{Host: "dsh", Protocol: 1}); got.Mode != ModeStock || got.Reasons[0].Code != HostUnknown {
		t.Errorf("a DSH that the table does not name runs in %+v", got)
	}
}
