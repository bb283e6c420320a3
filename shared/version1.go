package shared

import (
	"bytes"
	"fmt"
	"strings"
)

// DocumentV1 is the draft file of the public plugin, version 1.
type DocumentV1 struct {
	Version int        `json:"version"`
	Drafts  []RecordV1 `json:"drafts"`
}

// RecordV1 is one draft of version 1.
type RecordV1 struct {
	Version       int     `json:"version"`
	ID            string  `json:"id"`
	SessionID     *string `json:"sessionId"`
	WorkspaceID   string  `json:"workspaceId"`
	WorkspacePath *string `json:"workspacePath,omitempty"`
	Text          string  `json:"text"`
	Title         *string `json:"title,omitempty"`
	CreatedAt     int64   `json:"createdAt"`
	UpdatedAt     int64   `json:"updatedAt"`
	Order         int64   `json:"order"`
	Pinned        bool    `json:"pinned,omitempty"`
	AgentPresetID *string `json:"agentPresetId,omitempty"`
	State         State   `json:"state"`
	LastError     *string `json:"lastError,omitempty"`
	Revision      int64   `json:"revision"`
}

// MigrationReport says what taking over a version-1 file changed beyond its
// form. It holds no draft text.
type MigrationReport struct {
	// Drafts taken over: all of them.
	Drafts int
	// LoneSurrogates were replaced by U+FFFD; the backup has them still.
	LoneSurrogates int
	// Unbound are the ids of drafts that lost their session to an earlier draft
	// of the file: two drafts never share one (invariant 4).
	Unbound []string
}

// String is one line for a log or a page.
func (r MigrationReport) String() string {
	parts := []string{fmt.Sprintf("%d drafts of version 1 taken over", r.Drafts)}
	if r.LoneSurrogates > 0 {
		parts = append(parts, fmt.Sprintf("%d lone surrogates replaced", r.LoneSurrogates))
	}
	if len(r.Unbound) > 0 {
		parts = append(parts, fmt.Sprintf("%d drafts unbound that shared a session", len(r.Unbound)))
	}
	return strings.Join(parts, ", ")
}

// DecodeV1 reads a version-1 file strictly, except that lone surrogates, which
// JavaScript writes as escapes and JSON readers refuse, become U+FFFD; the second
// result counts them. Errors are DRAFT_STORAGE_INVALID with the place.
func DecodeV1(data []byte) (*DocumentV1, int, error) {
	repaired, surrogates := replaceLoneSurrogates(data)
	doc := &DocumentV1{}
	if err := strictDecode(repaired, doc); err != nil {
		return nil, 0, err
	}
	if doc.Version != 1 {
		return nil, 0, Errorf(StorageInvalid, "version: not 1")
	}
	ids := make(map[string]int, len(doc.Drafts))
	for i := range doc.Drafts {
		if problem := doc.Drafts[i].problem(); problem != "" {
			return nil, 0, Errorf(StorageInvalid, "drafts[%d]: %s", i, problem)
		}
		if other, taken := ids[doc.Drafts[i].ID]; taken {
			return nil, 0, Errorf(StorageInvalid, "drafts[%d]: id is also that of drafts[%d]", i, other)
		}
		ids[doc.Drafts[i].ID] = i
	}
	return doc, surrogates, nil
}

func (r *RecordV1) problem() string {
	switch {
	case r.Version != 1:
		return "version: not 1"
	case r.ID == "":
		return "id: empty"
	case isEmpty(r.SessionID):
		return "sessionId: empty"
	case r.WorkspaceID == "":
		return "workspaceId: empty"
	case isEmpty(r.WorkspacePath):
		return "workspacePath: empty"
	case isEmpty(r.Title):
		return "title: empty"
	case isEmpty(r.AgentPresetID):
		return "agentPresetId: empty"
	case isEmpty(r.LastError):
		return "lastError: empty"
	case r.CreatedAt < 0, r.UpdatedAt < 0, r.Order < 0:
		return "createdAt, updatedAt or order: negative"
	case !knownState(r.State):
		return "state: unknown"
	case r.Revision < 1:
		return "revision: less than 1"
	}
	return ""
}

// MigrateV1 turns a version-1 file into a version-2 document of generation 0.
// The same bytes always give the same document, so a migration that was not
// written yet may be repeated. Ids, revisions and texts are kept.
func MigrateV1(data []byte) (*Document, MigrationReport, error) {
	old, surrogates, err := DecodeV1(data)
	if err != nil {
		return nil, MigrationReport{}, err
	}
	report := MigrationReport{Drafts: len(old.Drafts), LoneSurrogates: surrogates}
	doc := EmptyDocument()
	bound := make(map[string]bool, len(old.Drafts))
	for i := range old.Drafts {
		r := old.Drafts[i].migrate()
		if r.SessionID != nil && bound[*r.SessionID] {
			r.SessionID, r.State = nil, StateDraft
			report.Unbound = append(report.Unbound, r.ID)
		}
		if r.SessionID != nil {
			bound[*r.SessionID] = true
		}
		doc.Drafts = append(doc.Drafts, r)
	}
	return doc, report, nil
}

// migrate gives the record its version-2 form. Version 1 reserves no session
// and records no operation, so a half-done creation starts over and a half-done
// send is a bound draft until reconciliation finds out what became of it.
func (r *RecordV1) migrate() DraftRecord {
	state := r.State
	if state != StateError {
		state = StateDraft
		if r.SessionID != nil {
			state = StateReady
		}
	}
	return DraftRecord{
		Version: RecordVersion, ID: r.ID, SessionID: r.SessionID,
		WorkspaceID: r.WorkspaceID, WorkspacePath: orEmpty(r.WorkspacePath),
		Text: r.Text, Title: orEmpty(r.Title), CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
		Order: r.Order, Pinned: r.Pinned, AgentPresetID: orEmpty(r.AgentPresetID),
		State: state, LastError: orEmpty(r.LastError), Revision: r.Revision, TextRevision: 1,
	}
}

func isEmpty(s *string) bool { return s != nil && *s == "" }

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// replaceLoneSurrogates replaces escapes of surrogates without their other half
// by the escape of U+FFFD, and counts them. It returns data itself if there are none.
func replaceLoneSurrogates(data []byte) ([]byte, int) {
	if !bytes.Contains(data, []byte(`\u`)) {
		return data, 0
	}
	out, count := data, 0
	for i := 0; i < len(data); i++ {
		if data[i] != '\\' {
			continue
		}
		high, isUnit := unitAt(data, i)
		if !isUnit {
			i++ // An escaped backslash starts no escape of its own.
			continue
		}
		if high >= 0xD800 && high < 0xDC00 {
			if low, ok := unitAt(data, i+6); ok && low >= 0xDC00 && low < 0xE000 {
				i += 11
				continue
			}
		}
		if high >= 0xD800 && high < 0xE000 {
			if count == 0 {
				out = bytes.Clone(data)
			}
			copy(out[i:], `\ufffd`)
			count++
		}
		i += 5
	}
	return out, count
}

// unitAt is the UTF-16 unit of the escape \uXXXX that starts at i.
func unitAt(data []byte, i int) (unit uint32, ok bool) {
	if i+6 > len(data) || data[i] != '\\' || data[i+1] != 'u' {
		return 0, false
	}
	for _, c := range data[i+2 : i+6] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		unit = unit<<4 | uint32(c)
	}
	return unit, true
}
