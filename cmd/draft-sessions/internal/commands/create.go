package commands

import (
	"context"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/draft-sessions/dsh-draft-sessions/cmd/draft-sessions/internal/desk"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
	pb "github.com/draft-sessions/dsh-draft-sessions/shared/proto/draftsessionsv1"
)

type newCmd struct {
	InWorkspace
	Text   *string `arg:"" optional:"" help:"The text; - reads standard input. Without it standard input is read when it is no terminal, else your editor opens."`
	Title  string  `short:"t" help:"A title of its own; otherwise the first line stands for it."`
	Pin    bool    `help:"Show it before all others of its workspace."`
	Preset string  `help:"The host's agent preset of its session."`
}

func (c newCmd) Run(ctx context.Context) error {
	return c.run(ctx, true, func(ctx context.Context, j *job) error {
		workspace, err := j.Desk.Workspace(ctx, c.Workspace)
		if err != nil {
			return err
		}
		text, kept, err := c.text(ctx, j)
		if err != nil {
			return err
		}
		made, err := j.Client.Import(ctx, &pb.ImportRequest{Drafts: []*pb.Draft{{
			WorkspaceId: workspace.ID, WorkspacePath: workspace.Path, Text: text, Title: c.Title, Pinned: c.Pin, AgentPresetId: c.Preset,
		}}})
		if err != nil {
			return kept.keep(shared.Errorf(shared.CodeOf(err), "%s", strings.TrimPrefix(shared.MessageOf(err), "drafts[0]: ")))
		}
		kept.remove()
		if workspace.Missing {
			j.note("the host has no workspace for %s yet; the draft gets its session when the folder is added there", workspace.Path)
		}
		return j.tell(one{"created", desk.Shape(made.Drafts[0])}, "%s\n", made.Drafts[0].Id)
	})
}

func (c newCmd) text(ctx context.Context, j *job) (string, *buffer, error) {
	switch {
	case c.Text != nil && *c.Text != "-":
		return *c.Text, nil, checkText(*c.Text)
	case c.Text != nil || !isTerminal(j.in):
		text, err := readText(j.in)
		return text, nil, err
	}
	b, err := openBuffer("")
	if err != nil {
		return "", nil, err
	}
	text, err := b.edit(ctx)
	if err != nil {
		return "", nil, err
	}
	if strings.TrimSpace(text) == "" {
		b.remove()
		return "", nil, &desk.Problem{Err: shared.Errorf(shared.DraftInvalidInput, "nothing was written"), Kept: "no draft was made"}
	}
	return text, b, nil
}

// readText reads a text to its end. The line feed with which files end is not
// part of it.
func readText(in io.Reader) (string, error) {
	data, err := io.ReadAll(io.LimitReader(in, shared.MaxTextBytes+2))
	if err != nil {
		return "", shared.Errorf(shared.StorageIO, "read standard input: %w", err)
	}
	text := strings.TrimSuffix(string(data), "\n")
	return text, checkText(text)
}

func checkText(text string) error {
	if len(text) > shared.MaxTextBytes {
		return shared.Errorf(shared.DraftInvalidInput, "the text has more bytes than the limit of %d", shared.MaxTextBytes)
	}
	if !utf8.ValidString(text) {
		return shared.Errorf(shared.DraftInvalidInput, "the text is not UTF-8")
	}
	return nil
}
