package install

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"time"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// DSH is an installation of the harness.
type DSH struct {
	// Command runs it; arguments are to be appended.
	Command []string
	// Root is the folder of its package, Version the version written there.
	Root, Version string
	// ProbeWithin bounds each program that [DSH.Facts] asks; 10 s when zero.
	ProbeWithin time.Duration
}

// Find finds a DSH: where is a folder that it was installed into, the folder of
// its package, or its command; "" takes the dsh of the PATH. Nothing is started.
// Code: DSH_NOT_FOUND.
func Find(where string) (*DSH, error) {
	if where == "" {
		command, err := exec.LookPath("dsh")
		if err != nil {
			return nil, shared.Errorf(DSHNotFound, "there is no dsh on the PATH; name the folder that DSH was installed into with --dsh")
		}
		return byCommand(command)
	}
	info, err := os.Stat(where)
	if err != nil {
		return nil, shared.Errorf(DSHNotFound, "no DSH at %s: %w", where, err)
	}
	if !info.IsDir() {
		return byCommand(where)
	}
	for _, root := range []string{where, filepath.Join(where, "node_modules", HostPackage), filepath.Join(where, "lib", "node_modules", HostPackage)} {
		if manifest, err := readPackage(root); err == nil && manifest.Name == HostPackage {
			return byRoot(root, manifest)
		}
	}
	return nil, shared.Errorf(DSHNotFound, "%s holds no %s", where, HostPackage)
}

// byRoot runs the script of the package with the node of the PATH.
func byRoot(root string, manifest packageJSON) (*DSH, error) {
	entry := manifest.Bin["dsh"]
	if entry == "" {
		return nil, shared.Errorf(DSHNotFound, "%s declares no command dsh", root)
	}
	return &DSH{Command: []string{"node", filepath.Join(root, filepath.FromSlash(entry))}, Root: root, Version: manifest.Version}, nil
}

// byCommand finds the package behind a command: a link into it, or a script that
// a package manager made.
func byCommand(command string) (*DSH, error) {
	command, err := filepath.Abs(command)
	if err != nil {
		return nil, shared.Errorf(DSHNotFound, "find the command: %w", err)
	}
	real, err := filepath.EvalSymlinks(command)
	if err != nil {
		return nil, shared.Errorf(DSHNotFound, "find the command: %w", err)
	}
	candidates := []string{}
	for dir := filepath.Dir(real); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		candidates = append(candidates, dir)
	}
	candidates = append(candidates, namedIn(real)...)
	for _, root := range candidates {
		if manifest, err := readPackage(root); err == nil && manifest.Name == HostPackage {
			return &DSH{Command: []string{command}, Root: root, Version: manifest.Version}, nil
		}
	}
	return nil, shared.Errorf(DSHNotFound, "%s is a command, but the package behind it was not found; name the folder that DSH was installed into with --dsh", command)
}

var packageInScript = regexp.MustCompile(`"(?:\$basedir|\$\{basedir\})?([^"\n:]*` + HostPackage + `)/[^"\n:]*\.[cm]?js"`)

// namedIn gives the package folders that a start script names.
func namedIn(script string) []string {
	file, err := os.Open(script)
	if err != nil {
		return nil
	}
	defer func() { _ = file.Close() }() // only read
	text, err := io.ReadAll(io.LimitReader(file, 64<<10))
	if err != nil {
		return nil
	}
	var folders []string
	for _, match := range packageInScript.FindAllSubmatch(text, -1) {
		folder := filepath.FromSlash(string(match[1]))
		folders = append(folders, filepath.Join(filepath.Dir(script), folder), folder)
	}
	return folders
}

// packageJSON is what is read of a package.json.
type packageJSON struct {
	Name         string            `json:"name"`
	Version      string            `json:"version"`
	Bin          map[string]string `json:"bin"`
	Dependencies map[string]string `json:"dependencies"`
	Peers        map[string]string `json:"peerDependencies"`
}

func readPackage(dir string) (packageJSON, error) {
	var p packageJSON
	data, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if err != nil {
		return p, err
	}
	var loose struct {
		packageJSON
		Bin json.RawMessage `json:"bin"` // a string in packages with one command
	}
	if err := json.Unmarshal(data, &loose); err != nil {
		return p, fmt.Errorf("read %s: %w", filepath.Join(dir, "package.json"), err)
	}
	p = loose.packageJSON
	_ = json.Unmarshal(loose.Bin, &p.Bin) // one command under the package's name is none of ours
	return p, nil
}
