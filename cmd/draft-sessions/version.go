package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"

	draftsessions "github.com/draft-sessions/dsh-draft-sessions"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
	"github.com/draft-sessions/dsh-draft-sessions/shared/compat"
	"github.com/draft-sessions/dsh-draft-sessions/shared/manifest"
)

// version is the release and revision the commit; a release sets both with -ldflags "-X main.version=...".
var (
	version  = "0.1.0"
	revision = ""
)

type versionCmd struct {
	JSON bool `help:"Print one JSON object."`
}

// versions is what version tells.
type versions struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	// Record is the version of the records that are written, Protocol that of host and plugin.
	Record   int `json:"recordVersion"`
	Protocol int `json:"protocol"`
	// Hosts are the versions of each host that were tested.
	Hosts  map[string][]string `json:"tested"`
	Binary string              `json:"binary"`
	SHA256 string              `json:"sha256"`
	// Manifest is "fits", "none", or the code of what is wrong with it.
	Manifest string `json:"manifest"`
}

func (c versionCmd) Run(out io.Writer) error {
	v, err := collectVersions()
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(out, v)
	}
	var tested string
	for host, list := range v.Hosts {
		tested += fmt.Sprintf("tested with  %s %v\n", host, list)
	}
	about := v.Version
	if v.Revision != "" {
		about += " (" + v.Revision + ")"
	}
	_, err = fmt.Fprintf(out, "draft-sessions %s\nrecord       version %d\nprotocol     %d\n%sbuilt with   %s for %s\nbinary       %s\nsha256       %s\nmanifest     %s\n",
		about, v.Record, v.Protocol, tested, v.Go, v.Platform, v.Binary, v.SHA256, v.Manifest)
	return err
}

func collectVersions() (versions, error) {
	v := versions{
		Version: version, Revision: revision, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Record: shared.RecordVersion, Protocol: shared.ProtocolVersion, Hosts: map[string][]string{}, Manifest: "fits",
	}
	if info, ok := debug.ReadBuildInfo(); ok && v.Revision == "" {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				v.Revision = s.Value
			}
		}
	}
	table, err := compat.Parse(draftsessions.Compatibility)
	if err != nil {
		return v, err
	}
	for name, host := range table.Hosts {
		v.Hosts[name] = host.Tested
	}
	if v.Binary, err = os.Executable(); err == nil {
		v.Binary, err = filepath.EvalSymlinks(v.Binary)
	}
	if err != nil {
		return v, fmt.Errorf("find the binary: %w", err)
	}
	data, err := os.ReadFile(v.Binary)
	if err != nil {
		return v, fmt.Errorf("read the binary: %w", err)
	}
	sum := sha256.Sum256(data)
	v.SHA256 = hex.EncodeToString(sum[:])
	var miss *manifest.Error
	if _, err := manifest.Check(v.Binary, shared.ProtocolVersion); errors.As(err, &miss) {
		v.Manifest = miss.Reason.Code
		if v.Manifest == manifest.Missing {
			v.Manifest = "none"
		}
	}
	return v, nil
}
