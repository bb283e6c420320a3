package manifest

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/draft-sessions/dsh-draft-sessions/shared/compat"
)

// described is a binary with its manifest.
func described(t *testing.T) (binary string, m *Manifest) {
	t.Helper()
	binary = filepath.Join(t.TempDir(), "draft-sessions")
	if err := os.WriteFile(binary, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	m, err := Write(binary, "0.1.0", []int{1, 2}, runtime.GOOS, runtime.GOARCH)
	if err != nil {
		t.Fatal(err)
	}
	return binary, m
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	binary, want := described(t)
	got, err := Check(binary, 2)
	if err != nil {
		t.Fatal(err)
	}
	if got.SHA256 != want.SHA256 || got.Version != "0.1.0" || got.Size != 10 || got.Binary != "draft-sessions" || len(got.Protocols) != 2 {
		t.Errorf("read %+v, wrote %+v", got, want)
	}
}

// Invariant 8: each miss of the gate's first step has a reason of its own.
func TestCheckRefuses(t *testing.T) {
	edit := func(from, to string) func(t *testing.T, binary string) {
		return func(t *testing.T, binary string) {
			path := filepath.Join(filepath.Dir(binary), File)
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			changed := strings.Replace(string(data), from, to, 1)
			if changed == string(data) {
				t.Fatalf("the manifest has no %s: %s", from, data)
			}
			if err := os.WriteFile(path, []byte(changed), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	write := func(text string) func(t *testing.T, binary string) {
		return func(t *testing.T, binary string) {
			if err := os.WriteFile(binary, []byte(text), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	remove := func(name string) func(t *testing.T, binary string) {
		return func(t *testing.T, binary string) {
			if err := os.Remove(filepath.Join(filepath.Dir(binary), name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		name, code string
		protocol   int
		spoil      func(t *testing.T, binary string)
	}{
		{"no manifest", Missing, 1, remove(File)},
		{"no binary", BinaryMissing, 1, remove("draft-sessions")},
		{"another schema", Invalid, 1, edit(`"schema": 1`, `"schema": 2`)},
		{"an unknown member", Invalid, 1, edit(`"schema": 1`, `"schema": 1, "more": 0`)},
		{"a member twice", Invalid, 1, edit(`"schema": 1`, `"schema": 1, "schema": 1`)},
		{"a path for a binary", Invalid, 1, edit(`"binary": "draft-sessions"`, `"binary": "../draft-sessions"`)},
		{"another binary's", Invalid, 1, edit(`"binary": "draft-sessions"`, `"binary": "other"`)},
		{"no checksum", Invalid, 1, edit(`"sha256": "`, `"sha256": "x`)},
		{"no size", Invalid, 1, edit(`"size": 10`, `"size": 0`)},
		{"no version", Invalid, 1, edit(`"version": "0.1.0"`, `"version": ""`)},
		{"half a manifest", Invalid, 1, edit("}", "")},
		{"too long", Invalid, 1, edit(`"schema"`, strings.Repeat(" ", maxBytes)+`"schema"`)},
		{"another system", BinaryPlatform, 1, edit(`"os": "`+runtime.GOOS, `"os": "plan9`)},
		{"another processor", BinaryPlatform, 1, edit(`"arch": "`+runtime.GOARCH, `"arch": "mips`)},
		{"a protocol it does not speak", compat.ProtocolMismatch, 3, func(*testing.T, string) {}},
		{"another binary of the same length", ChecksumMismatch, 1, write("#!/bin/ls\n")},
		{"a cut binary", ChecksumMismatch, 1, write("#!/b")},
		{"another size said", ChecksumMismatch, 1, edit(`"size": 10`, `"size": 11`)},
	} {
		t.Run(c.name, func(t *testing.T) {
			binary, _ := described(t)
			c.spoil(t, binary)
			_, err := Check(binary, c.protocol)
			var miss *Error
			if !errors.As(err, &miss) {
				t.Fatalf("%v", err)
			}
			if miss.Reason.Code != c.code || miss.Reason.Message == "" || miss.Reason.Subject == "" || miss.Reason.Found == "" {
				t.Errorf("reason %+v, want %s", miss.Reason, c.code)
			}
		})
	}
}

func TestWriteRefusesWhatReadWould(t *testing.T) {
	binary, _ := described(t)
	if _, err := Write(binary, "", []int{1}, "linux", "amd64"); err == nil {
		t.Error("no version was written")
	}
	if _, err := Write(filepath.Join(t.TempDir(), "none"), "1.0.0", []int{1}, "linux", "amd64"); err == nil {
		t.Error("no binary was described")
	}
}
