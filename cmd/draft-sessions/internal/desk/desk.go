// Package desk is what the commands about drafts share: the drafts of a home,
// through its live plugin or from the file, the workspace that is meant, the
// draft that a few letters of an id mean, and how results and problems are told.
// Start with [Open].
package desk

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"time"

	"github.com/draft-sessions/dsh-draft-sessions/cmd/draft-sessions/internal/home"
	"github.com/draft-sessions/dsh-draft-sessions/plugin"
	"github.com/draft-sessions/dsh-draft-sessions/plugin/control"
	"github.com/draft-sessions/dsh-draft-sessions/plugin/drafts"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
	pb "github.com/draft-sessions/dsh-draft-sessions/shared/proto/draftsessionsv1"
)

// Desk is the drafts of one home.
type Desk struct {
	Home home.Home
	// Client answers for the drafts; nil for a home without a draft file.
	Client pb.DraftSessionsClient
	// Plugin is the live plugin that answers, nil when it is the file itself.
	Plugin *control.Client
	// Warning is worth telling a person, "" for none.
	Warning string

	close func() error
	known []Workspace // once they were asked for
	told  bool        // the host was among those who told
}

// Open opens the drafts of a home: through its live plugin, or the file alone.
// A home without drafts is empty, and stays as it is unless create is set.
// Errors: those of the store, when the file cannot be used; SESSION_UNAVAILABLE
// when a plugin is there and does not answer.
func Open(ctx context.Context, h home.Home, create bool) (*Desk, error) {
	d := &Desk{Home: h, close: func() error { return nil }}
	live, err := control.Find(ctx, h.Drafts())
	switch {
	case err == nil:
		d.Client, d.Plugin, d.close = live, live, live.Close
		if storage := live.About.Storage; storage.GetCode() != "" {
			d.Warning = "the draft file cannot be used; these are the drafts that the plugin knows: " + storage.Message
		}
		return d, nil
	case !errors.Is(err, control.ErrNone):
		return nil, &Problem{Err: err, Kept: "nothing was changed", Next: "end that process if it hangs; its host starts another one"}
	}
	if _, err := os.Stat(h.Drafts()); errors.Is(err, fs.ErrNotExist) {
		if d.Warning = lost(h, create); !create {
			return d, nil
		}
	}
	limit := 0
	if given := os.Getenv(shared.EnvLimitPerWorkspace); given != "" {
		if limit, err = strconv.Atoi(given); err != nil {
			return nil, shared.Errorf(shared.DraftInvalidInput, "%s is not a number", shared.EnvLimitPerWorkspace)
		}
	}
	local, err := plugin.OpenLocal(ctx, plugin.Config{StorePath: h.Drafts(), LimitPerWorkspace: limit})
	if err != nil {
		return nil, err
	}
	info, err := local.Info(ctx, &pb.InfoRequest{})
	if err == nil && info.Storage.Code != "" {
		err = shared.Errorf(shared.Code(info.Storage.Code), "%s: %s", info.Storage.Path, info.Storage.Message)
	}
	if err != nil {
		return nil, errors.Join(err, local.Close())
	}
	d.Client, d.close = local, local.Close
	return d, nil
}

// lost tells of drafts that only a backup holds, since their file is gone; "" when
// there are none.
func lost(h home.Home, create bool) string {
	if !h.HasBackups() {
		return ""
	}
	found, err := drafts.Diagnose(h.Drafts())
	if err != nil {
		return "" // A change tells what is wrong with the folder.
	}
	for _, b := range found.Backups {
		if b.Code != "" || b.Records == 0 {
			continue
		}
		state, command := "is gone", "doctor --repair"
		if create {
			state, command = "was gone, and a new one is made", "import "+b.Path
		}
		held := "1 draft"
		if b.Records > 1 {
			held = fmt.Sprintf("%d drafts", b.Records)
		}
		return fmt.Sprintf("the draft file %s; draft-sessions %s brings back %s of %s", state, command, held, b.At.Local().Format(time.DateTime))
	}
	return ""
}

// Close ends it; every answered change is on disk already.
func (d *Desk) Close() error { return d.close() }

// Drafts are all drafts of the home in the order in which they are shown.
func (d *Desk) Drafts(ctx context.Context) ([]*pb.Draft, error) {
	if d.Client == nil {
		return nil, nil
	}
	list, err := d.Client.List(ctx, &pb.ListRequest{})
	return list.GetDrafts(), err
}

// Deleted are the drafts in the trash, the newest last.
func (d *Desk) Deleted(ctx context.Context) ([]*pb.TrashEntry, error) {
	if d.Client == nil {
		return nil, nil
	}
	list, err := d.Client.ListTrash(ctx, &pb.ListTrashRequest{})
	return list.GetEntries(), err
}

// Sent are the drafts that were sent, the newest last.
func (d *Desk) Sent(ctx context.Context) ([]*pb.SendResult, error) {
	if d.Client == nil {
		return nil, nil
	}
	list, err := d.Client.ListSent(ctx, &pb.ListSentRequest{})
	return list.GetSent(), err
}
