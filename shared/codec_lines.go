package shared

import (
	"bytes"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// A draft file as we write it has each record on a line of its own, with the
// comma after it; what stands between are the lines of the frame:
//
//	{"version":2,"generation":7,"drafts":[
//	{"version":2,"id":"a",...},
//	{"version":2,"id":"b",...}
//	],"trash":[]}
//
// A line feed cannot stand inside a JSON string, so a line is a whole record or
// a whole part of the frame, and a file can be read and written by lines.

// span are the lines of one list: n from first on.
type span struct{ first, n int }

func (s span) of(lines [][]byte) [][]byte { return lines[s.first : s.first+s.n] }

// layout says which lines of a file hold which records.
type layout struct {
	drafts, trash, receipts span
	total                   int
}

// layoutOf is the layout for lists of these lengths. An empty list has no line:
// the frame goes on.
func layoutOf(drafts, trash, receipts int) layout {
	at := 0
	take := func(n int) span {
		if n == 0 {
			return span{at, 0}
		}
		s := span{at + 1, n}
		at += 1 + n
		return s
	}
	return layout{drafts: take(drafts), trash: take(trash), receipts: take(receipts), total: at + 1}
}

func layoutFor(doc *Document) layout {
	return layoutOf(len(doc.Drafts), len(doc.Trash), len(doc.Receipts))
}

// frame are the lines between the records, for lists of l's lengths.
func frame(doc *Document, l layout) ([][]byte, error) {
	var lines [][]byte
	var line []byte
	breakFor := func(list span) {
		if list.n > 0 {
			lines = append(lines, append(line, '\n'))
			line = nil
		}
	}
	line = append(line, `{"version":`...)
	line = jsonInt(line, int64(doc.Version))
	line = append(line, `,"generation":`...)
	line = jsonInt(line, doc.Generation)
	line = append(line, `,"drafts":[`...)
	breakFor(l.drafts)
	line = append(line, `],"trash":[`...)
	breakFor(l.trash)
	line = append(line, ']')
	if doc.RestoreTarget != nil {
		target, err := json.Marshal(doc.RestoreTarget)
		if err != nil {
			return nil, notEncodable()
		}
		line = append(append(line, `,"restoreTarget":`...), target...)
	}
	if l.receipts.n > 0 {
		line = append(line, `,"receipts":[`...)
		breakFor(l.receipts)
		line = append(line, ']')
	}
	return append(lines, append(line, '}', '\n')), nil
}

func jsonInt(to []byte, n int64) []byte {
	return append(to, jsontext.Int(n).String()...)
}

// notEncodable leaves the cause out: it may quote a value (invariant 11).
func notEncodable() error { return Errorf(DraftInvalidInput, "a record does not encode as JSON") }

// EncodeLines is [EncodeDocument] as lines, whose concatenation is the file. A
// record that also is in last, with nothing of it replaced, is neither checked
// nor encoded again: its line is taken from lastLines, which must be what
// EncodeLines or [DecodeLines] gave for last; nil knows none. Records are told
// apart by what they point to, so no part of one may ever be changed in place.
func EncodeLines(doc, last *Document, lastLines [][]byte) ([][]byte, error) {
	if err := validateHead(doc); err != nil {
		return nil, err
	}
	if last == nil || len(lastLines) != layoutFor(last).total {
		last, lastLines = &Document{}, make([][]byte, 1)
	}
	old, l := layoutFor(last), layoutFor(doc)
	scratch := scratches.Get().(*bytes.Buffer)
	defer scratches.Put(scratch)
	e := lineEncoder{lines: make([][]byte, 0, l.total), scratch: scratch}
	between, err := frame(doc, l)
	if err != nil {
		return nil, err
	}
	next := func(list span) {
		if list.n > 0 {
			e.lines = append(e.lines, between[0])
			between = between[1:]
		}
	}
	next(l.drafts)
	changed, err := encodeList(&e, "drafts", doc.Drafts, known[DraftRecord]{last.Drafts, old.drafts.of(lastLines)}, draftKind)
	if err != nil {
		return nil, err
	}
	next(l.trash)
	trashed, err := encodeList(&e, "trash", doc.Trash, known[TrashEntry]{last.Trash, old.trash.of(lastLines)}, trashKind)
	if err != nil {
		return nil, err
	}
	next(l.receipts)
	if _, err := encodeList(&e, "receipts", doc.Receipts, known[Receipt]{last.Receipts, old.receipts.of(lastLines)}, receiptKind); err != nil {
		return nil, err
	}
	e.lines = append(e.lines, between[0])
	return e.lines, validateUniqueAmong(doc, changed, trashed)
}

// known are records with their lines.
type known[T any] struct {
	records []T
	lines   [][]byte
}

// kind is how records of one list are told apart and checked.
type kind[T any] struct {
	key   func(*T) string
	same  func(a, b *T) bool
	check func(*T) error
}

var (
	draftKind   = kind[DraftRecord]{func(r *DraftRecord) string { return r.ID }, SameRecord, ValidateRecord}
	trashKind   = kind[TrashEntry]{func(e *TrashEntry) string { return e.Record.ID }, sameTrashEntry, validateTrashEntry}
	receiptKind = kind[Receipt]{func(r *Receipt) string { return r.DraftID }, func(a, b *Receipt) bool { return *a == *b }, validateReceipt}
)

// scratches are for encoding one record at a time.
var scratches = sync.Pool{New: func() any { return &bytes.Buffer{} }}

type lineEncoder struct {
	lines   [][]byte
	scratch *bytes.Buffer
}

// encodeList appends the lines of a list and tells which records are new.
func encodeList[T any](e *lineEncoder, name string, records []T, old known[T], k kind[T]) (changed []int, err error) {
	lookup := lookup[T]{old: old.records, kind: k, used: make([]bool, len(old.records))}
	for i := range records {
		r, comma := &records[i], i < len(records)-1
		if found := lookup.find(r); found >= 0 {
			e.lines = append(e.lines, withComma(old.lines[found], found < len(old.lines)-1, comma))
			continue
		}
		if err := k.check(r); err != nil {
			return nil, Errorf(DraftInvalidInput, "%s[%d]: %s", name, i, messageOf(err))
		}
		changed = append(changed, i)
		line, err := e.line(r, comma)
		if err != nil {
			return nil, err
		}
		e.lines = append(e.lines, line)
	}
	return changed, nil
}

// lookup finds records among those of the document before. Most stand where they
// stood, or one place further after one was removed, so its index is rarely made.
type lookup[T any] struct {
	old   []T
	kind  kind[T]
	used  []bool // each is found once: two of one key must not pass for one
	at    int
	met   int // how many of old were found or seen to have changed
	index map[string]int
}

func (l *lookup[T]) find(r *T) int {
	for skip := range 2 {
		if j := l.at + skip; j < len(l.old) && !l.used[j] && l.kind.key(r) == l.kind.key(&l.old[j]) {
			return l.take(j, r)
		}
	}
	if l.met == len(l.old) {
		return -1
	}
	if l.index == nil {
		l.index = make(map[string]int, len(l.old))
		for j := range l.old {
			l.index[l.kind.key(&l.old[j])] = j
		}
	}
	if j, ok := l.index[l.kind.key(r)]; ok && !l.used[j] {
		return l.take(j, r)
	}
	return -1
}

func (l *lookup[T]) take(j int, r *T) int {
	l.used[j] = true
	l.met++
	l.at = j + 1
	if l.kind.same(r, &l.old[j]) {
		return j
	}
	return -1
}

// line is one record as a line.
func (e *lineEncoder) line(record any, comma bool) ([]byte, error) {
	e.scratch.Reset()
	if err := json.MarshalWrite(e.scratch, record, jsontext.EscapeForHTML(false)); err != nil {
		return nil, notEncodable()
	}
	if comma {
		e.scratch.WriteByte(',')
	}
	e.scratch.WriteByte('\n')
	return bytes.Clone(e.scratch.Bytes()), nil
}

// withComma is a record's line with or without the comma after it. It does not
// look at the line unless it has to: most are in no cache.
func withComma(line []byte, has, comma bool) []byte {
	if has == comma {
		return line
	}
	if has {
		return append(bytes.Clone(line[:len(line)-2]), '\n')
	}
	return append(bytes.Clone(line[:len(line)-1]), ",\n"...)
}

// validateUniqueAmong is validateUnique for a document of which only these
// records are new: the others were checked against each other before.
func validateUniqueAmong(doc *Document, drafts, trash []int) error {
	if len(drafts) == len(doc.Drafts) || len(trash) > 0 {
		return validateUnique(doc)
	}
	if len(drafts) == 0 {
		return nil
	}
	ids, sessions := map[string]int{}, map[string]int{}
	for _, i := range drafts {
		ids[doc.Drafts[i].ID] = i
		for _, session := range SessionsOf(&doc.Drafts[i]) {
			sessions[session] = i
		}
	}
	for i := range doc.Drafts {
		r := &doc.Drafts[i]
		if other, ok := ids[r.ID]; ok && other != i {
			return Errorf(DraftInvalidInput, "drafts[%d]: id is also that of drafts[%d]", max(i, other), min(i, other))
		}
		for _, session := range [...]string{pointed(r.SessionID), r.ReservedSessionID} {
			if other, ok := sessions[session]; session != "" && ok && other != i {
				return Errorf(DraftInvalidInput, "drafts[%d]: its session is also that of drafts[%d]", max(i, other), min(i, other))
			}
		}
	}
	return nil
}

func pointed(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// SameRecord tells whether nothing of a record was replaced. It compares what is
// pointed to by place, never by content, so it is cheap, and false for a copy.
func SameRecord(a, b *DraftRecord) bool {
	return a.Version == b.Version && a.ID == b.ID && a.Revision == b.Revision && a.TextRevision == b.TextRevision && a.TextEditorID == b.TextEditorID &&
		a.SessionID == b.SessionID && a.ReservedSessionID == b.ReservedSessionID &&
		a.WorkspaceID == b.WorkspaceID && a.WorkspacePath == b.WorkspacePath &&
		a.Text == b.Text && a.Title == b.Title && a.CreatedAt == b.CreatedAt && a.UpdatedAt == b.UpdatedAt &&
		a.Order == b.Order && a.Pinned == b.Pinned && a.AgentPresetID == b.AgentPresetID &&
		a.State == b.State && a.LastError == b.LastError &&
		len(a.Conflicts) == len(b.Conflicts) && (len(a.Conflicts) == 0 || &a.Conflicts[0] == &b.Conflicts[0]) &&
		a.Content == b.Content && a.Settings == b.Settings && a.Operation == b.Operation
}

func sameTrashEntry(a, b *TrashEntry) bool {
	return a.DeletedAt == b.DeletedAt && SameRecord(&a.Record, &b.Record)
}
