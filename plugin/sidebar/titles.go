package sidebar

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// maxTitleRunes bounds a title taken from the text, in characters.
const maxTitleRunes = 120

// titles gives each draft the title that it is shown with, by id: its [Title], and
// where drafts of one workspace have the same one, as a draft and its duplicate do,
// all but the oldest have a number behind it: "Fix it", "Fix it (2)". A number is
// left out that another draft has as its own title. Nothing of it is kept: the
// number goes when the text or the title is changed.
func titles(drafts []shared.DraftRecord) map[string]string {
	type name struct{ workspace, title string }
	byAge := slices.Clone(drafts)
	slices.SortStableFunc(byAge, func(a, b shared.DraftRecord) int {
		return cmp.Or(cmp.Compare(a.CreatedAt, b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	own := make(map[string]string, len(drafts))
	taken := make(map[name]bool, len(drafts))
	for _, d := range byAge {
		own[d.ID] = Title(d)
		taken[name{d.WorkspaceID, own[d.ID]}] = true
	}
	shown := make(map[string]string, len(drafts))
	numbers := map[name]int{}
	for _, d := range byAge {
		title := name{d.WorkspaceID, own[d.ID]}
		shown[d.ID] = title.title
		if title.title == "" {
			continue
		}
		if numbers[title]++; numbers[title] == 1 {
			continue
		}
		for {
			numbered := name{d.WorkspaceID, fmt.Sprintf("%s (%d)", title.title, numbers[title])}
			if !taken[numbered] {
				taken[numbered] = true
				shown[d.ID] = numbered.title
				break
			}
			numbers[title]++
		}
	}
	return shown
}

// Title is the title that the user gave, else the first line of the text with
// something to read on it, at most 120 characters; "" for an empty draft.
func Title(d shared.DraftRecord) string {
	if d.Title != "" {
		return d.Title
	}
	for line := range strings.Lines(d.Text) {
		line = strings.TrimSpace(strings.Map(func(r rune) rune {
			if unicode.IsControl(r) {
				return ' '
			}
			return r
		}, line))
		if line == "" {
			continue
		}
		if utf8.RuneCountInString(line) > maxTitleRunes {
			line = string([]rune(line)[:maxTitleRunes-1]) + "…"
		}
		return line
	}
	return ""
}
