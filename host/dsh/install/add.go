package install

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// Result tells what Add or Remove did.
type Result struct {
	// Version of the bundle that is installed, or was removed ("" when it is not known).
	Version string `json:"version"`
	// Changed: false when everything was as wanted.
	Changed bool `json:"changed"`
	// Folder of the installed bundle in the home.
	Folder string `json:"folder,omitempty"`
	// Command is the installed binary, for a person's use as well.
	Command string `json:"command,omitempty"`
	// Kept is the folder with the drafts, which nothing here touches.
	Kept string `json:"kept"`
}

// Add installs the bundle into a profile: after it the profile depends on it, and
// the bundle in it is whole. A running DSH takes it up when it is started the next
// time. Doing it again changes nothing; another release replaces the one that is
// there. Other files and entries of the profile stay as they are. When it fails
// the profile is put back, and the error tells. Codes: those of this package,
// DRAFT_STORAGE_IO, DRAFT_STORAGE_BUSY.
func Add(ctx context.Context, o Options, b *Bundle) (Result, error) {
	c, err := begin(ctx, o)
	if err != nil {
		return Result{}, err
	}
	defer c.unlock()
	r := Result{
		Version: b.Version, Kept: storage(o.Home),
		Command: filepath.Join(profileFolder(o.Home, o.Profile), "node_modules", PackageName, "bin", BinaryName),
	}
	was, err := look(o.Home, o.Profile)
	if err != nil {
		return r, err
	}
	if r.Folder, err = b.place(o.Home); err != nil {
		return r, err
	}
	if c.holds(b, r.Folder) {
		return r, nil
	}
	if was.dependency == "" {
		if err := rememberBefore(o.Home, o.Profile, c.before); err != nil {
			return r, shared.Errorf(shared.StorageIO, "remember the profile: %w", err)
		}
	}
	c.say("adding draft sessions %s to the profile %s of %s", b.Version, o.Profile, o.Home)
	add := func() error { return c.plugin(ctx, "add", "--prefer-offline", "file:"+r.Folder) }
	if err = add(); err == nil {
		err = Replace(o.Home, o.Profile, r.Folder, add)
	}
	if err != nil {
		err = c.undo(ctx, err)
		if was.dependency == "" {
			forgetBefore(o.Home, o.Profile)
		}
		_ = prune(o.Home) // the bundle that was placed; the next install removes what stays
		return r, err
	}
	r.Changed = true
	if err := prune(o.Home); err != nil {
		return r, shared.Errorf(shared.StorageIO, "the bundle is installed, but an older one could not be removed: %w", err)
	}
	return r, nil
}

// holds tells whether the profile names exactly this bundle and has it whole.
func (c *change) holds(b *Bundle, folder string) bool {
	s, err := look(c.Home, c.Profile)
	return err == nil && s.listed && s.dependency == "file:"+folder && s.installed != "" && b.whole(s.installed)
}

// IsBundle tells whether a folder holds the bundle, of whatever release.
func IsBundle(folder string) bool {
	manifest, err := readPackage(folder)
	return err == nil && manifest.Name == PackageName
}

// Holds tells whether a profile has exactly the files of a folder as its bundle.
func Holds(home, profile, folder string) bool {
	s, err := look(home, profile)
	return err == nil && s.listed && s.dependency == "file:"+folder && s.installed != "" && sameBundle(s)
}

// Replace has add called again when the copy of the bundle in a profile does not
// have the files of folder, with that copy out of the way: pnpm leaves one alone
// that it believes to be there, whatever has become of it. Without an error the
// profile has the files of folder; with one it has the copy that it had.
func Replace(home, profile, folder string, add func() error) error {
	if Holds(home, profile, folder) {
		return nil
	}
	copied := filepath.Join(profileFolder(home, profile), "node_modules", PackageName)
	if target, err := filepath.EvalSymlinks(copied); err == nil {
		copied = target
	}
	aside := copied + ".replaced"
	if err := errors.Join(os.RemoveAll(aside), os.Rename(copied, aside)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return shared.Errorf(shared.StorageIO, "replace the bundle in the profile: %w", err)
	}
	err := add()
	if err == nil && !Holds(home, profile, folder) {
		err = shared.Errorf(DSHFailed, "dsh plugin reported success, but the profile does not hold the bundle")
	}
	if err == nil {
		err = os.RemoveAll(aside)
	} else if _, errAside := os.Stat(aside); errAside == nil {
		err = errors.Join(err, os.RemoveAll(copied), os.Rename(aside, copied))
	}
	return err
}

// Installed tells the version of the bundle in a profile and the folder that it
// lies in there; both are "" when the profile does not name it. A profile that
// names a bundle which is not there is an error: DSH does not start with it.
func Installed(home, profile string) (version, folder string, err error) {
	if err := knownProfile(home, profile); err != nil {
		return "", "", err
	}
	s, err := look(home, profile)
	if err != nil || !s.mentions() {
		return "", "", err
	}
	if s.installed == "" {
		return "", "", shared.Errorf(ProfileInvalid, "the profile %s names %s, but it is not installed there; run draft-sessions install, or uninstall", profile, PackageName)
	}
	manifest, err := readPackage(s.installed)
	if err != nil {
		return "", "", shared.Errorf(ProfileInvalid, "the installed bundle cannot be read: %w", fmt.Errorf("%s: %w", s.installed, err))
	}
	return manifest.Version, s.installed, nil
}
