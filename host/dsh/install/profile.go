package install

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

func profileFolder(home, profile string) string { return filepath.Join(home, "profiles", profile) }

// checkProfile refuses names that DSH refuses.
func checkProfile(name string) error {
	if name == "" || name == "." || name == ".." || name == "node_modules" || strings.ContainsAny(name, `/\`) {
		return shared.Errorf(ProfileInvalid, "%q is no name of a profile", name)
	}
	return nil
}

// defaultProfile is the one that DSH makes by itself.
const defaultProfile = "web"

// knownProfile refuses a profile that a home does not have, when it has others: a
// mistyped one would be made, and no DSH would use it.
func knownProfile(home, name string) error {
	if err := checkProfile(name); err != nil || name == defaultProfile {
		return err
	}
	entries, err := os.ReadDir(filepath.Join(home, "profiles"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return shared.Errorf(shared.StorageIO, "read the profiles: %w", err)
	}
	var names []string
	for _, entry := range entries {
		if entry.Name() == name {
			return nil
		}
		if entry.IsDir() && checkProfile(entry.Name()) == nil {
			names = append(names, entry.Name())
		}
	}
	if len(names) == 0 {
		names = []string{defaultProfile}
	}
	return shared.Errorf(ProfileInvalid, "there is no profile %s in %s; there is: %s", name, home, strings.Join(names, ", "))
}

// state is what a profile says of the bundle.
type state struct {
	// exists: the profile has a package.json.
	exists bool
	// dependency is the spec that it depends on the bundle by, "" for none.
	dependency string
	// listed: the bundle is one of its layers; DSH does not start when it is missing then.
	listed bool
	// installed is the folder of the bundle in the profile, "" for none.
	installed string
}

func (s state) mentions() bool { return s.dependency != "" || s.listed }

func look(home, profile string) (state, error) {
	dir := profileFolder(home, profile)
	var s state
	data, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, shared.Errorf(shared.StorageIO, "read the profile: %w", err)
	}
	var manifest struct {
		Dependencies map[string]string `json:"dependencies"`
		DSH          struct {
			Profile struct {
				Bundles []string `json:"bundles"`
			} `json:"profile"`
		} `json:"dsh"`
	}
	if err := json.Unmarshal(data, &manifest); err != nil {
		return s, shared.Errorf(ProfileInvalid, "%s cannot be read: %w", filepath.Join(dir, "package.json"), err)
	}
	s.exists = true
	s.dependency = manifest.Dependencies[PackageName]
	s.listed = slices.Contains(manifest.DSH.Profile.Bundles, PackageName)
	installed := filepath.Join(dir, "node_modules", PackageName)
	if _, err := os.Stat(filepath.Join(installed, "package.json")); err == nil {
		s.installed = installed
	}
	return s, nil
}

// profileFiles are the files of a profile that DSH or pnpm may write.
var profileFiles = []string{"package.json", "pnpm-lock.yaml", "pnpm-workspace.yaml", "cordis.patch.yml"}

// snapshot is what a profile's files were.
type snapshot struct {
	dir string
	// existed: there was such a folder.
	existed bool
	// files by name; a file that was not there has no entry.
	files map[string][]byte
}

func take(home, profile string) (snapshot, error) {
	s := snapshot{dir: profileFolder(home, profile), files: map[string][]byte{}}
	if _, err := os.Stat(s.dir); err == nil {
		s.existed = true
	}
	for _, name := range profileFiles {
		data, err := os.ReadFile(filepath.Join(s.dir, name))
		if err == nil {
			s.files[name] = data
		} else if !errors.Is(err, fs.ErrNotExist) {
			return s, shared.Errorf(shared.StorageIO, "read the profile: %w", err)
		}
	}
	return s, nil
}

// restore puts back the files that are not as they were; files that were not there go.
func (s snapshot) restore() error {
	if !s.existed {
		return os.RemoveAll(s.dir)
	}
	var errs []error
	for _, name := range profileFiles {
		path := filepath.Join(s.dir, name)
		old, was := s.files[name]
		now, err := os.ReadFile(path)
		switch {
		case was && (err != nil || !bytes.Equal(now, old)):
			errs = append(errs, replaceFile(path, old))
		case !was && err == nil:
			errs = append(errs, os.Remove(path))
		}
	}
	return errors.Join(errs...)
}

// replaceFile writes a file of the profile, keeping its mode; a reader sees the old or the new one.
func replaceFile(path string, data []byte) error {
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	temporary, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	_, err = temporary.Write(data)
	err = errors.Join(err, temporary.Chmod(mode), temporary.Sync(), temporary.Close())
	if err == nil {
		err = os.Rename(temporary.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temporary.Name()))
	}
	return nil
}

// unlist takes the bundle out of a profile's package.json by hand, leaving all
// other bytes of it alone: for a profile that names a bundle which is not there.
func unlist(home, profile string) error {
	path := filepath.Join(profileFolder(home, profile), "package.json")
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	list := gjson.GetBytes(data, "dsh.profile.bundles").Array()
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].String() == PackageName {
			if data, err = sjson.DeleteBytes(data, fmt.Sprintf("dsh.profile.bundles.%d", i)); err != nil {
				return err
			}
		}
	}
	if gjson.GetBytes(data, "dependencies."+PackageName).Exists() {
		if data, err = sjson.DeleteBytes(data, "dependencies."+PackageName); err != nil {
			return err
		}
	}
	return replaceFile(path, data)
}

// sameManifest tells whether two package.json say the same; pnpm drops a list of
// dependencies that has become empty and puts another at the end.
func sameManifest(a, b []byte) bool {
	read := func(data []byte) map[string]any {
		var m map[string]any
		if json.Unmarshal(data, &m) != nil {
			return nil
		}
		if dependencies, ok := m["dependencies"].(map[string]any); ok && len(dependencies) == 0 {
			delete(m, "dependencies")
		}
		return m
	}
	x, y := read(a), read(b)
	return x != nil && y != nil && reflect.DeepEqual(x, y)
}
