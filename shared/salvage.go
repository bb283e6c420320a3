package shared

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// SalvageDocument reads the whole records of a damaged version-2 file: each stands
// on a line of its own, so what is wrong with one line costs that record only. lost
// counts the lines that hold no whole record, and records of an id that was there
// already. Of two drafts with one session the second is unbound, as in a file of
// version 1. The document is valid, and its generation 0: what the file says beside
// its records is not trusted.
func SalvageDocument(data []byte) (doc *Document, lost int) {
	doc = EmptyDocument()
	ids, trashed, sessions := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for line := range bytes.Lines(data) {
		body := bytes.TrimSuffix(bytes.TrimRight(line, " \t\r\n"), []byte(","))
		if len(body) == 0 || openedBy(line) >= 0 || body[0] == ']' {
			continue // what stands beside the records
		}
		var (
			draft   DraftRecord
			entry   TrashEntry
			receipt Receipt
		)
		switch {
		case decodes(body, &draft) && ValidateRecord(&draft) == nil && !ids[draft.ID]:
			ids[draft.ID] = true
			for _, session := range SessionsOf(&draft) {
				if sessions[session] {
					draft.SessionID, draft.ReservedSessionID, draft.State, draft.Operation = nil, "", StateDraft, nil
				}
			}
			for _, session := range SessionsOf(&draft) {
				sessions[session] = true
			}
			doc.Drafts = append(doc.Drafts, draft)
		case decodes(body, &entry) && validateTrashEntry(&entry) == nil && !trashed[entry.Record.ID]:
			trashed[entry.Record.ID] = true
			doc.Trash = append(doc.Trash, entry)
		case decodes(body, &receipt) && validateReceipt(&receipt) == nil:
			doc.Receipts = append(doc.Receipts, receipt)
		default:
			lost++
		}
	}
	return doc, lost
}

// decodes tells whether data is exactly one value of that type.
func decodes(data []byte, out any) bool {
	return decodeWhole(jsontext.NewDecoder(bytes.NewReader(data)), out) == nil
}
