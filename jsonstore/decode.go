package jsonstore

import (
	"strconv"

	"github.com/tidwall/gjson"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// decode turns the bytes of the file into a view, migrating an older version in
// memory. It decides by version before anything else is looked at: a later
// version may mean something else by every other member.
func (s *Store[D]) decode(data []byte) (view[D], error) {
	s.old = nil
	version, known := peek(data, "version")
	if !known {
		if _, err := s.format.Decode(data); err != nil {
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
	migrated := data
	for at := version; at < s.format.Version; at++ {
		step, ok := s.format.Migrations[at]
		if !ok {
			return view[D]{}, shared.Errorf(shared.StorageInvalid, "version %d is none that was ever written", at)
		}
		var err error
		if migrated, next.state.Note, err = step(migrated); err != nil {
			return view[D]{}, err
		}
	}
	doc, err := s.format.Decode(migrated)
	if err != nil {
		return view[D]{}, err
	}
	if version < s.format.Version {
		s.old = &oldFile{version: version, data: data}
	}
	next.doc, next.state.Generation = doc, s.format.Generation(doc)
	if generation, ok := peek(data, "generation"); ok && generation < state.Generation {
		s.log.Warn("the draft file went back to an earlier generation", "from", state.Generation, "to", generation)
	}
	return next, nil
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
