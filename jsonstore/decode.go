package jsonstore

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// decode turns the lines of the file into a view, migrating an older version in
// memory. It decides by version before anything else is looked at: a later
// version may mean something else by every other member.
func (s *Store[D]) decode(lines [][]byte) (view[D], error) {
	s.old = nil
	version, known := peekLines(lines, "version")
	if !known {
		if _, err := s.format.Decode(lines, Encoded[D]{}); err != nil {
			return view[D]{}, err // It knows the place of what is wrong.
		}
		return view[D]{}, shared.Errorf(shared.StorageInvalid, "the draft file says no version")
	}
	if version > s.format.Version {
		return view[D]{}, shared.Errorf(shared.StorageUnsupported,
			"the draft file is of version %d, later than %d; it was left as it is", version, s.format.Version)
	}
	state := s.State()
	next := view[D]{state: State{Path: state.Path, Backup: state.Backup, Note: state.Note}}
	last := Encoded[D]{Doc: s.Snapshot(), Lines: s.lines}
	var data, migrated []byte
	var notes []string
	for at := version; at < s.format.Version; at++ {
		step, ok := s.format.Migrations[at]
		if !ok {
			return view[D]{}, shared.Errorf(shared.StorageInvalid, "version %d is none that was ever written", at)
		}
		if at == version {
			data = bytes.Join(lines, nil)
			migrated = data
		}
		var note string
		var err error
		if migrated, note, err = step(migrated); err != nil {
			return view[D]{}, err
		}
		if note != "" {
			notes = append(notes, note)
		}
	}
	if data != nil {
		lines, last = cutLines(migrated), Encoded[D]{}
		next.state.Note = strings.Join(notes, "; ")
	}
	decoded, err := s.format.Decode(lines, last)
	if err != nil {
		return view[D]{}, err
	}
	if data != nil {
		s.old = &oldFile{version: version, data: data}
	}
	s.lines = decoded.Lines
	next.doc, next.state.Generation = decoded.Doc, s.format.Generation(decoded.Doc)
	if next.state.Generation < state.Generation && data == nil {
		s.log.Warn("the draft file went back to an earlier generation", "from", state.Generation, "to", next.state.Generation)
	}
	return next, nil
}

// peekLines is peek for a file as lines: the first one has the member in every
// file that we wrote, and the rest need not be put together then.
func peekLines(lines [][]byte, member string) (int64, bool) {
	if len(lines) == 0 {
		return 0, false
	}
	if n, ok := peek(lines[0], member); ok {
		return n, true
	}
	return peek(bytes.Join(lines, nil), member)
}

// peek reads one top-level integer without decoding the document.
func peek(data []byte, member string) (int64, bool) {
	found := gjson.GetBytes(data, member)
	if found.Type != gjson.Number {
		return 0, false
	}
	n, err := strconv.ParseInt(found.Raw, 10, 64)
	return n, err == nil
}
