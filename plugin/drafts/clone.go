package drafts

import (
	"slices"
	"strings"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// cloneRecord shares no memory with r that anyone would change.
func cloneRecord(r shared.DraftRecord) shared.DraftRecord {
	r.SessionID = clonePointer(r.SessionID)
	r.Content = cloneContent(r.Content)
	r.Settings = clonePointer(r.Settings)
	r.Operation = clonePointer(r.Operation)
	r.Conflicts = slices.Clone(r.Conflicts)
	for i := range r.Conflicts {
		r.Conflicts[i].Content = cloneContent(r.Conflicts[i].Content)
	}
	return r
}

func cloneContent(c *shared.Content) *shared.Content {
	c = clonePointer(c)
	if c != nil {
		c.Occurrences = slices.Clone(c.Occurrences)
	}
	return c
}

func clonePointer[T any](p *T) *T {
	if p == nil {
		return nil
	}
	value := *p
	return &value
}

// normalContent is c, or nil when it holds nothing: the file has no empty ones.
func normalContent(c *shared.Content) *shared.Content {
	if samePart(c, &shared.Content{}) {
		return nil
	}
	return c
}

func normalSettings(s *shared.Settings) *shared.Settings {
	if samePart(s, &shared.Settings{}) {
		return nil
	}
	return s
}

// samePart compares by what would be written.
func samePart[T shared.Content | shared.Settings](a, b *T) bool {
	if a == b {
		return true
	}
	if a == nil || b == nil {
		return false
	}
	left, errLeft := shared.EncodePart(a)
	right, errRight := shared.EncodePart(b)
	return errLeft == nil && errRight == nil && left == right
}

func isBlank(text string) bool { return strings.TrimSpace(text) == "" }

// sentHash is the hash that receipts and operations carry: of the trimmed text,
// since hosts trim what they send.
func sentHash(text string) string { return shared.TextHash(strings.TrimSpace(text)) }

// fitContent keeps of c what still fits a text that was set without it: an
// occurrence stays where its range holds its clipboard text. Dropping the others
// loses nothing, since the plain text sends the same prompt.
func fitContent(text string, c *shared.Content) *shared.Content {
	if c == nil || len(c.Occurrences) == 0 {
		return c
	}
	c = cloneContent(c)
	c.Occurrences = slices.DeleteFunc(c.Occurrences, func(o shared.Occurrence) bool {
		part, ok := shared.UTF16Slice(text, o.Offset, o.Length)
		return !ok || part != o.ClipboardText
	})
	return normalContent(c)
}
