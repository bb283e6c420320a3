package drafts

import (
	"slices"
	"strings"
)

// model is what the store should hold, in the plainest form: lists in display
// order instead of positions, texts instead of records.
type model struct {
	drafts   map[string]*modelDraft
	order    map[string][]string // by workspace, pinned first
	trash    []*modelDraft
	receipts map[string]string // draft id to the trimmed text that was sent
	homes    map[string]string // draft id to its workspace, for late edits
}

type modelDraft struct {
	id, workspace, text string
	textRevision        int64
	pinned              bool
	session             string
	conflicts           []modelConflict
}

type modelConflict struct{ editor, text string }

func newModel() *model {
	return &model{drafts: map[string]*modelDraft{}, order: map[string][]string{}, receipts: map[string]string{}, homes: map[string]string{}}
}

// insert puts a draft at a place among those of its pin.
func (m *model) insert(d *modelDraft, at int) {
	m.drafts[d.id] = d
	m.homes[d.id] = d.workspace
	list := m.order[d.workspace]
	start := 0
	if !d.pinned {
		for start < len(list) && m.drafts[list[start]].pinned {
			start++
		}
	}
	m.order[d.workspace] = slices.Insert(list, start+at, d.id)
}

func (m *model) take(id string) *modelDraft {
	d := m.drafts[id]
	m.order[d.workspace] = slices.DeleteFunc(m.order[d.workspace], func(other string) bool { return other == id })
	delete(m.drafts, id)
	return d
}

// place is where a draft stands among those of its pin.
func (m *model) place(id string) int {
	d, at := m.drafts[id], 0
	for _, other := range m.order[d.workspace] {
		if other == id {
			break
		}
		if m.drafts[other].pinned == d.pinned {
			at++
		}
	}
	return at
}

func (m *model) owner(session string) string {
	for id, d := range m.drafts {
		if d.session == session {
			return id
		}
	}
	return ""
}

func (m *model) trashed(id string) *modelDraft {
	for _, d := range m.trash {
		if d.id == id {
			return d
		}
	}
	return nil
}

// edit is what EditText should do; id is that of a new draft, if it makes one.
func (m *model) edit(e Edit, id string) (outcome string) {
	d := m.drafts[e.DraftID]
	blank := strings.TrimSpace(e.Text) == ""
	switch {
	case d == nil && blank:
		return "false false false true"
	case d == nil:
		sent, wasSent := m.receipts[e.DraftID]
		trash := m.trashed(e.DraftID)
		if wasSent && sent == strings.TrimSpace(e.Text) || trash != nil && strings.TrimSpace(trash.text) == strings.TrimSpace(e.Text) {
			return "false false false true"
		}
		workspace := m.homes[e.DraftID]
		for _, other := range m.drafts {
			if other.workspace == workspace && other.text == e.Text && other.session == "" {
				return "false false true false"
			}
		}
		m.insert(&modelDraft{id: id, workspace: workspace, text: e.Text, textRevision: 1}, 0)
		return "true false true false"
	case e.BaseTextRevision == d.textRevision && e.Text != d.text:
		d.text = e.Text
		d.textRevision++
		return "true false false false"
	case e.Text == d.text:
		return "false false false false"
	case blank:
		return "false false false true"
	}
	for _, c := range d.conflicts {
		if c.text == e.Text {
			return "false true false false"
		}
	}
	for i, c := range d.conflicts {
		if e.EditorKey != "" && c.editor == e.EditorKey {
			d.conflicts[i].text = e.Text
			return "true true false false"
		}
	}
	d.conflicts = append(d.conflicts, modelConflict{e.EditorKey, e.Text})
	return "true true false false"
}
