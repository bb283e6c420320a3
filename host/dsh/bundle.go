package dsh

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// bundle bundles both halves into dir/lib, with the licences of what went in.
func (t *Toolchain) bundle(dir string) error {
	here := filepath.Join(t.source, "host", "dsh")
	common := api.BuildOptions{
		AbsWorkingDir: here,
		Bundle:        true,
		Write:         true,
		Metafile:      true,
		Charset:       api.CharsetUTF8,
		Target:        api.ES2022,
		LegalComments: api.LegalCommentsNone,
		LogLevel:      api.LogLevelSilent,
	}

	server := common
	server.EntryPoints = []string{"server/main.js"}
	server.Outfile = filepath.Join(dir, "lib", "index.js")
	server.Platform, server.Format = api.PlatformNode, api.FormatESModule
	// The bundled CommonJS packages require Node's own modules.
	server.Banner = map[string]string{"js": "import { createRequire as draftSessionsCreateRequire } from 'node:module'; " +
		"const require = draftSessionsCreateRequire(import.meta.url);"}

	command := server
	command.EntryPoints = []string{"server/command.js"}
	command.Outfile = filepath.Join(dir, "lib", "command.js")
	command.Banner = map[string]string{"js": "#!/usr/bin/env node"}

	client := common
	client.EntryPoints = []string{"client/main.js"}
	client.Outfile = filepath.Join(dir, "lib", "client.js")
	client.Platform, client.Format = api.PlatformBrowser, api.FormatCommonJS
	// These are the page's own; a second instance would not work with it.
	client.External = []string{"react", "react/*", "react-dom", "react-dom/*", "@deepseek-ai/*"}
	client.Banner = map[string]string{"js": fmt.Sprintf("window.__ModuleLoader__.load({ id: %q, factory: (require) => { "+
		"const module = { exports: {} }, exports = module.exports;", packageName)}
	client.Footer = map[string]string{"js": "return module.exports; } });"}

	inputs := map[string]bool{}
	for _, options := range []api.BuildOptions{server, command, client} {
		result := api.Build(options)
		if len(result.Errors) > 0 {
			return errors.New(strings.Join(api.FormatMessages(result.Errors, api.FormatMessagesOptions{}), ""))
		}
		if err := addInputs(inputs, result.Metafile); err != nil {
			return err
		}
	}
	// Package managers make a command executable; what they link must be so already.
	if err := os.Chmod(command.Outfile, 0o755); err != nil {
		return err
	}
	folders := map[string]string{}
	for input := range inputs {
		folders[strings.TrimPrefix(input, "node_modules/")] = filepath.Join(here, filepath.FromSlash(input))
	}
	return writeLicenses(filepath.Join(dir, "THIRD_PARTY_LICENSES"), folders)
}

// addInputs adds the folders of the npm packages that went into a build.
func addInputs(packages map[string]bool, metafile string) error {
	var meta struct {
		Inputs map[string]struct{} `json:"inputs"`
	}
	if err := json.Unmarshal([]byte(metafile), &meta); err != nil {
		return fmt.Errorf("read the bundler's report: %w", err)
	}
	const root = "node_modules/"
	for file := range meta.Inputs {
		at := strings.LastIndex(file, root)
		if at < 0 {
			continue
		}
		parts := strings.SplitN(file[at+len(root):], "/", 3)
		name := parts[0]
		if strings.HasPrefix(name, "@") && len(parts) > 1 {
			name += "/" + parts[1]
		}
		packages[file[:at+len(root)]+name] = true
	}
	return nil
}

// writeLicenses puts the licence files of folders into one file, each under its name.
func writeLicenses(to string, folders map[string]string) error {
	var all bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(folders)) {
		fmt.Fprintf(&all, "==== %s\n\n", name)
		matches, err := filepath.Glob(filepath.Join(folders[name], "[Ll][Ii][Cc][Ee][Nn][CcSs][Ee]*"))
		if err != nil {
			return err
		}
		for _, file := range matches {
			raw, err := os.ReadFile(file)
			if err != nil {
				return fmt.Errorf("collect licences: %w", err)
			}
			all.Write(bytes.TrimSpace(raw))
			all.WriteString("\n\n")
		}
	}
	return os.WriteFile(to, all.Bytes(), 0o644)
}
