package install

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// Remove takes the bundle out of a profile: after it the profile does not name it,
// and its files are as they were before [Add], byte for byte where nothing else
// has changed. The drafts stay. Doing it again changes nothing. When it fails the
// profile is put back, and the error tells. Codes: those of [Add].
func Remove(ctx context.Context, o Options) (Result, error) {
	if _, err := os.Stat(o.Home); errors.Is(err, fs.ErrNotExist) {
		return Result{Kept: storage(o.Home)}, nil // and no home is made for it
	}
	c, err := begin(ctx, o)
	if err != nil {
		return Result{}, err
	}
	defer c.unlock()
	r := Result{Kept: storage(o.Home)}
	was, err := look(o.Home, o.Profile)
	if err != nil {
		return r, err
	}
	if was.installed != "" {
		if manifest, err := readPackage(was.installed); err == nil {
			r.Version = manifest.Version
		}
	}
	if was.mentions() {
		c.say("removing draft sessions from the profile %s of %s", o.Profile, o.Home)
		if err := c.remove(ctx, was); err != nil {
			return r, c.undo(ctx, err)
		}
		r.Changed = true
	}
	forgetBefore(o.Home, o.Profile)
	if err := prune(o.Home); err != nil {
		return r, shared.Errorf(shared.StorageIO, "the bundle is out of the profile, but its folder could not be removed: %w", err)
	}
	return r, nil
}

func (c *change) remove(ctx context.Context, was state) error {
	if was.dependency != "" {
		if err := c.plugin(ctx, "remove", PackageName); err != nil {
			return err
		}
	}
	now, err := look(c.Home, c.Profile)
	if err != nil {
		return err
	}
	if now.mentions() { // a layer that is no dependency is none of pnpm's business
		if err := unlist(c.Home, c.Profile); err != nil {
			return shared.Errorf(shared.StorageIO, "take the bundle out of the profile: %w", err)
		}
	}
	if err := c.restoreBefore(); err != nil {
		return shared.Errorf(shared.StorageIO, "put the profile's files back: %w", err)
	}
	return nil
}

// remembered is the form of the file that holds what a profile was before Add.
type remembered struct {
	Schema int `json:"schema"`
	// Files by name; those that were not there are not named.
	Files map[string][]byte `json:"files"`
}

func beforeFile(home, profile string) string {
	return filepath.Join(bundlesFolder(home), "before-"+profile+".json")
}

func rememberBefore(home, profile string, s snapshot) error {
	if s.files["package.json"] == nil {
		return nil // DSH makes a new profile anew
	}
	data, err := json.Marshal(remembered{Schema: 1, Files: s.files})
	if err != nil {
		return err
	}
	return replaceFile(beforeFile(home, profile), data)
}

func forgetBefore(home, profile string) {
	_ = os.Remove(beforeFile(home, profile)) // an old one is never used: Add replaces it
}

// restoreBefore gives the profile's files their bytes of before Add where pnpm has
// only written the same in another way: it drops an empty list of dependencies,
// sorts, and leaves a lock file that locks nothing.
func (c *change) restoreBefore() error {
	data, err := os.ReadFile(beforeFile(c.Home, c.Profile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var old remembered
	if err == nil {
		err = json.Unmarshal(data, &old)
	}
	if err != nil || old.Schema != 1 {
		return nil // the profile is right without it
	}
	dir := profileFolder(c.Home, c.Profile)
	now, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if err != nil {
		return err
	}
	was := old.Files["package.json"]
	if !sameManifest(now, was) {
		return nil // something else was changed meanwhile
	}
	if !bytes.Equal(now, was) {
		if err := replaceFile(filepath.Join(dir, "package.json"), was); err != nil {
			return err
		}
	}
	lock := filepath.Join(dir, "pnpm-lock.yaml")
	locked, err := os.ReadFile(lock)
	if _, had := old.Files["pnpm-lock.yaml"]; had || err != nil || bytes.Contains(locked, []byte("\npackages:")) {
		return nil
	}
	return os.Remove(lock)
}
