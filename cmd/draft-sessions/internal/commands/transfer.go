package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/renameio/v2"

	"github.com/draft-sessions/dsh-draft-sessions/cmd/draft-sessions/internal/desk"
	"github.com/draft-sessions/dsh-draft-sessions/cmd/draft-sessions/internal/exchange"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
	pb "github.com/draft-sessions/dsh-draft-sessions/shared/proto/draftsessionsv1"
)

type exportCmd struct {
	InWorkspace
	IDs    []string `arg:"" optional:"" name:"id" help:"Ids of drafts, or the beginnings of them. Default: those of the workspace."`
	All    bool     `short:"a" help:"The drafts of every workspace."`
	Format string   `short:"f" enum:"md,json" default:"md" help:"md: one Markdown file a draft. json: everything of a draft, many in one file."`
	Output string   `short:"o" placeholder:"PATH" help:"A file; a folder for Markdown of several. Default: standard output."`
	Force  bool     `help:"Replace files that are there."`
	V1     bool     `name:"v1" help:"Write all drafts as a version-1 file, for going back to the public plugin in this home."`
}

// exported is what export --json prints; files is empty for standard output,
// which then is the export itself.
type exported struct {
	Outcome string   `json:"outcome"`
	Files   []string `json:"files"`
	Drafts  int      `json:"drafts"`
	// Left is what the files could not hold.
	Left []string `json:"left"`
}

func (c exportCmd) Run(ctx context.Context) error {
	return c.run(ctx, false, func(ctx context.Context, j *job) error {
		if c.JSON && c.Output == "" {
			c.Format = "json" // The export is the object that is printed.
		}
		chosen, err := c.choose(ctx, j)
		if err != nil {
			return err
		}
		files, left, err := c.files(chosen)
		if err != nil {
			return err
		}
		result := exported{Outcome: "exported", Files: []string{}, Drafts: len(chosen), Left: left}
		if len(left) > 0 {
			j.note("left out: %s", strings.Join(left, "; "))
		}
		for _, f := range files {
			if f.path == "" {
				_, err = j.out.Write(f.data)
				return err
			}
			if err := f.write(c.Force); err != nil {
				return err
			}
			result.Files = append(result.Files, f.path)
		}
		return j.tell(result, "exported %s to %s\n", counted(len(chosen)), c.Output)
	})
}

func (c exportCmd) choose(ctx context.Context, j *job) ([]*pb.Draft, error) {
	all, err := j.Drafts(ctx)
	if err != nil || c.All || c.V1 {
		return all, err
	}
	var chosen []*pb.Draft
	for _, id := range c.IDs {
		d, err := j.Find(ctx, id)
		if err != nil {
			return nil, err
		}
		chosen = append(chosen, d)
	}
	if len(c.IDs) > 0 {
		return chosen, nil
	}
	workspace, err := j.Desk.Workspace(ctx, c.Workspace)
	for _, d := range all {
		if workspace.Has(d) {
			chosen = append(chosen, d)
		}
	}
	return chosen, err
}

// file is one file to write; path is "" for standard output.
type file struct {
	path string
	data []byte
}

func (c exportCmd) files(chosen []*pb.Draft) (files []file, left []string, err error) {
	left = []string{}
	if c.V1 {
		records := make([]shared.DraftRecord, len(chosen))
		for i, d := range chosen {
			if records[i], err = desk.Record(d); err != nil {
				return nil, nil, err
			}
		}
		data, report, err := shared.EncodeV1(records)
		if report.Copies+report.Content+report.Settings > 0 {
			left = append(left, report.String())
		}
		return []file{{c.Output, data}}, left, err
	}
	drafts := make([]shared.ExchangeDraft, len(chosen))
	for i, d := range chosen {
		if drafts[i], err = desk.Exchange(d); err != nil {
			return nil, nil, err
		}
	}
	if c.Format == "json" {
		data, err := shared.EncodeExchange(drafts)
		return []file{{c.Output, data}}, left, err
	}
	folder := strings.HasSuffix(c.Output, "/")
	if info, err := os.Stat(c.Output); err == nil && info.IsDir() {
		folder = true
	}
	if len(drafts) != 1 && !folder {
		return nil, nil, &desk.Problem{
			Err:  shared.Errorf(shared.DraftInvalidInput, "%d drafts do not go into one Markdown file", len(drafts)),
			Next: "name one draft, a folder with -o DIR/, or --format json",
		}
	}
	for _, d := range drafts {
		data, lost := exchange.Markdown(d)
		if len(lost) > 0 {
			left = append(left, fmt.Sprintf("of %s: %s (--format json keeps them)", d.ID, strings.Join(lost, ", ")))
		}
		path := c.Output
		if folder {
			path = filepath.Join(c.Output, fileName(d.ID)+".md")
		}
		files = append(files, file{path, data})
	}
	return files, left, nil
}

