package shared

import (
	"bytes"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/go-json-experiment/json/jsontext"
)

// linesEach is how many lines are worth another goroutine.
const linesEach = 16

// DecodeLines is [DecodeDocument] of a file that is given as its lines, each up
// to and including its line feed. A line that is the very same slice as one of
// lastLines, the lines of last, is not parsed again: its record is shared with
// last. The second result are the lines of the document for a later call and for
// [EncodeLines], nil when the file is not in the form that EncodeLines writes.
// It keeps the lines that it returns and no others, and uses several cores.
func DecodeLines(lines [][]byte, last *Document, lastLines [][]byte) (*Document, [][]byte, error) {
	if doc, ok := decodeOwn(lines, last, lastLines); ok {
		return doc, lines, nil
	}
	// Not our form, or something is wrong with it: the plain way tells the place.
	doc, err := DecodeDocument(bytes.Join(lines, nil))
	return doc, nil, err
}

// decodeOwn reads a file of the form that EncodeLines writes. It is false for
// everything else, right or wrong.
func decodeOwn(lines [][]byte, last *Document, lastLines [][]byte) (*Document, bool) {
	doc, l, ok := decodeFrame(lines)
	if !ok {
		return nil, false
	}
	if last == nil || len(lastLines) != layoutFor(last).total {
		last, lastLines = &Document{}, make([][]byte, 1)
	}
	old := layoutFor(last)
	doc.Drafts, ok = decodeList(l.drafts.of(lines), known[DraftRecord]{last.Drafts, old.drafts.of(lastLines)}, draftKind)
	if !ok {
		return nil, false
	}
	doc.Trash, ok = decodeList(l.trash.of(lines), known[TrashEntry]{last.Trash, old.trash.of(lastLines)}, trashKind)
	if !ok {
		return nil, false
	}
	receipts, ok := decodeList(l.receipts.of(lines), known[Receipt]{last.Receipts, old.receipts.of(lastLines)}, receiptKind)
	if !ok {
		return nil, false
	}
	if len(receipts) > 0 {
		doc.Receipts = receipts
	}
	return doc, validateUnique(doc) == nil
}

// decodeFrame reads what stands beside the records. It is true only if the
// frame is, byte for byte, what would be written for the same head and lengths.
func decodeFrame(lines [][]byte) (*Document, layout, bool) {
	var between [][]byte
	var lengths [3]int // of drafts, trash, receipts
	list := -1
	for i, line := range lines {
		if i > 0 && len(line) > 0 && line[0] == '{' {
			if list < 0 {
				return nil, layout{}, false
			}
			lengths[list]++ // #nosec G602 -- the check of between below bounds it
			continue
		}
		between = append(between, line)
		if len(between) > len(lengths)+1 {
			return nil, layout{}, false
		}
		list = openedBy(line)
	}
	doc := &Document{}
	if err := strictDecode(bytes.Join(between, nil), doc); err != nil || validateHead(doc) != nil {
		return nil, layout{}, false
	}
	l := layoutOf(lengths[0], lengths[1], lengths[2])
	want, err := frame(doc, l)
	if err != nil || l.total != len(lines) || len(want) != len(between) {
		return nil, layout{}, false
	}
	for i := range want {
		if !bytes.Equal(want[i], between[i]) {
			return nil, layout{}, false
		}
	}
	return doc, l, true
}

// openedBy is the list whose records follow a line of the frame, -1 if none.
func openedBy(line []byte) int {
	for i, end := range [...]string{"\"drafts\":[\n", "\"trash\":[\n", "\"receipts\":[\n"} {
		if bytes.HasSuffix(line, []byte(end)) {
			return i
		}
	}
	return -1
}

// decodeList reads the records of one list, those that are known by their line
// excepted. It is false if any line is not exactly one well-formed record with a
// comma where one belongs.
func decodeList[T any](lines [][]byte, old known[T], k kind[T]) ([]T, bool) {
	records := make([]T, len(lines))
	var fresh []int
	find := finder{lines: old.lines}
	for i, line := range lines {
		if body, ok := recordOf(line, i < len(lines)-1); !ok || body == nil {
			return nil, false
		}
		if j := find.line(line); j >= 0 {
			records[i] = old.records[j]
		} else {
			fresh = append(fresh, i)
		}
	}
	var failed atomic.Bool
	part := func(indices []int) {
		dec := jsontext.NewDecoder(bytes.NewBuffer(nil))
		for _, i := range indices {
			body, _ := recordOf(lines[i], i < len(lines)-1)
			dec.Reset(bytes.NewBuffer(body))
			if decodeWhole(dec, &records[i]) != nil || k.check(&records[i]) != nil {
				failed.Store(true)
			}
			if failed.Load() {
				return
			}
		}
	}
	parts := max(1, min(runtime.GOMAXPROCS(0), len(fresh)/linesEach))
	var others sync.WaitGroup
	for n := 1; n < parts; n++ {
		others.Go(func() { part(fresh[len(fresh)*n/parts : len(fresh)*(n+1)/parts]) })
	}
	part(fresh[:len(fresh)/parts])
	others.Wait()
	return records, !failed.Load()
}

// recordOf is a record's line without its comma and line feed.
func recordOf(line []byte, comma bool) ([]byte, bool) {
	end := "}\n"
	if comma {
		end = "},\n"
	}
	if !bytes.HasSuffix(line, []byte(end)) {
		return nil, false
	}
	return line[:len(line)-len(end)+1], true
}

// finder finds a line among known ones by being the same slice.
type finder struct {
	lines [][]byte
	at    int
	index map[*byte]int
}

func (f *finder) line(line []byte) int {
	if len(f.lines) == 0 {
		return -1
	}
	if f.at >= len(f.lines) || !sameSlice(line, f.lines[f.at]) {
		if f.index == nil {
			f.index = make(map[*byte]int, len(f.lines))
			for i, known := range f.lines {
				f.index[&known[0]] = i
			}
		}
		i, ok := f.index[&line[0]]
		if !ok || len(f.lines[i]) != len(line) {
			return -1
		}
		f.at = i
	}
	f.at++
	return f.at - 1
}

func sameSlice(a, b []byte) bool { return len(a) == len(b) && &a[0] == &b[0] }
