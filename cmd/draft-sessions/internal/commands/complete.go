package commands

import (
	"context"
	"fmt"
	"os"

	"github.com/alecthomas/kong"

	"github.com/draft-sessions/dsh-draft-sessions/cmd/draft-sessions/internal/completion"
	"github.com/draft-sessions/dsh-draft-sessions/cmd/draft-sessions/internal/desk"
	"github.com/draft-sessions/dsh-draft-sessions/cmd/draft-sessions/internal/home"
)

// Completion are the commands that complete command lines.
type Completion struct {
	Completion completionCmd `cmd:"" help:"Print the completion script of a shell: source <(draft-sessions completion bash)."`
	Complete   completeCmd   `cmd:"" hidden:"" name:"__complete"`
}

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

func (c completionCmd) Run() error {
	script, err := completion.Script(c.Shell)
	if err != nil {
		return err
	}
	_, err = fmt.Print(script)
	return err
}

type completeCmd struct {
	Words []string `arg:"" optional:"" passthrough:""`
}

func (c completeCmd) Run(ctx context.Context, app *kong.Kong) error {
	words := c.Words
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	for _, w := range completion.Words(app.Model, words, func(home string) []completion.Word { return draftWords(ctx, home) }) {
		if _, err := fmt.Fprintf(os.Stdout, "%s\t%s\n", w.Text, w.About); err != nil {
			return err
		}
	}
	return nil
}

// draftWords are the ids of a home's drafts; none when they cannot be read, since
// a shell has no place for an error.
func draftWords(ctx context.Context, dir string) []completion.Word {
	h, err := home.Resolve(dir)
	if err != nil {
		return nil
	}
	d, err := desk.Open(ctx, h, false)
	if err != nil {
		return nil
	}
	defer func() { _ = d.Close() }() // Nothing was changed.
	all, err := d.Drafts(ctx)
	if err != nil {
		return nil
	}
	var words []completion.Word
	for _, draft := range all {
		words = append(words, completion.Word{Text: draft.Id, About: desk.Label(draft)})
	}
	return words
}
