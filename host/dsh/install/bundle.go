package install

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
	"github.com/draft-sessions/dsh-draft-sessions/shared/manifest"
)

// Bundle is a whole bundle in memory, with the binary for this machine.
type Bundle struct {
	// Version of the release.
	Version string
	content files
}

// Load reads what is to be installed: from is a folder that holds the packages of a
// release as archives, or the folder of a bundle or of its package; "" takes the
// folder that the running command lies in. Codes: BUNDLE_NOT_FOUND, BUNDLE_INVALID.
func Load(from string) (*Bundle, error) {
	if from == "" {
		command, err := os.Executable()
		if err == nil {
			command, err = filepath.EvalSymlinks(command)
		}
		if err != nil {
			return nil, shared.Errorf(BundleNotFound, "find the bundle beside this command: %w", err)
		}
		return loadBeside(command)
	}
	bundle, platform, err := loadFrom(from)
	if err != nil {
		return nil, err
	}
	return assemble(bundle, platform)
}

// loadBeside finds the bundle that a command belongs to: it lies in the bin folder
// of the bundle or of the platform's package, which npm puts beside the bundle's.
func loadBeside(command string) (*Bundle, error) {
	own := filepath.Dir(filepath.Dir(command))
	manifest, err := readPackage(own)
	if err == nil && manifest.Name == PlatformPackage(runtime.GOOS, runtime.GOARCH) {
		own = filepath.Join(filepath.Dir(own), PackageName)
		manifest, err = readPackage(own)
	}
	if err != nil || manifest.Name != PackageName {
		return nil, shared.Errorf(BundleNotFound, "this command is no part of a release; name the folder with its packages with --from")
	}
	bundle, platform, err := fromFolder(own)
	if err != nil {
		return nil, err
	}
	return assemble(bundle, platform)
}

func loadFrom(from string) (bundle, platform files, err error) {
	if manifest, err := readPackage(from); err == nil && manifest.Name == PackageName {
		return fromFolder(from)
	}
	version, err := newest(from)
	if err != nil {
		return nil, nil, err
	}
	read := func(name string) files {
		var content files
		if err == nil {
			content, err = readArchive(archive(from, name, version))
		}
		return content
	}
	bundle, platform = read(PackageName), read(PlatformPackage(runtime.GOOS, runtime.GOARCH))
	if err != nil {
		return nil, nil, shared.Errorf(BundleInvalid, "read the packages: %w", err)
	}
	return bundle, platform, nil
}

func archive(dir, name, version string) string {
	return filepath.Join(dir, name+"-"+version+".tgz")
}

// newest is the newest version of which both packages lie in a folder.
func newest(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", shared.Errorf(BundleNotFound, "look for the packages: %w", err)
	}
	platform := PlatformPackage(runtime.GOOS, runtime.GOARCH)
	var best *semver.Version
	for _, entry := range entries {
		text, ok := strings.CutSuffix(strings.TrimPrefix(entry.Name(), platform+"-"), ".tgz")
		version, err := semver.StrictNewVersion(text)
		if !ok || err != nil || !strings.HasPrefix(entry.Name(), platform+"-") {
			continue
		}
		if _, err := os.Stat(archive(dir, PackageName, text)); err == nil && (best == nil || version.GreaterThan(best)) {
			best = version
		}
	}
	if best == nil {
		return "", shared.Errorf(BundleNotFound, "%s holds no packages of one release for this machine (%s-<version>.tgz and %s-<version>.tgz)", dir, PackageName, platform)
	}
	return best.String(), nil
}

// fromFolder reads an unpacked bundle and, when it brings no binary itself, the
// platform's package where Node would find it.
func fromFolder(dir string) (bundle, platform files, err error) {
	if bundle, err = readFolder(dir); err != nil {
		return nil, nil, shared.Errorf(BundleInvalid, "read the bundle: %w", err)
	}
	if _, whole := bundle["bin/"+manifest.File]; whole {
		return bundle, nil, nil
	}
	name := PlatformPackage(runtime.GOOS, runtime.GOARCH)
	found := lookup(dir, name)
	if found == "" {
		return nil, nil, shared.Errorf(BundleNotFound, "%s has no binary for this machine, and there is no %s beside it", dir, name)
	}
	if platform, err = readFolder(found); err != nil {
		return nil, nil, shared.Errorf(BundleInvalid, "read the binary's package: %w", err)
	}
	return bundle, platform, nil
}

