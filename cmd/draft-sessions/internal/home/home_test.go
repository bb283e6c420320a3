package home

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

func TestTheRule(t *testing.T) {
	user := t.TempDir()
	t.Setenv("HOME", user)
	t.Setenv(Env, "")
	t.Setenv(EnvDSH, "")
	t.Setenv("XDG_DATA_HOME", filepath.Join(user, "data"))
	check := func(flag, dir, from string) {
		t.Helper()
		if got, err := Resolve(flag); err != nil || got != (Home{dir, from}) {
			t.Errorf("%+v, %v", got, err)
		}
	}
	check("", filepath.Join(user, "data", "draft-sessions"), "the default")
	dsh := Home{Dir: filepath.Join(user, ".dsh")}
	if err := os.MkdirAll(filepath.Dir(dsh.Drafts()), 0o700); err != nil {
		t.Fatal(err)
	}
	check("", filepath.Join(user, "data", "draft-sessions"), "the default") // no draft file yet
	if err := os.WriteFile(dsh.Drafts(), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	check("", dsh.Dir, "~/.dsh, which has drafts")
	backups := filepath.Join(filepath.Dir(dsh.Drafts()), "backups")
	if err := errors.Join(os.Mkdir(backups, 0o700), os.WriteFile(filepath.Join(backups, "one"), nil, 0o600), os.Remove(dsh.Drafts())); err != nil {
		t.Fatal(err)
	}
	check("", dsh.Dir, "~/.dsh, which has drafts") // its file is lost
	t.Setenv(EnvDSH, "/from-dsh")
	check("", "/from-dsh", EnvDSH)
	t.Setenv(Env, "~/ours")
	check("", filepath.Join(user, "ours"), Env)
	check("/flag", "/flag", "--home")
	if _, err := Resolve(filepath.Join(backups, "one")); shared.CodeOf(err) != shared.DraftInvalidInput {
		t.Errorf("a file is a home: %v", err)
	}
	if entries, err := os.ReadDir(user); err != nil || len(entries) != 1 {
		t.Errorf("something was created: %v, %v", entries, err)
	}
}
