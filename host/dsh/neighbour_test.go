package dsh_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/draft-sessions/dsh-draft-sessions/host/dsh"
)

// neighbour claims our namespace and answers "theirs", as another drafts plugin would.
const neighbour = `import { createRequire } from 'node:module'
export const inject = ['typert']
const pass = { parse: value => value }
const codec = { mode: 'strict', typeSymbol: 'neighbour#any', schema: pass }
export async function apply(ctx) {
  const { bindTypertRemote } = await import(createRequire(ctx.baseUrl).resolve('@deepseek-ai/dsh-typert-protocol'))
  const service = { list: async () => ({ ok: true, value: 'theirs' }) }
  service.typertRemote = bindTypertRemote(service, 'draftSessions', {})
  ctx.reflect.provide('draftSessions', service)
  ctx.typert.register({ package: 'neighbour', face: 'host', schemas: [], model: { services: [], events: [], objects: [] },
    invocations: [{ id: 'neighbour#draftSessions/list', service: 'draftSessions', namespace: 'draftSessions', method: 'list',
      invocation: { kind: 'direct' }, parameters: [{ name: 'request', wire: 'request', source: 'json', codec }], result: codec }] })
}
`

func makeNeighbour(t *testing.T, name string) string {
	t.Helper()
	dir := t.TempDir()
	manifest, err := json.Marshal(map[string]any{
		"name": name, "version": "0.0.1", "type": "module", "main": "index.js",
		"exports": map[string]string{".": "./index.js", "./package.json": "./package.json", "./cordis.patch.yml": "./cordis.patch.yml"},
		"dsh":     map[string]any{"bundle": map[string]string{"patch": "./cordis.patch.yml"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{
		"package.json":     string(manifest),
		"index.js":         neighbour,
		"cordis.patch.yml": fmt.Sprintf("- insert:\n    - id: %s\n      name: %s\n", name, name),
	} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Another drafts plugin keeps the namespace and the file, whichever loads first,
// whether it is known by its package name or only by what it claims.
func TestStepsAsideForAnotherDraftsPlugin(t *testing.T) {
	ours := prepare(t).bundle
	public, stranger := makeNeighbour(t, "dsh-draft-sessions"), makeNeighbour(t, "some-other-drafts")
	for name, bundles := range map[string][]string{
		"public first":   {public, ours},
		"public last":    {ours, public},
		"stranger first": {stranger, ours},
		"stranger last":  {ours, stranger},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			process := start(t, home, bundles...)
			var theirs string
			if err := dsh.Draft(t.Context(), process.URL, "list", struct{}{}, &theirs); err != nil || theirs != "theirs" {
				t.Errorf("the other plugin answers %q, %v", theirs, err)
			}
			stream := events(t, process.URL)
			for mode := range stream {
				if strings.Contains(mode.data, `"mode":"starting"`) {
					continue
				}
				if !strings.Contains(mode.data, `"mode":"stock"`) || !strings.Contains(mode.data, "OTHER_PLUGIN") {
					t.Errorf("status %s", mode.data)
				}
				break
			}
			if log := hostLog(t, home); strings.Contains(log, "drafts are on") {
				t.Error("our plugin was started on the other's file")
			}
		})
	}
}