// assemble puts the platform's binary into the bundle, and takes out what would
// make a package manager look for it elsewhere.
func assemble(bundle, platform files) (*Bundle, error) {
	for name, f := range platform {
		if strings.HasPrefix(name, "bin/") {
			bundle[name] = f
		}
	}
	var declared map[string]any
	if err := json.Unmarshal(bundle["package.json"].data, &declared); err != nil {
		return nil, shared.Errorf(BundleInvalid, "read the bundle's package.json: %w", err)
	}
	delete(declared, "optionalDependencies")
	version, _ := declared["version"].(string)
	if name, _ := declared["name"].(string); name != PackageName || version == "" {
		return nil, shared.Errorf(BundleInvalid, "the bundle's package.json is of another package, or without a version")
	}
	data, err := json.MarshalIndent(declared, "", "  ")
	if err != nil {
		return nil, shared.Errorf(BundleInvalid, "write the bundle's package.json: %w", err)
	}
	bundle["package.json"] = file{data: append(data, '\n')}
	return &Bundle{Version: version, content: bundle}, nil
}

// folder is where the bundle lies in a home, whole and never changed.
func (b *Bundle) folder(home string) string {
	return filepath.Join(bundlesFolder(home), b.Version+"-"+b.content.digest()[:12])
}

// place makes the bundle's folder in a home, unless it is there, and checks the
// binary in it as the gate will. Codes: BUNDLE_INVALID, DRAFT_STORAGE_IO.
func (b *Bundle) place(home string) (string, error) {
	to := b.folder(home)
	if b.whole(to) {
		return to, nil
	}
	err := errors.Join(os.MkdirAll(storage(home), 0o700), os.MkdirAll(bundlesFolder(home), 0o755))
	if err != nil {
		return "", shared.Errorf(shared.StorageIO, "place the bundle: %w", err)
	}
	temporary, err := os.MkdirTemp(bundlesFolder(home), ".new-")
	if err != nil {
		return "", shared.Errorf(shared.StorageIO, "place the bundle: %w", err)
	}
	err = b.fill(temporary)
	if err == nil {
		// One that is not whole: it was cut off by a crash, or changed by hand.
		err = os.RemoveAll(to)
	}
	if err == nil {
		err = os.Rename(temporary, to)
	}
	if err == nil {
		return to, nil
	}
	code := shared.CodeOf(err)
	if miss := (*manifest.Error)(nil); errors.As(err, &miss) {
		code = BundleInvalid
	}
	return "", shared.Errorf(code, "place the bundle: %w", errors.Join(err, os.RemoveAll(temporary)))
}

func (b *Bundle) fill(dir string) error {
	if err := os.Chmod(dir, 0o755); err != nil {
		return err
	}
	if err := b.content.write(dir); err != nil {
		return err
	}
	described, err := manifest.Check(filepath.Join(dir, "bin", BinaryName), shared.ProtocolVersion)
	if err != nil {
		return err
	}
	if described.Version != b.Version {
		return shared.Errorf(BundleInvalid, "the bundle is of release %s, its binary of %s", b.Version, described.Version)
	}
	return nil
}

// whole tells whether a folder holds exactly this bundle.
func (b *Bundle) whole(dir string) bool {
	there, err := readFolder(dir)
	return err == nil && there.digest() == b.content.digest()
}

// prune removes the bundles that no profile of the home depends on any more, and
// what interrupted installs left.
func prune(home string) error {
	used, err := usedBundles(home)
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(bundlesFolder(home))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, entry := range entries {
		dir := filepath.Join(bundlesFolder(home), entry.Name())
		if !used[dir] && entry.IsDir() {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}
	// The folder goes with the last bundle; one that holds something stays.
	_ = os.Remove(bundlesFolder(home))
	return err
}

// usedBundles are the folders that the profiles of a home depend on.
func usedBundles(home string) (map[string]bool, error) {
	used := map[string]bool{}
	entries, err := os.ReadDir(filepath.Join(home, "profiles"))
	if errors.Is(err, fs.ErrNotExist) {
		return used, nil
	}
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		if checkProfile(entry.Name()) != nil {
			continue
		}
		s, err := look(home, entry.Name())
		if err != nil {
			return nil, fmt.Errorf("profile %s: %w", entry.Name(), err)
		}
		if dir, ok := strings.CutPrefix(s.dependency, "file:"); ok {
			if !filepath.IsAbs(dir) {
				dir = filepath.Join(profileFolder(home, entry.Name()), dir)
			}
			used[filepath.Clean(dir)] = true
		}
	}
	return used, nil
}
