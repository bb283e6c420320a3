package desk

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
	pb "github.com/draft-sessions/dsh-draft-sessions/shared/proto/draftsessionsv1"
)

// shortest is the fewest characters that are shown of an id.
const shortest = 8

// maxCandidates bounds those that an ambiguous id names.
const maxCandidates = 20

// candidate is something that an id may mean.
type candidate struct {
	id string
	at int64
}

// Find is the draft that an id, or the beginning of one, means.
// DRAFT_NOT_FOUND; DRAFT_INVALID_INPUT when several begin so.
func (d *Desk) Find(ctx context.Context, id string) (*pb.Draft, error) {
	all, err := d.Drafts(ctx)
	if err != nil {
		return nil, err
	}
	candidates := make([]candidate, 0, len(all))
	for _, draft := range all {
		candidates = append(candidates, candidate{draft.Id, draft.UpdatedAt})
	}
	found, err := d.pick(id, candidates, "draft", "draft-sessions list --all shows every draft")
	if err != nil {
		return nil, err
	}
	return all[found], nil
}

// FindDeleted is [Desk.Find] in the trash; the newest one for "".
func (d *Desk) FindDeleted(ctx context.Context, id string) (*pb.TrashEntry, error) {
	all, err := d.Deleted(ctx)
	if err != nil {
		return nil, err
	}
	if id == "" && len(all) > 0 {
		return slices.MaxFunc(all, func(a, b *pb.TrashEntry) int { return int(a.DeletedAt - b.DeletedAt) }), nil
	}
	candidates := make([]candidate, 0, len(all))
	for _, entry := range all {
		candidates = append(candidates, candidate{entry.Draft.Id, entry.DeletedAt})
	}
	found, err := d.pick(id, candidates, "deleted draft", "deleted drafts are kept for 30 days, 200 at most")
	if err != nil {
		return nil, err
	}
	return all[found], nil
}

// FindSent is the id of a draft that is there or was sent.
func (d *Desk) FindSent(ctx context.Context, id string) (string, error) {
	drafts, err := d.Drafts(ctx)
	if err != nil {
		return "", err
	}
	sent, err := d.Sent(ctx)
	if err != nil {
		return "", err
	}
	var candidates []candidate
	known := map[string]bool{}
	for _, draft := range drafts {
		candidates = append(candidates, candidate{draft.Id, draft.UpdatedAt})
		known[draft.Id] = true
	}
	for _, s := range sent {
		if !known[s.DraftId] {
			candidates = append(candidates, candidate{s.DraftId, s.At})
			known[s.DraftId] = true
		}
	}
	found, err := d.pick(id, candidates, "draft", "the last 500 sends are remembered")
	if err != nil {
		return "", err
	}
	return candidates[found].id, nil
}

// pick is the position of the one candidate that is meant.
func (d *Desk) pick(id string, all []candidate, what, hint string) (int, error) {
	var begin []int
	for i, c := range all {
		if c.id == id {
			return i, nil
		}
		if id != "" && strings.HasPrefix(plain(c.id), plain(id)) {
			begin = append(begin, i)
		}
	}
	switch {
	case len(begin) == 1:
		return begin[0], nil
	case id == "":
		return 0, &Problem{Err: shared.Errorf(shared.DraftNotFound, "there is no %s of %s", what, d.Home), Kept: "nothing was changed", Next: hint}
	case len(begin) == 0:
		return 0, &Problem{
			Err:  shared.Errorf(shared.DraftNotFound, "no %s of %s has an id that begins with %q", what, d.Home, id),
			Kept: "nothing was changed", Next: hint,
		}
	}
	var list strings.Builder
	for _, i := range begin[:min(len(begin), maxCandidates)] {
		fmt.Fprintf(&list, "\n  %s  %s", all[i].id, When(all[i].at))
	}
	if len(begin) > maxCandidates {
		fmt.Fprintf(&list, "\n  and %d more", len(begin)-maxCandidates)
	}
	return 0, &Problem{
		Err:  shared.Errorf(shared.DraftInvalidInput, "%d ids begin with %q:%s", len(begin), id, list.String()),
		Kept: "nothing was changed", Next: "give more characters of the id",
	}
}

// plain is an id as it is compared: typed with or without hyphens, in any case.
func plain(id string) string { return strings.ToLower(strings.ReplaceAll(id, "-", "")) }

// Short gives each id its shortest beginning, of 8 characters at least, that
// means no other of them, as [Desk.Find] compares.
func Short(ids []string) map[string]string {
	sorted := slices.Clone(ids)
	slices.SortFunc(sorted, func(a, b string) int { return strings.Compare(plain(a), plain(b)) })
	short := make(map[string]string, len(ids))
	for i, id := range sorted {
		need := 0 // characters of the plain id
		for _, j := range []int{i - 1, i + 1} {
			if j >= 0 && j < len(sorted) {
				need = max(need, common(plain(id), plain(sorted[j]))+1)
			}
		}
		end := min(shortest, len(id))
		for end < len(id) && (len(plain(id[:end])) < need || id[end-1] == '-' || !utf8.RuneStart(id[end])) {
			end++
		}
		short[id] = id[:end]
	}
	return short
}

func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// When is a time in ms as it is shown.
func When(ms int64) string { return time.UnixMilli(ms).Local().Format("2006-01-02 15:04:05") }
