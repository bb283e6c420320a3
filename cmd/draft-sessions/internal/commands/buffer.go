package commands

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/draft-sessions/dsh-draft-sessions/cmd/draft-sessions/internal/desk"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// buffer is a file that a person's editor works on, in a folder that nobody else
// may look into.
type buffer struct{ path, before string }

func openBuffer(text string) (*buffer, error) {
	dir, err := os.MkdirTemp("", "draft-sessions-edit-") // Mode 0700.
	if err != nil {
		return nil, shared.Errorf(shared.StorageIO, "make a file for the editor: %w", err)
	}
	b := &buffer{path: filepath.Join(dir, "draft.md"), before: text}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n" // As editors leave it.
	}
	if err := os.WriteFile(b.path, []byte(text), 0o600); err != nil {
		return nil, shared.Errorf(shared.StorageIO, "make a file for the editor: %w", errors.Join(err, os.RemoveAll(dir)))
	}
	return b, nil
}

// remove takes the file away; nil has none.
func (b *buffer) remove() {
	if b != nil {
		_ = os.RemoveAll(filepath.Dir(b.path)) // It lies in a folder for such.
	}
}

// keep tells of an error that what was written is in the file still.
func (b *buffer) keep(err error) error {
	if b == nil {
		return err
	}
	return &desk.Problem{Err: err, Kept: "what you wrote is in " + b.path}
}

// edit runs the editor and returns the text as it was left: $VISUAL, $EDITOR or vi.
func (b *buffer) edit(ctx context.Context) (string, error) {
	editor := "vi"
	for _, name := range []string{"VISUAL", "EDITOR"} {
		if given := os.Getenv(name); strings.TrimSpace(given) != "" {
			editor = given
			break
		}
	}
	// A shell, since the entry may hold arguments and quotes; the path is one of them.
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", editor+` "$1"`, "editor", b.path) // #nosec G702 -- the command line is the one that the person put into EDITOR
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	ran := cmd.Run()
	data, err := os.ReadFile(b.path)
	if err != nil {
		return "", shared.Errorf(shared.StorageIO, "read what the editor left: %w", err)
	}
	text := string(data)
	if !strings.HasSuffix(b.before, "\n") {
		text = strings.TrimSuffix(text, "\n")
	}
	if ran != nil {
		failed := shared.Errorf(shared.DraftInvalidInput, "the editor did not end well (%s: %w)", editor, ran)
		if text == b.before {
			b.remove()
			return "", &desk.Problem{Err: failed, Kept: "nothing was changed", Next: "set $VISUAL or $EDITOR to an editor that is there"}
		}
		return "", &desk.Problem{Err: failed, Kept: fmt.Sprintf("the draft is as it was; what you wrote is in %s", b.path), Next: "give it with: draft-sessions edit ID - < that file"}
	}
	if err := checkText(text); err != nil {
		return "", b.keep(err)
	}
	return text, nil
}
