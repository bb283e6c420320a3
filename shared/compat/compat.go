// Package compat decides whether a host is one that drafts were tested on.
// compatibility.json says which hosts, versions and pinned packages those are
// ([Parse]); [Table.Decide] compares it with the facts a host collected. Any
// mismatch means stock: the plugin then puts nothing into the host (invariant 8).
package compat

import (
	"fmt"

	"github.com/go-json-experiment/json"
)

// Schema is the form of compatibility.json that Parse reads.
const Schema = 1

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
	// Package is the npm package of the host, for messages.
	Package string `json:"package"`
	// Range is the npm range of its version.
	Range string `json:"range"`
	// Tested are the versions that the gate tests run on; all lie in Range.
	Tested []string `json:"tested"`
	// Pins are packages that must be there in exactly this version.
	Pins map[string]string `json:"pins"`
	// Node is the npm range of the Node version; "" asks for none.
	Node string `json:"node,omitempty"`

	versions, node Range
}

// Parse reads compatibility.json. It refuses unknown members, ranges and
// versions that cannot be read, and a tested version outside its range: a
// mistake in the file must fail the build, not open the gate.
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
	if h.Package == "" || h.Range == "" || len(h.Tested) == 0 {
		return fmt.Errorf("package, range or tested is missing")
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
	return nil
}
