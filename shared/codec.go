package shared

import (
	"bytes"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
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
// [DecodeDocument] reads. Errors are DRAFT_INVALID_INPUT.
func EncodeDocument(doc *Document) ([]byte, error) {
	if err := ValidateDocument(doc); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	e := encoder{b: &b}
	b.WriteString(`{"version":`)
	e.value(doc.Version)
	b.WriteString(`,"generation":`)
	e.value(doc.Generation)
	b.WriteString(`,"drafts":[`)
	encodeLines(&e, doc.Drafts)
	b.WriteString(`],"trash":[`)
	encodeLines(&e, doc.Trash)
	b.WriteByte(']')
	if doc.RestoreTarget != nil {
		b.WriteString(`,"restoreTarget":`)
		e.value(doc.RestoreTarget)
	}
	if len(doc.Receipts) > 0 {
		b.WriteString(`,"receipts":[`)
		encodeLines(&e, doc.Receipts)
		b.WriteByte(']')
	}
	b.WriteString("}\n")
	if e.err != nil {
		// The cause may quote a value: it is left out (invariant 11).
		return nil, Errorf(DraftInvalidInput, "a record does not encode as JSON")
	}
	return b.Bytes(), nil
}

type encoder struct {
	b   *bytes.Buffer
	err error
}

func (e *encoder) value(v any) {
	if e.err != nil {
		return
	}
	data, err := json.Marshal(v, jsontext.EscapeForHTML(false))
	e.err = err
	e.b.Write(data)
}

func encodeLines[T any](e *encoder, records []T) {
	for i := range records {
		if i > 0 {
			e.b.WriteByte(',')
		}
		e.b.WriteByte('\n')
		e.value(&records[i])
	}
	if len(records) > 0 {
		e.b.WriteByte('\n')
	}
}

// messageOf is an error's text without its code.
func messageOf(err error) string {
	if coded, ok := err.(*Error); ok {
		return coded.Message
	}
	return err.Error()
}
