package jsonstore

import "errors"

// ErrNoChange is returned by a change that has nothing to change: nothing is
// written, and the update succeeds.
var ErrNoChange = errors.New("no change")

// Format reads and writes a document of type D. A D is never changed in place:
// it is shared by all readers of a snapshot.
type Format[D any] struct {
	// Version is what Decode reads and Encode writes. A file says its own in a
	// top-level member "version".
	Version int64
	// Empty is the document of a file that does not exist.
	Empty func() D
	// Decode reads a file of Version strictly. Its error should have the code
	// DRAFT_STORAGE_INVALID, name the place, and hold no content.
	Decode func(data []byte) (D, error)
	// Encode writes a document so that Decode reads it, or refuses it.
	Encode func(doc D) ([]byte, error)
	// Generation counts the commits of a document; WithGeneration is a copy of
	// doc with another. A file says its own in a top-level member "generation".
	Generation     func(doc D) int64
	WithGeneration func(doc D, generation int64) D
	// Migrations lead from each older version to the next one.
	Migrations map[int64]Migration
}

// Migration turns the bytes of a file of version N into those of version N+1.
// It is pure: it may run many times before its result is written once. The note
// is a line for the log, without content.
type Migration func(old []byte) (next []byte, note string, err error)
