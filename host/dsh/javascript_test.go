package dsh_test

import (
	"path/filepath"
	"testing"
)

// The JavaScript of both halves, and of what the pages of all hosts share: its types
// and its own tests, with the Node that DSH runs on.
func TestJavaScript(t *testing.T) {
	tools := prepare(t).tools
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{
		"types": {filepath.Join("node_modules", "typescript", "bin", "tsc"), "-p", "tsconfig.json"},
		"tests": {"--test", "--test-timeout=120000", "test/*.test.js", "client/test/*.test.js", "../page/test/*.test.js"},
	} {
		t.Run(name, func(t *testing.T) {
			if out, err := tools.Command(t.Context(), here, tools.Node, args...).CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
