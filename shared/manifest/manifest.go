// Package manifest is the first step of the gate: a file beside the plugin binary
// that says which release, protocols and platform it is of, and its checksum.
// [Write] makes it when a binary is packaged; a host calls [Check] before it
// starts one. Hosts in other languages read the same file (docs/dsh.md).
package manifest

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/draft-sessions/dsh-draft-sessions/shared/compat"
)

// File is the manifest's name, in the folder of the binary.
const File = "draft-sessions.manifest.json"

// Schema is the form of the file that Read takes.
const Schema = 1

// maxBytes bounds the file.
const maxBytes = 64 << 10

// Manifest describes one plugin binary.
type Manifest struct {
	Schema int `json:"schema"`
	// Version is the release, "0.1.0".
	Version string `json:"version"`
	// Protocols are the values of shared.ProtocolVersion that the binary speaks.
	Protocols []int `json:"protocols"`
	// OS and Arch are those of Go: linux, darwin, windows; amd64, arm64.
	OS   string `json:"os"`
	Arch string `json:"arch"`
	// Binary is the file's name, without a folder.
	Binary string `json:"binary"`
	// SHA256 is the file's checksum in lower-case hex, Size its length in bytes.
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"`
}

// Codes of an [Error], beside compat.ProtocolMismatch.
const (
	// Missing: there is no manifest beside the binary.
	Missing = "MANIFEST_MISSING"
	// Invalid: the manifest cannot be read, or is not of this form.
	Invalid = "MANIFEST_INVALID"
	// BinaryMissing: there is no binary, or none that can be read.
	BinaryMissing = "BINARY_MISSING"
	// BinaryPlatform: the binary is of another operating system or processor.
	BinaryPlatform = "BINARY_PLATFORM"
	// ChecksumMismatch: the binary is not the one that the manifest describes.
	ChecksumMismatch = "CHECKSUM_MISMATCH"
)

// Error is a miss of the gate: permanent, so nobody tries again.
type Error struct{ Reason compat.Reason }

func (e *Error) Error() string {
	return fmt.Sprintf("%s: %s %s", e.Reason.Code, e.Reason.Message, e.Reason.Found)
}

var sha256Hex = regexp.MustCompile(`^[0-9a-f]{64}$`)

// Write describes a binary of a platform in the file beside it, which it replaces.
func Write(binary, version string, protocols []int, goos, goarch string) (*Manifest, error) {
	sum, size, err := checksum(binary)
	if err != nil {
		return nil, fmt.Errorf("describe the binary: %w", err)
	}
	m := &Manifest{
		Schema: Schema, Version: version, Protocols: protocols, OS: goos, Arch: goarch,
		Binary: filepath.Base(binary), SHA256: sum, Size: size,
	}
	if err := m.check(); err != nil {
		return nil, fmt.Errorf("describe the binary: %w", err)
	}
	data, err := json.Marshal(m, jsontext.WithIndent("  "))
	if err != nil {
		return nil, fmt.Errorf("describe the binary: %w", err)
	}
	path := filepath.Join(filepath.Dir(binary), File)
	// Installed copies are hard links of each other: only this name is to change.
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("describe the binary: %w", err)
	}
	if err := os.WriteFile(path, append(data, '\n'), 0o644); err != nil { // #nosec G306 -- stands beside a program that everybody may run
		return nil, fmt.Errorf("describe the binary: %w", err)
	}
	return m, nil
}

// Read reads the manifest of a folder, strictly. The error is an [*Error].
func Read(dir string) (*Manifest, error) {
	path := filepath.Join(dir, File)
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, miss(Missing, File, "", path, "The description of the plugin binary is missing, so the binary is not trusted; install the plugin again.")
	}
	invalid := func(err error) error {
		return miss(Invalid, File, fmt.Sprintf("schema %d", Schema), err.Error(), "The description of the plugin binary cannot be read, so the binary is not trusted; install the plugin again.")
	}
	if err != nil {
		return nil, invalid(err)
	}
	defer func() { _ = file.Close() }() // only read
	data, err := io.ReadAll(io.LimitReader(file, maxBytes+1))
	if err != nil {
		return nil, invalid(err)
	}
	if len(data) > maxBytes {
		return nil, invalid(fmt.Errorf("more than %d bytes", maxBytes))
	}
	m := &Manifest{}
	if err := json.Unmarshal(data, m, json.RejectUnknownMembers(true)); err != nil {
		return nil, invalid(err)
	}
	if err := m.check(); err != nil {
		return nil, invalid(err)
	}
	return m, nil
}

func (m *Manifest) check() error {
	switch {
	case m.Schema != Schema:
		return fmt.Errorf("schema %d", m.Schema)
	case m.Version == "" || m.OS == "" || m.Arch == "" || len(m.Protocols) == 0:
		return errors.New("version, protocols, os or arch is missing")
	case m.Binary == "" || m.Binary != filepath.Base(m.Binary) || m.Binary == "." || m.Binary == "..":
		return errors.New("the binary is no file name")
	case !sha256Hex.MatchString(m.SHA256) || m.Size <= 0:
		return errors.New("no checksum or size")
	}
	return nil
}

// Check reads the manifest beside a binary and compares: that it is of this
// platform, speaks the protocol, and has the checksum. It starts nothing. The
// error is an [*Error], in that order; reading 20 MB takes some 30 ms.
func Check(binary string, protocol int) (*Manifest, error) {
	m, err := Read(filepath.Dir(binary))
	if err != nil {
		return nil, err
	}
	name := filepath.Base(binary)
	if m.Binary != name {
		return nil, miss(Invalid, File, name, m.Binary, "The description beside the plugin binary is of another file; install the plugin again.")
	}
	if here := runtime.GOOS + "/" + runtime.GOARCH; here != m.OS+"/"+m.Arch {
		return nil, miss(BinaryPlatform, name, here, m.OS+"/"+m.Arch, "The plugin binary is of another platform; install the plugin's package for this one.")
	}
	if !slices.Contains(m.Protocols, protocol) {
		return nil, miss(compat.ProtocolMismatch, name, fmt.Sprint(protocol), fmt.Sprint(m.Protocols), "The host's half and the plugin binary are of different builds; install both of one release.")
	}
	sum, size, err := checksum(binary)
	if err != nil {
		return nil, miss(BinaryMissing, name, m.SHA256, err.Error(), "The plugin binary is missing or cannot be read; install the plugin again.")
	}
	if sum != m.SHA256 || size != m.Size {
		return nil, miss(ChecksumMismatch, name, fmt.Sprintf("%s (%d bytes)", m.SHA256, m.Size), fmt.Sprintf("%s (%d bytes)", sum, size), "The plugin binary is not the one that was released: it is damaged or was replaced; install the plugin again.")
	}
	return m, nil
}

func miss(code, subject, expected, found, message string) *Error {
	return &Error{compat.Reason{Code: code, Subject: subject, Expected: expected, Found: found, Message: message}}
}

func checksum(path string) (sum string, size int64, err error) {
	file, err := os.Open(path)
	if err != nil {
		return "", 0, err
	}
	defer func() { _ = file.Close() }() // only read
	hash := sha256.New()
	if size, err = io.Copy(hash, file); err != nil {
		return "", 0, err
	}
	return hex.EncodeToString(hash.Sum(nil)), size, nil
}