// fileName is an id as a file's name; ids of a version-1 file may be anything.
func fileName(id string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, id)
}

// write puts the file in its place, whole or not at all; it is private, as drafts are.
func (f file) write(force bool) error {
	if _, err := os.Lstat(f.path); err == nil && !force {
		return &desk.Problem{Err: shared.Errorf(shared.DraftInvalidInput, "%s is there already", f.path), Kept: "it was not touched", Next: "--force replaces it"}
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return shared.Errorf(shared.StorageIO, "write the export: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return shared.Errorf(shared.StorageIO, "write the export: %w", err)
	}
	if err := renameio.WriteFile(f.path, f.data, 0o600); err != nil {
		return shared.Errorf(shared.StorageIO, "write the export: %w", err)
	}
	return nil
}

type importCmd struct {
	InWorkspace
	Files []string `arg:"" name:"file" help:"Files that export wrote, draft files, or any Markdown files; - reads standard input."`
	AsNew bool     `help:"Give every draft a new id, also where one of its id is here."`
}

// imported is what import --json prints.
type imported struct {
	many
	// Existed are the ids of those that were here already, and stay as they are.
	Existed []string `json:"existed"`
}

func (c importCmd) Run(ctx context.Context) error {
	return c.run(ctx, true, func(ctx context.Context, j *job) error {
		items, err := c.read(j.in)
		if err != nil {
			return err
		}
		request := &pb.ImportRequest{AsNew: c.AsNew}
		for _, item := range items {
			d, err := c.place(ctx, j, item.ExchangeDraft)
			if err != nil {
				return err
			}
			request.Drafts = append(request.Drafts, d)
		}
		done, err := j.Client.Import(ctx, request)
		if err != nil {
			return &desk.Problem{Err: exchange.Placed(err, items), Kept: "nothing was imported", Next: nextOfImport(err)}
		}
		result := imported{many: many{Outcome: "imported", Drafts: []desk.Draft{}}, Existed: []string{}}
		for i, d := range done.Drafts {
			if done.Existed[i] {
				result.Existed = append(result.Existed, d.Id)
			} else {
				result.Drafts = append(result.Drafts, desk.Shape(d))
			}
		}
		if len(result.Existed) > 0 {
			j.note("%d were here already and stay as they are", len(result.Existed))
		}
		return j.tell(result, "imported %s\n", counted(len(result.Drafts)))
	})
}

func nextOfImport(err error) string {
	if shared.CodeOf(err) == shared.OperationConflict {
		return "--as-new imports copies with ids of their own"
	}
	return "correct it, then import all again"
}

func (c importCmd) read(in io.Reader) ([]exchange.Item, error) {
	var items []exchange.Item
	for _, name := range c.Files {
		var data []byte
		var err error
		if name == "-" {
			name = "standard input"
			data, err = io.ReadAll(io.LimitReader(in, shared.MaxFileBytes+1))
		} else {
			data, err = os.ReadFile(name)
		}
		if err != nil {
			return nil, &desk.Problem{Err: shared.Errorf(shared.DraftInvalidInput, "read %s: %w", name, err), Kept: "nothing was imported"}
		}
		if len(data) > shared.MaxFileBytes {
			return nil, shared.Errorf(shared.DraftInvalidInput, "%s has more bytes than the limit of %d", name, shared.MaxFileBytes)
		}
		read, err := exchange.Read(name, data)
		if err != nil {
			return nil, &desk.Problem{Err: err, Kept: "nothing was imported", Next: "correct it, then import all again"}
		}
		items = append(items, read...)
	}
	return items, nil
}

// place finds the workspace of a draft that comes from elsewhere: the one that
// was asked for, else its own folder where that is known here, else its own.
func (c importCmd) place(ctx context.Context, j *job, d shared.ExchangeDraft) (*pb.Draft, error) {
	if c.Workspace != "" || d.WorkspacePath == "" && d.WorkspaceID == "" {
		workspace, err := j.Desk.Workspace(ctx, c.Workspace)
		if err != nil {
			return nil, err
		}
		d.WorkspaceID, d.WorkspacePath = workspace.ID, workspace.Path
	} else if d.WorkspacePath != "" {
		// The ids of another home mean nothing here; its folders do.
		workspace, err := j.Desk.Known(ctx, d.WorkspacePath)
		if err != nil {
			return nil, err
		}
		d.WorkspaceID, d.WorkspacePath = workspace.ID, workspace.Path
	}
	return desk.Import(d)
}

// counted is a number of drafts in words.
func counted(drafts int) string {
	if drafts == 1 {
		return "1 draft"
	}
	return fmt.Sprintf("%d drafts", drafts)
}
