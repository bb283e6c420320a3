package dsh

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	draftsessions "github.com/draft-sessions/dsh-draft-sessions"
)

// EnvOverride names a version of DSH that the bundle runs on although it was not
// tested, at the user's risk.
const EnvOverride = "DRAFT_SESSIONS_OVERRIDE"

// EnvSmoke names the folder of an installed DSH that the tests run against
// ([Options.DSH]) instead of the tested release.
const EnvSmoke = "SMOKE_DSH"

const hostPackage = "@deepseek-ai/dsh"

// useDSH takes an installation that is there: the folder of the package itself, of
// a project that depends on it, or npm's prefix.
func useDSH(dir string) func(*Toolchain, context.Context) error {
	return func(t *Toolchain, _ context.Context) error {
		dir, err := filepath.Abs(dir)
		if err != nil {
			return fmt.Errorf("find DSH: %w", err)
		}
		below := filepath.Join("node_modules", filepath.FromSlash(hostPackage))
		for _, candidate := range []string{dir, filepath.Join(dir, below), filepath.Join(dir, "lib", below)} {
			raw, err := os.ReadFile(filepath.Join(candidate, "package.json"))
			if errors.Is(err, os.ErrNotExist) {
				continue
			}
			if err != nil {
				return fmt.Errorf("find DSH: %w", err)
			}
			var manifest struct {
				Name    string `json:"name"`
				Version string `json:"version"`
			}
			if json.Unmarshal(raw, &manifest) != nil || manifest.Name != hostPackage || manifest.Version == "" {
				continue
			}
			t.DSHVersion = manifest.Version
			t.DSH, err = binEntry(candidate, "dsh")
			return err
		}
		return fmt.Errorf("no %s in %s: name the folder of an installation", hostPackage, dir)
	}
}

// Override is this DSH's version when it is none of the tested ones, for
// [EnvOverride]: a qualification runs it at its own risk. It is "" otherwise.
func (t *Toolchain) Override() string {
	tested, err := testedDSH()
	if err != nil || slices.Contains(tested, t.DSHVersion) {
		return ""
	}
	return t.DSHVersion
}

// testedDSH are the tested versions in compatibility.json, the oldest first.
func testedDSH() ([]string, error) {
	var manifest struct {
		Hosts map[string]struct {
			Tested []string `json:"tested"`
		} `json:"hosts"`
	}
	if err := json.Unmarshal(draftsessions.Compatibility, &manifest); err != nil {
		return nil, fmt.Errorf("read compatibility.json: %w", err)
	}
	return manifest.Hosts["dsh"].Tested, nil
}
