package sessions

import (
	"slices"
	"strings"
	"unicode"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// sentBy tells whether a composer that holds text sends exactly sent: hosts trim
// it and put each reference's own form in the place of its range. Nothing looser
// counts, since the draft's text is given up for what is taken for its send
// (invariant 2).
func sentBy(text string, content *shared.Content, sent string) bool {
	sent = strings.TrimSpace(sent)
	if strings.TrimSpace(text) == sent {
		return true
	}
	if content == nil || len(content.Occurrences) == 0 {
		return false
	}
	parts, ok := cut(text, content.Occurrences)
	return ok && matches(parts, sent)
}

// cut divides a trimmed text at its references: what may stand at each part's
// place. It is false when a reference is not where it says.
func cut(text string, occurrences []shared.Occurrence) (parts [][]string, ok bool) {
	occurrences = slices.Clone(occurrences)
	slices.SortFunc(occurrences, func(a, b shared.Occurrence) int { return int(a.Offset - b.Offset) })
	at := int64(0)
	for _, o := range occurrences {
		literal, fits := shared.UTF16Slice(text, at, o.Offset-at)
		shown, there := shared.UTF16Slice(text, o.Offset, o.Length)
		if !fits || !there || shown != o.ClipboardText {
			return nil, false
		}
		parts = append(parts, []string{literal}, []string{o.ClipboardText, o.Ref})
		at = o.Offset + o.Length
	}
	rest, fits := shared.UTF16Slice(text, at, shared.UTF16Len(text)-at)
	if !fits {
		return nil, false
	}
	parts = append(parts, []string{rest})
	parts[0][0] = strings.TrimLeftFunc(parts[0][0], unicode.IsSpace)
	parts[len(parts)-1][0] = strings.TrimRightFunc(rest, unicode.IsSpace)
	return parts, true
}

// matches tells whether one choice for each part makes sent.
func matches(parts [][]string, sent string) bool {
	ends := []int{0} // how much of sent the parts so far may cover
	for _, choices := range parts {
		var next []int
		for _, end := range ends {
			for _, choice := range choices {
				if strings.HasPrefix(sent[end:], choice) && !slices.Contains(next, end+len(choice)) {
					next = append(next, end+len(choice))
				}
			}
		}
		ends = next
	}
	return slices.Contains(ends, len(sent))
}
