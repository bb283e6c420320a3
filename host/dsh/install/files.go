package install

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// maxPackageBytes bounds what is read of one package; ours have 20 MB.
const maxPackageBytes = 256 << 20

// files is the content of a package, by its slash-separated path.
type files map[string]file

type file struct {
	data       []byte
	executable bool
}

// readFolder reads a package's folder; what was installed into it is no part of it.
func readFolder(dir string) (files, error) {
	out, size := files{}, int64(0)
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if entry.Name() == "node_modules" {
				return fs.SkipDir
			}
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%s is no ordinary file", name)
		}
		if size += info.Size(); size > maxPackageBytes {
			return fmt.Errorf("more than %d bytes", maxPackageBytes)
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		out[filepath.ToSlash(relative)] = file{data, info.Mode()&0o111 != 0}
		return nil
	})
	return out, err
}

// readArchive reads an npm package (.tgz), all of whose files lie in package/.
func readArchive(name string) (files, error) {
	archive, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = archive.Close() }() // only read
	unpacked, err := gzip.NewReader(archive)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	out := files{}
	entries := tar.NewReader(io.LimitReader(unpacked, maxPackageBytes))
	for {
		header, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		if header.Typeflag == tar.TypeDir {
			continue
		}
		inside, ok := strings.CutPrefix(header.Name, "package/")
		if !ok || header.Typeflag != tar.TypeReg || !filepath.IsLocal(filepath.FromSlash(inside)) || path.Clean(inside) != inside {
			return nil, fmt.Errorf("read %s: %q does not belong into a package", name, header.Name)
		}
		data, err := io.ReadAll(entries)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		out[inside] = file{data, header.Mode&0o111 != 0}
	}
}

// digest is the same for the same paths, modes and contents.
func (f files) digest() string {
	hash := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(f)) {
		_, _ = fmt.Fprintf(hash, "%q %v %x\n", name, f[name].executable, sha256.Sum256(f[name].data)) // a hash takes everything
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// write makes the files in a new folder.
func (f files) write(dir string) error {
	for _, name := range slices.Sorted(maps.Keys(f)) {
		to := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		mode := fs.FileMode(0o644)
		if f[name].executable {
			mode = 0o755
		}
		if err := os.WriteFile(to, f[name].data, mode); err != nil {
			return err
		}
	}
	return nil
}
