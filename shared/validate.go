package shared

import (
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// ValidateDocument checks what must hold of every draft file: each record is
// well-formed, ids are unique, and no session, bound or reserved, belongs to two
// drafts (invariant 4). Errors are DRAFT_INVALID_INPUT; they name the record's
// position and member, never a value.
func ValidateDocument(doc *Document) error {
	if err := validateHead(doc); err != nil {
		return err
	}
	for i := range doc.Drafts {
		if err := ValidateRecord(&doc.Drafts[i]); err != nil {
			return Errorf(DraftInvalidInput, "drafts[%d]: %s", i, messageOf(err))
		}
	}
	for i := range doc.Trash {
		if err := validateTrashEntry(&doc.Trash[i]); err != nil {
			return Errorf(DraftInvalidInput, "trash[%d]: %s", i, messageOf(err))
		}
	}
	for i := range doc.Receipts {
		if err := validateReceipt(&doc.Receipts[i]); err != nil {
			return Errorf(DraftInvalidInput, "receipts[%d]: %s", i, messageOf(err))
		}
	}
	return validateUnique(doc)
}

// validateHead checks what stands beside the records.
func validateHead(doc *Document) error {
	if doc.Version != RecordVersion {
		return Errorf(DraftInvalidInput, "version: not %d", RecordVersion)
	}
	if doc.Generation < 0 || doc.Generation > maxSafeInteger {
		return Errorf(DraftInvalidInput, "generation: not an integer of 0 to 2^53-1")
	}
	if t := doc.RestoreTarget; t != nil && (!isName(t.DraftID) || !isMillis(t.At)) {
		return Errorf(DraftInvalidInput, "restoreTarget: not well-formed")
	}
	return nil
}

// validateUnique checks what records must not share.
func validateUnique(doc *Document) error {
	ids := make(map[string]int, len(doc.Drafts))
	sessions := make(map[string]int, len(doc.Drafts))
	for i := range doc.Drafts {
		r := &doc.Drafts[i]
		if other, taken := ids[r.ID]; taken {
			return Errorf(DraftInvalidInput, "drafts[%d]: id is also that of drafts[%d]", i, other)
		}
		ids[r.ID] = i
		for _, session := range SessionsOf(r) {
			if other, taken := sessions[session]; taken && other != i {
				return Errorf(DraftInvalidInput, "drafts[%d]: its session is also that of drafts[%d]", i, other)
			}
			sessions[session] = i
		}
	}
	trashed := make(map[string]int, len(doc.Trash))
	for i := range doc.Trash {
		id := doc.Trash[i].Record.ID
		if other, taken := trashed[id]; taken {
			return Errorf(DraftInvalidInput, "trash[%d]: id is also that of trash[%d]", i, other)
		}
		trashed[id] = i
	}
	return nil
}

func validateTrashEntry(e *TrashEntry) error {
	if err := ValidateRecord(&e.Record); err != nil {
		return err
	}
	if !isMillis(e.DeletedAt) {
		return Errorf(DraftInvalidInput, "deletedAt is no time")
	}
	return nil
}

func validateReceipt(r *Receipt) error {
	if !isName(r.DraftID) || !isName(r.WorkspaceID) || !isText(r.WorkspacePath) || !isText(r.SessionID) ||
		!isText(r.SubmissionID) || !isText(r.TextHash) || !isMillis(r.At) {
		return Errorf(DraftInvalidInput, "not well-formed")
	}
	return nil
}

// SessionsOf are the session ids that belong to a draft: bound and reserved.
func SessionsOf(r *DraftRecord) []string {
	var sessions []string
	if r.SessionID != nil {
		sessions = append(sessions, *r.SessionID)
	}
	if r.ReservedSessionID != "" {
		sessions = append(sessions, r.ReservedSessionID)
	}
	return sessions
}

// ValidateRecord checks one record by itself: members present and well-formed
// Unicode, revisions at least 1, times and orders that JavaScript reads back
// unchanged, a known state, occurrences inside their text. It does not check
// sizes: that is [ValidateRecordLimits]. Errors are DRAFT_INVALID_INPUT.
func ValidateRecord(r *DraftRecord) error {
	for _, rule := range []struct {
		ok      bool
		problem string
	}{
		{r.Version == RecordVersion, "version: not 2"},
		{isName(r.ID), "id: empty or not well-formed"},
		{r.SessionID == nil || isName(*r.SessionID), "sessionId: empty or not well-formed"},
		{isText(r.ReservedSessionID), "reservedSessionId: not well-formed"},
		{isName(r.WorkspaceID), "workspaceId: empty or not well-formed"},
		{isText(r.WorkspacePath), "workspacePath: not well-formed"},
		{isText(r.Text), "text: not well-formed Unicode"},
		{isText(r.Title), "title: not well-formed Unicode"},
		{isMillis(r.CreatedAt), "createdAt: no time"},
		{isMillis(r.UpdatedAt), "updatedAt: no time"},
		{isMillis(r.Order), "order: not an integer of 0 to 2^53-1"},
		{isText(r.AgentPresetID), "agentPresetId: not well-formed"},
		{knownState(r.State), "state: unknown"},
		{isText(r.LastError), "lastError: not well-formed"},
		{r.Revision >= 1 && r.Revision <= maxSafeInteger, "revision: less than 1"},
		{r.TextRevision >= 1 && r.TextRevision <= maxSafeInteger, "textRevision: less than 1"},
	} {
		if !rule.ok {
			return Errorf(DraftInvalidInput, "%s", rule.problem)
		}
	}
	if err := ValidateContent(r.Text, r.Content); err != nil {
		return err
	}
	if err := ValidateSettings(r.Settings); err != nil {
		return err
	}
	seen := make(map[string]bool, len(r.Conflicts))
	for i := range r.Conflicts {
		c := &r.Conflicts[i]
		if !isName(c.ID) || seen[c.ID] || !isText(c.Text) || !isText(c.EditorID) || !isMillis(c.At) {
			return Errorf(DraftInvalidInput, "conflicts[%d]: not well-formed", i)
		}
		seen[c.ID] = true
		if err := ValidateContent(c.Text, c.Content); err != nil {
			return Errorf(DraftInvalidInput, "conflicts[%d]: %s", i, messageOf(err))
		}
	}
	if o := r.Operation; o != nil && ((o.Kind != "prompt" && o.Kind != "command") || !isName(o.ID) || !isName(o.SessionID) ||
		!isMillis(o.StartedAt) || o.AfterSeq < -1 || o.AfterSeq > maxSafeInteger || !isText(o.TextHash)) {
		return Errorf(DraftInvalidInput, "operation: not well-formed")
	}
	return nil
}

// ValidateContent checks that every occurrence lies inside text, counted in
// UTF-16 code units as a browser counts, and that the rest is well-formed.
func ValidateContent(text string, c *Content) error {
	if c == nil {
		return nil
	}
	length := int64(0)
	if len(c.Occurrences) > 0 {
		length = UTF16Len(text)
	}
	for i, o := range c.Occurrences {
		if !isText(o.Source) || !isText(o.Ref) || !isText(o.Label) || !isText(o.ClipboardText) || !isRaw(o.Appearance) {
			return Errorf(DraftInvalidInput, "content.occurrences[%d]: not well-formed", i)
		}
		if o.Offset < 0 || o.Length < 0 || o.Offset > length || o.Length > length-o.Offset {
			return Errorf(DraftInvalidInput, "content.occurrences[%d]: outside the text", i)
		}
	}
	for _, raw := range []jsontext.Value{c.Attachments, c.References, c.PastedBlocks, c.Selections, c.SessionReferences, c.Invocations} {
		if !isRaw(raw) {
			return Errorf(DraftInvalidInput, "content: a member is not well-formed JSON")
		}
	}
	return nil
}

// ValidateSettings checks a draft's settings.
func ValidateSettings(s *Settings) error {
	if s == nil {
		return nil
	}
	if s.ModelSource != "" && s.ModelSource != "default" && s.ModelSource != "explicit" {
		return Errorf(DraftInvalidInput, "settings.modelSource: neither default nor explicit")
	}
	for _, text := range []string{s.Model, s.Effort, s.Mode, s.Permission, s.Quality} {
		if !isText(text) {
			return Errorf(DraftInvalidInput, "settings: not well-formed Unicode")
		}
	}
	if !isRaw(s.Goal) || !isRaw(s.MCP) {
		return Errorf(DraftInvalidInput, "settings: a member is not well-formed JSON")
	}
	return nil
}

// ValidateRecordLimits checks the sizes of what is new in after: a record that
// was over a limit already may still be changed elsewhere. before is nil for a
// new record. Errors are DRAFT_INVALID_INPUT, for too many conflict copies
// DRAFT_LIMIT_REACHED.
func ValidateRecordLimits(before, after *DraftRecord) error {
	if before == nil {
		before = &DraftRecord{}
	}
	if len(after.Text) > MaxTextBytes && after.Text != before.Text {
		return Errorf(DraftInvalidInput, "text: %d bytes are more than %d", len(after.Text), MaxTextBytes)
	}
	if len(after.Title) > MaxTitleBytes && after.Title != before.Title {
		return Errorf(DraftInvalidInput, "title: %d bytes are more than %d", len(after.Title), MaxTitleBytes)
	}
	if len(after.Conflicts) > MaxConflicts && len(after.Conflicts) > len(before.Conflicts) {
		return Errorf(DraftLimitReached, "%d conflict copies are the most; resolve some", MaxConflicts)
	}
	old := make(map[string]string, len(before.Conflicts))
	for _, c := range before.Conflicts {
		old[c.ID] = c.Text
	}
	for _, c := range after.Conflicts {
		if len(c.Text) > MaxTextBytes && old[c.ID] != c.Text {
			return Errorf(DraftInvalidInput, "text: %d bytes are more than %d", len(c.Text), MaxTextBytes)
		}
	}
	if err := partLimit("content", before.Content, after.Content); err != nil {
		return err
	}
	return partLimit("settings", before.Settings, after.Settings)
}

func partLimit[T Content | Settings](name string, before, after *T) error {
	if after == nil || after == before {
		return nil
	}
	text, err := EncodePart(after)
	if err != nil {
		return err
	}
	if len(text) <= MaxContentBytes {
		return nil
	}
	if old, err := EncodePart(before); err == nil && old == text {
		return nil
	}
	return Errorf(DraftInvalidInput, "%s: %d bytes are more than %d", name, len(text), MaxContentBytes)
}

// UTF16Len is the length of text in UTF-16 code units, as a browser counts.
func UTF16Len(text string) int64 {
	n := int64(0)
	for _, r := range text {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}

// UTF16Slice is the part of text at offset, in UTF-16 code units. ok is false
// when the range leaves the text or cuts a surrogate pair.
func UTF16Slice(text string, offset, length int64) (part string, ok bool) {
	if offset < 0 || length < 0 {
		return "", false
	}
	start, end, at := -1, -1, int64(0)
	for i, r := range text {
		if at == offset {
			start = i
		}
		if at == offset+length {
			end = i
			break
		}
		at++
		if r > 0xFFFF {
			at++
		}
	}
	if at == offset && start < 0 {
		start = len(text)
	}
	if at == offset+length && end < 0 {
		end = len(text)
	}
	if start < 0 || end < start {
		return "", false
	}
	return text[start:end], true
}

func isText(s string) bool        { return utf8.ValidString(s) }
func isName(s string) bool        { return s != "" && utf8.ValidString(s) }
func isMillis(n int64) bool       { return n >= 0 && n <= maxSafeInteger }
func isRaw(v jsontext.Value) bool { return v == nil || v.IsValid() }

func knownState(s State) bool {
	switch s {
	case StateDraft, StateMaterializing, StateReady, StateConverting, StateError:
		return true
	}
	return false
}
