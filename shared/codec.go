package shared

import (
	"bytes"

	"github.com/go-json-experiment/json"
)

// EmptyDocument is the document of a file that does not exist yet.
func EmptyDocument() *Document {
	return &Document{Version: RecordVersion, Drafts: []DraftRecord{}, Trash: []TrashEntry{}}
}

// DecodeDocument reads a version-2 draft file strictly and validates it. Errors
// are DRAFT_STORAGE_INVALID with line, byte and member, and hold no draft text.
// A file over a size limit of a single text is accepted: limits bind what is
// added, never what a user already has (see [ValidateRecordLimits]).
func DecodeDocument(data []byte) (*Document, error) {
	doc := &Document{}
	if err := strictDecode(data, doc); err != nil {
		return nil, err
	}
	if err := ValidateDocument(doc); err != nil {
		return nil, Errorf(StorageInvalid, "%s", messageOf(err))
	}
	return doc, nil
}

// DecodeContent reads the JSON of a [Content] strictly; "" is none (nil).
// Errors are DRAFT_INVALID_INPUT.
func DecodeContent(text string) (*Content, error) { return decodePart[Content](text) }

// DecodeSettings reads the JSON of a [Settings] strictly; "" is none (nil).
// Errors are DRAFT_INVALID_INPUT.
func DecodeSettings(text string) (*Settings, error) { return decodePart[Settings](text) }

func decodePart[T any](text string) (*T, error) {
	if text == "" {
		return nil, nil
	}
	part := new(T)
	if err := strictDecode([]byte(text), part); err != nil {
		return nil, Errorf(DraftInvalidInput, "%s", messageOf(err))
	}
	return part, nil
}

// EncodePart is the JSON of a [Content] or [Settings]; nil is "".
func EncodePart[T Content | Settings](part *T) (string, error) {
	if part == nil {
		return "", nil
	}
	data, err := json.Marshal(part)
	if err != nil {
		return "", Errorf(DraftInvalidInput, "encode %T: not well-formed", part)
	}
	return string(data), nil
}

// EncodeDocument writes doc with one record a line, so that a file can be
// compared and split by lines. It validates first: what it writes,
// [DecodeDocument] reads. Errors are DRAFT_INVALID_INPUT. [EncodeLines] is the
// same for a document of which most is written already.
func EncodeDocument(doc *Document) ([]byte, error) {
	lines, err := EncodeLines(doc, nil, nil)
	if err != nil {
		return nil, err
	}
	return bytes.Join(lines, nil), nil
}

// messageOf is an error's text without its code.
func messageOf(err error) string {
	if coded, ok := err.(*Error); ok {
		return coded.Message
	}
	return err.Error()
}
