package compat

import (
	"os"
	"strings"
	"testing"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

const sample = `{"schema":2,"hosts":{"dsh":{"package":"@x/dsh","range":">=0.1.0-rc.8 <0.1.0","tested":["0.1.0-rc.8"],
"pins":{"@x/page":"0.1.0-rc.8"},"node":"^22.19.0 || >=24.0.0","capabilities":{
"drafts":{"required":true,"features":["host.create","page.composer"]},
"commands":{"required":false,"features":["host.commands"]},
"references":{"required":false,"features":["page.references","page.composer"]}}}},"protocols":[2,3]}`

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
	facts := Facts{
		Host: "dsh", HostVersion: host.Tested[0], Packages: host.Pins, NodeVersion: "v24.1.0",
		Protocol: shared.ProtocolVersion, Probed: []string{ScopeHost, ScopePage},
	}
	for _, capability := range host.Capabilities {
		facts.Features = append(facts.Features, capability.Features...)
	}
	if got := table.Decide(facts); got.Mode != ModeFull || len(got.Reasons) != 0 || len(got.Capabilities) != len(host.Capabilities) {
		t.Errorf("the tested version runs in %v", got)
	}
}

func TestParseRefuses(t *testing.T) {
	if _, err := Parse([]byte(sample)); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string][2]string{
		"another schema":           {`"schema":2`, `"schema":1`},
		"an unknown member":        {`"schema":2`, `"schema":2,"extra":0`},
		"a duplicate member":       {`"schema":2`, `"schema":2,"schema":2`},
		"a range nobody reads":     {`>=0.1.0-rc.8 <0.1.0`, `newest`},
		"a tested one out of it":   {`"tested":["0.1.0-rc.8"]`, `"tested":["0.1.0"]`},
		"a pin that is no version": {`"@x/page":"0.1.0-rc.8"`, `"@x/page":"^0.1.0"`},
		"no protocol":              {`[2,3]`, `[]`},
		"no package":               {`"@x/dsh"`, `""`},
		"a capability of nothing":  {`["host.commands"]`, `[]`},
		"a feature of nobody":      {`host.commands`, `commands`},
		"a feature twice":          {`"page.references","page.composer"`, `"page.composer","page.composer"`},
		"a capability of no name":  {`"commands":`, `"":`},
		"no capabilities":          {sample[strings.Index(sample, `"drafts":{`):strings.Index(sample, `}},"protocols"`)], `}`},
		"trailing data":            {`[2,3]}`, `[2,3]} {}`},
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
