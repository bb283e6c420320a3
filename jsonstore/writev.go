package jsonstore

import "io"

// maxVectors is how many slices one call may write: what Linux allows.
const maxVectors = 1024

// vectorWriter writes several slices with one call. Like a kernel's writev it may
// write fewer bytes than there are.
type vectorWriter interface {
	writev(slices [][]byte) (int, error)
}

// writeVectors writes all lines as they lie in memory.
func writeVectors(w vectorWriter, lines [][]byte) error {
	rest := make([][]byte, min(len(lines), maxVectors)) // The lines themselves stay as they are.
	for len(lines) > 0 {
		batch := rest[:copy(rest, lines)]
		lines = lines[len(batch):]
		for len(batch) > 0 {
			n, err := w.writev(batch)
			if err != nil {
				return err
			}
			if n == 0 {
				return io.ErrShortWrite
			}
			for len(batch) > 0 && n >= len(batch[0]) {
				n -= len(batch[0])
				batch = batch[1:]
			}
			if n > 0 {
				batch[0] = batch[0][n:]
			}
		}
	}
	return nil
}
