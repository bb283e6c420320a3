// Package install puts the bundle into a profile of a DeepSeek Harness (DSH) that
// is there already, and takes it out again, with DSH's own `dsh plugin` and without
// a network. [Find] finds the DSH, [DSH.Facts] tells what the gate decides on,
// [Add] and [Remove] change a profile.
//
// What is installed lies in the plugin's own folder of the home,
// <home>/storages/dsh-draft-sessions/bundles/<version>-<digest>, whole and never
// changed: the profile depends on that folder by path. The draft file lies beside
// it and is touched by nothing here. A failing change is undone.
package install

import (
	"path/filepath"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// Codes of the errors of this package (*shared.Error), beside DRAFT_STORAGE_IO for
// a home that cannot be written, and DRAFT_STORAGE_BUSY while another install runs.
const (
	// DSHNotFound: no DSH where it was looked for.
	DSHNotFound shared.Code = "DSH_NOT_FOUND"
	// PnpmMissing: DSH changes profiles with pnpm, and there is none on the PATH.
	PnpmMissing shared.Code = "PNPM_MISSING"
	// BundleNotFound: what is to be installed is not where it was looked for.
	BundleNotFound shared.Code = "BUNDLE_NOT_FOUND"
	// BundleInvalid: it is there, but damaged, of another platform, or not of one release.
	BundleInvalid shared.Code = "BUNDLE_INVALID"
	// ProfileInvalid: the profile's package.json cannot be read, the name is none, or
	// the home has other profiles and not that one.
	ProfileInvalid shared.Code = "PROFILE_INVALID"
	// DSHFailed: `dsh plugin` failed; what it had changed was put back.
	DSHFailed shared.Code = "DSH_FAILED"
)

const (
	// PackageName is the bundle's name in a profile.
	PackageName = "draft-sessions-dsh"
	// HostPackage is DSH's own npm package.
	HostPackage = "@deepseek-ai/dsh"
	// BinaryName is the plugin binary, in the bin folder of a bundle.
	BinaryName = "draft-sessions"
)

// PlatformPackage is the package that brings the binary for a platform of Go.
func PlatformPackage(goos, goarch string) string { return PackageName + "-" + goos + "-" + goarch }

// storage is the plugin's folder in a home (that of the draft file).
func storage(home string) string { return filepath.Join(home, "storages", "dsh-draft-sessions") }

func bundlesFolder(home string) string { return filepath.Join(storage(home), "bundles") }
