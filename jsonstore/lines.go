package jsonstore

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"sync"
)

const (
	// blockBytes is how much is read or written with one call.
	blockBytes = 256 << 10
	// startBytes is how much of a line's beginning tells which record it is.
	startBytes = 80
	// A file whose lines are this short is not one record a line: cutting it would
	// cost more memory than it saves.
	shortLine, shortLines = 64, 4096
)

// readLines cuts what r gives after each line feed. A line that known holds is
// given as that very slice, so another writer's file costs no memory for what it
// did not change. size is a guess.
func readLines(r io.Reader, size int64, known [][]byte) ([][]byte, error) {
	reader := bufio.NewReaderSize(r, int(min(blockBytes, size+1))) // One more finds the end.
	lines := make([][]byte, 0, max(16, len(known)+1))
	match := matcher{known: known}
	var long []byte // of a line that does not fit a block
	total := 0
	for {
		part, err := reader.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			long = append(long, part...)
			continue
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		line := part
		if len(long) > 0 {
			line, long = append(long, part...), nil
		}
		if len(line) > 0 {
			total += len(line)
			if same := match.find(line); same != nil {
				line = same
			} else {
				line = bytes.Clone(line)
			}
			lines = append(lines, line)
		}
		if err != nil {
			return lines, nil
		}
		if len(lines) > shortLines && total < shortLine*len(lines) {
			whole := bytes.NewBuffer(make([]byte, 0, max(int64(total), size)+bytes.MinRead))
			for _, line := range lines {
				whole.Write(line)
			}
			_, err := whole.ReadFrom(reader)
			return [][]byte{whole.Bytes()}, err
		}
	}
}

// matcher finds lines among known ones, most of which stand in the same order.
type matcher struct {
	known [][]byte
	at    int
	index map[string]int // by how a line starts
}

func (m *matcher) find(line []byte) []byte {
	if m.at < len(m.known) {
		next := m.known[m.at]
		if bytes.Equal(next, line) {
			m.at++
			return next
		}
		if bytes.Equal(start(next), start(line)) {
			m.at++ // The same record, changed in its place.
			return nil
		}
	}
	if len(m.known) == 0 {
		return nil
	}
	if m.index == nil {
		m.index = make(map[string]int, len(m.known))
		for i, line := range m.known {
			m.index[string(start(line))] = i
		}
	}
	i, ok := m.index[string(start(line))]
	if !ok {
		return nil
	}
	m.at = i + 1
	if bytes.Equal(m.known[i], line) {
		return m.known[i]
	}
	return nil
}

func start(line []byte) []byte { return line[:min(startBytes, len(line))] }

// blocks are for writing; one is enough for a store.
var blocks = sync.Pool{New: func() any { block := make([]byte, 0, blockBytes); return &block }}

// writeLines writes all lines with few calls, and without copying them where the
// file can do that.
func writeLines(w io.Writer, lines [][]byte) error {
	if f, ok := w.(vectorWriter); ok && len(lines) > 1 {
		return writeVectors(f, lines)
	}
	pooled := blocks.Get().(*[]byte)
	defer blocks.Put(pooled)
	block := (*pooled)[:0]
	put := func(data []byte) error {
		if n, err := w.Write(data); err != nil {
			return err
		} else if n < len(data) {
			return io.ErrShortWrite
		}
		return nil
	}
	for _, line := range lines {
		if len(block)+len(line) > cap(block) {
			if err := put(block); err != nil {
				return err
			}
			block = block[:0]
		}
		if len(line) > cap(block) {
			if err := put(line); err != nil {
				return err
			}
			continue
		}
		block = append(block, line...)
	}
	return put(block)
}

func sizeOf(lines [][]byte) int64 {
	size := int64(0)
	for _, line := range lines {
		size += int64(len(line))
	}
	return size
}

// sameLines tells whether both are the very same slices.
func sameLines(a, b [][]byte) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if len(a[i]) != len(b[i]) || &a[i][0] != &b[i][0] {
			return false
		}
	}
	return true
}
