package standalone_test

import (
	"path/filepath"
	"testing"
)

// The page's JavaScript: its types and its own tests.
func TestJavaScript(t *testing.T) {
	here := filepath.Join(gate.source, pageSource)
	for name, args := range map[string][]string{
		"types": {filepath.Join("node_modules", "typescript", "bin", "tsc"), "-p", "tsconfig.json"},
		"tests": {"--test", "test/*.test.js"},
	} {
		t.Run(name, func(t *testing.T) {
			if out, err := gate.tools.Command(t.Context(), here, gate.tools.Node, args...).CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
