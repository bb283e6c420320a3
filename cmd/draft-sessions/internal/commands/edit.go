package commands

import (
	"context"
	"strings"

	"github.com/draft-sessions/dsh-draft-sessions/cmd/draft-sessions/internal/desk"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
	pb "github.com/draft-sessions/dsh-draft-sessions/shared/proto/draftsessionsv1"
)

type editCmd struct {
	Common
	ID         string  `arg:"" help:"The draft's id, or the beginning of it."`
	From       string  `arg:"" optional:"" placeholder:"-" help:"- takes the new text from standard input."`
	Title      *string `short:"t" help:"Give it this title instead; an empty one takes the title away."`
	AllowEmpty bool    `help:"Let an emptied text empty the draft."`
}

// edited is what edit --json prints: saved, unchanged, conflict or new_draft.
type edited struct {
	one
	// ConflictID is the copy that holds the text, "" but for conflict.
	ConflictID string `json:"conflictId"`
}

func (c editCmd) Run(ctx context.Context) error {
	return c.run(ctx, false, func(ctx context.Context, j *job) error {
		d, err := j.Find(ctx, c.ID)
		if err != nil {
			return err
		}
		if c.Title != nil {
			if d, err = j.update(ctx, d, &pb.UpdateRequest{Title: c.Title}); err != nil {
				return err
			}
			return j.tell(edited{one{"saved", desk.Shape(d)}, ""}, "saved %s\n", d.Id)
		}
		if c.From != "" && c.From != "-" {
			return &desk.Problem{Err: shared.Errorf(shared.DraftInvalidInput, "edit takes the text from standard input (-) or your editor, not from the command line"), Next: "printf %s TEXT | draft-sessions edit ID -"}
		}
		var b *buffer
		var text string
		if c.From == "-" {
			text, err = readText(j.in)
		} else if b, err = openBuffer(d.Text); err == nil {
			text, err = b.edit(ctx)
		}
		if err != nil {
			return err
		}
		switch {
		case text == d.Text:
			b.remove()
			return j.tell(edited{one{"unchanged", desk.Shape(d)}, ""}, "unchanged %s\n", d.Id)
		case strings.TrimSpace(text) == "" && !c.AllowEmpty:
			b.remove()
			j.note("an emptied text changes nothing; --allow-empty empties the draft, rm deletes it")
			return j.tell(edited{one{"unchanged", desk.Shape(d)}, ""}, "unchanged %s\n", d.Id)
		}
		return c.save(ctx, j, d, text, b)
	})
}

func (c editCmd) save(ctx context.Context, j *job, d *pb.Draft, text string, b *buffer) error {
	saved, err := j.Client.EditText(ctx, &pb.EditTextRequest{DraftId: d.Id, BaseTextRevision: d.TextRevision, Text: text})
	if err != nil {
		return b.keep(err)
	}
	b.remove()
	now := saved.Draft
	if now == nil {
		now = d
	}
	switch {
	case saved.ConflictId != "":
		// Kept, but not what was asked for: a script must not take it for the draft's text.
		if err := j.tell(edited{one{"conflict", desk.Shape(now)}, saved.ConflictId}, ""); err != nil {
			return err
		}
		return &desk.Problem{
			Err:  shared.Errorf(shared.DraftStaleRevision, "somebody else changed draft %s meanwhile; their text stands", d.Id),
			Kept: "your text is its conflict copy " + saved.ConflictId,
			Next: "draft-sessions show " + d.Id + " shows both; the page lets you choose",
		}
	case saved.NewDraft:
		j.note("draft %s was sent or deleted meanwhile; your text is a new draft", d.Id)
		return j.tell(edited{one{"new_draft", desk.Shape(now)}, ""}, "saved %s\n", now.Id)
	case saved.Dropped:
		return j.tell(edited{one{"unchanged", desk.Shape(now)}, ""}, "unchanged %s\n", d.Id)
	}
	return j.tell(edited{one{"saved", desk.Shape(now)}, ""}, "saved %s\n", now.Id)
}

// tries bounds how often a change that does not depend on the text is repeated
// when somebody else was quicker.
const tries = 20

// update makes a change that does not depend on what the draft is otherwise.
func (j *job) update(ctx context.Context, d *pb.Draft, change *pb.UpdateRequest) (*pb.Draft, error) {
	change.DraftId, change.ExpectedRevision = d.Id, d.Revision
	for left := tries; ; left-- {
		done, err := j.Client.Update(ctx, change)
		if err == nil || shared.CodeOf(err) != shared.DraftStaleRevision || left == 0 {
			return done, err
		}
		now, err := j.Client.Get(ctx, &pb.DraftRef{DraftId: d.Id})
		if err != nil {
			return nil, err
		}
		change.ExpectedRevision = now.Revision
	}
}
