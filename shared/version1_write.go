package shared

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
)

// V1Report says what a version-1 file cannot hold. It holds no draft text.
type V1Report struct {
	// Drafts written, conflict copies that became drafts of their own included.
	Drafts int
	// Copies are those conflict copies.
	Copies int
	// Content and Settings are how many drafts had such beside their text, which
	// a version-1 file has no place for. The text itself sends the same prompt.
	Content, Settings int
}

// String is one line for a person.
func (r V1Report) String() string {
	parts := []string{fmt.Sprintf("%d drafts", r.Drafts)}
	if r.Copies > 0 {
		parts = append(parts, fmt.Sprintf("%d of them conflict copies, which version 1 does not know", r.Copies))
	}
	if r.Content > 0 {
		parts = append(parts, fmt.Sprintf("references of %d drafts left out (their text is whole)", r.Content))
	}
	if r.Settings > 0 {
		parts = append(parts, fmt.Sprintf("settings of %d drafts left out", r.Settings))
	}
	return strings.Join(parts, ", ")
}

// EncodeV1 writes drafts as a version-1 file, that of the public plugin, with
// their sessions: for going back to it in the same home. A conflict copy becomes
// an unbound draft right after its own, so that no text is left out. What
// [MigrateV1] reads from it are the same drafts.
func EncodeV1(drafts []DraftRecord) ([]byte, V1Report, error) {
	var report V1Report
	doc := DocumentV1{Version: 1, Drafts: []RecordV1{}}
	orders := map[string]int64{} // the next position in each workspace
	add := func(r RecordV1) {
		r.Version, r.Order = 1, orders[r.WorkspaceID]
		orders[r.WorkspaceID]++
		doc.Drafts = append(doc.Drafts, r)
	}
	for i := range drafts {
		d := &drafts[i]
		state := d.State
		if state == StateConverting || state == StateMaterializing {
			state = StateDraft // What was under way means nothing to it.
			if d.SessionID != nil {
				state = StateReady
			}
		}
		r := RecordV1{
			ID: d.ID, SessionID: d.SessionID, WorkspaceID: d.WorkspaceID, WorkspacePath: orNil(d.WorkspacePath), Text: d.Text,
			Title: orNil(d.Title), CreatedAt: d.CreatedAt, UpdatedAt: d.UpdatedAt, Pinned: d.Pinned,
			AgentPresetID: orNil(d.AgentPresetID), State: state, LastError: orNil(d.LastError), Revision: d.Revision,
		}
		add(r)
		for _, c := range d.Conflicts {
			add(RecordV1{
				ID: d.ID + "-" + c.ID, WorkspaceID: d.WorkspaceID, WorkspacePath: orNil(d.WorkspacePath), Text: c.Text,
				CreatedAt: c.At, UpdatedAt: c.At, Pinned: d.Pinned, AgentPresetID: orNil(d.AgentPresetID), State: StateDraft, Revision: 1,
			})
			report.Copies++
		}
		if d.Content != nil {
			report.Content++
		}
		if d.Settings != nil {
			report.Settings++
		}
	}
	report.Drafts = len(doc.Drafts)
	var out bytes.Buffer
	if err := json.MarshalWrite(&out, &doc); err != nil {
		return nil, report, Errorf(DraftInvalidInput, "a draft does not encode as JSON")
	}
	out.WriteByte('\n')
	if _, _, err := DecodeV1(out.Bytes()); err != nil {
		return nil, report, Errorf(DraftInvalidInput, "%s", messageOf(err))
	}
	return out.Bytes(), report, nil
}

func orNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
