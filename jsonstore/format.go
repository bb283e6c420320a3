package jsonstore

import (
	"bytes"
	"errors"
)

// ErrNoChange is returned by a change that has nothing to change: nothing is
// written, and the update succeeds.
var ErrNoChange = errors.New("no change")

// Encoded is a document with the lines of its file. A line ends with its line
// feed; only the last one may have none.
//
// Lines are how work is saved: a line that did not change is passed on as the
// very same slice, never as a copy, so that a [Format] knows from where a slice
// starts what it has encoded or parsed before. Neither the bytes of a line nor
// the list are ever changed.
type Encoded[D any] struct {
	Doc D
	// Lines are nil when the file is in a form that Encode would not write: its
	// lines are of no use to the next call then.
	Lines [][]byte
}

// Format reads and writes a document of type D. A D is never changed in place:
// it is shared by all readers of a snapshot.
type Format[D any] struct {
	// Version is what Decode reads and Encode writes. A file says its own in a
	// top-level member "version".
	Version int64
	// Empty is the document of a file that does not exist.
	Empty func() D
	// Decode reads a file of Version strictly. Lines that also are among those of
	// last need not be parsed again; last may be the zero value. Its error should
	// have the code DRAFT_STORAGE_INVALID, name the place, and hold no content.
	Decode func(lines [][]byte, last Encoded[D]) (Encoded[D], error)
	// Encode writes a document so that Decode reads it, or refuses it. What doc
	// has from last need not be checked or encoded again; last may be the zero
	// value.
	Encode func(doc D, last Encoded[D]) (lines [][]byte, err error)
	// Generation counts the commits of a document; WithGeneration is a copy of
	// doc with another. A file says its own in a top-level member "generation".
	Generation     func(doc D) int64
	WithGeneration func(doc D, generation int64) D
	// Migrations lead from each older version to the next one.
	Migrations map[int64]Migration
	// Salvage gives what can be read of a malformed file of Version, as a document
	// that Encode takes, and how many of its records are lost; nil for a format that
	// has no such thing.
	Salvage func(data []byte) (doc D, lost int)
	// Records counts what a user would miss of a document; nil counts nothing.
	Records func(doc D) int
}

func (f Format[D]) records(doc D) int {
	if f.Records == nil {
		return 0
	}
	return f.Records(doc)
}

// Migration turns the bytes of a file of version N into those of version N+1.
// It is pure: it may run many times before its result is written once. The note
// is a line for the log, without content.
type Migration func(old []byte) (next []byte, note string, err error)

// Whole makes the Decode and Encode of a format that has no use for lines.
func Whole[D any](decode func([]byte) (D, error), encode func(D) ([]byte, error)) (
	func([][]byte, Encoded[D]) (Encoded[D], error), func(D, Encoded[D]) ([][]byte, error),
) {
	return func(lines [][]byte, _ Encoded[D]) (Encoded[D], error) {
			doc, err := decode(bytes.Join(lines, nil))
			return Encoded[D]{Doc: doc, Lines: lines}, err
		}, func(doc D, _ Encoded[D]) ([][]byte, error) {
			data, err := encode(doc)
			return cutLines(data), err
		}
}

// cutLines cuts data after each line feed.
func cutLines(data []byte) [][]byte {
	lines := bytes.SplitAfter(data, []byte{'\n'})
	if last := len(lines) - 1; len(lines[last]) == 0 {
		lines = lines[:last]
	}
	return lines
}
