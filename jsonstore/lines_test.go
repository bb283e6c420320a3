package jsonstore

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

func lineOf(id int, rest string) string {
	return fmt.Sprintf("{\"id\":\"%d\",\"pad\":\"%0100d\",\"rest\":\"%s\"},\n", id, 0, rest)
}

// What is read is what is there, whatever was known, and known lines are the
// very same slices.
func TestReadLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		known := make([][]byte, rapid.IntRange(0, 8).Draw(t, "known"))
		for i := range known {
			known[i] = []byte(lineOf(i, "old"))
		}
		var file strings.Builder
		same := 0
		for range rapid.IntRange(0, 8).Draw(t, "lines") {
			id := rapid.IntRange(0, 10).Draw(t, "id")
			rest := rapid.SampledFrom([]string{"old", "old", "new"}).Draw(t, "rest")
			if rest == "old" && id < len(known) {
				same++
			}
			file.WriteString(lineOf(id, rest))
		}
		file.WriteString(rapid.SampledFrom([]string{"", "\n", "end", strings.Repeat("long", blockBytes/4) + "\nx"}).Draw(t, "end"))
		lines, err := readLines(iotest.OneByteReader(strings.NewReader(file.String())), 0, known)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(bytes.Join(lines, nil)); got != file.String() {
			t.Fatalf("read %q, want %q", got, file.String())
		}
		for i, line := range lines {
			if len(line) == 0 || bytes.IndexByte(line, '\n') < len(line)-1 && bytes.IndexByte(line, '\n') >= 0 {
				t.Fatalf("line %d is %q", i, line)
			}
			for _, k := range known {
				if bytes.Equal(k, line) {
					if &k[0] != &line[0] {
						t.Fatalf("line %d is known, but a copy", i)
					}
					same--
				}
			}
		}
		if same != 0 {
			t.Fatalf("%d known lines are missing", same)
		}
	})
}

// A file of nothing but short lines is not cut: that would cost many times its size.
func TestShortLinesAreNotCut(t *testing.T) {
	data := strings.Repeat("\n", 1<<20)
	lines, err := readLines(strings.NewReader(data), 0, nil)
	if err != nil || len(lines) != 1 || string(lines[0]) != data {
		t.Errorf("%d lines, %v", len(lines), err)
	}
}

func TestReadLinesReportsAFault(t *testing.T) {
	for _, before := range []string{"", "a\nb", strings.Repeat("\n", shortLines+1)} {
		broken := io.MultiReader(strings.NewReader(before), iotest.ErrReader(io.ErrClosedPipe))
		if _, err := readLines(broken, 0, nil); err != io.ErrClosedPipe {
			t.Errorf("after %d bytes: %v", len(before), err)
		}
	}
}

func TestWriteLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOf(rapid.SampledFrom([]int{1, 100, blockBytes - 1, blockBytes, blockBytes + 1})).Draw(t, "sizes")
		var lines [][]byte
		for i, size := range sizes {
			lines = append(lines, bytes.Repeat([]byte{byte('a' + i%26)}, size))
		}
		var out bytes.Buffer
		if err := writeLines(&out, lines); err != nil || !bytes.Equal(out.Bytes(), bytes.Join(lines, nil)) {
			t.Fatalf("%v, wrote %d bytes", err, out.Len())
		}
	})
}

// miser writes no more than some bytes with a call, as a kernel may.
type miser struct {
	bytes.Buffer
	most int
	err  error
}

func (m *miser) writev(slices [][]byte) (int, error) {
	if m.err != nil {
		return 0, m.err
	}
	data := bytes.Join(slices, nil)
	return m.Write(data[:min(len(data), m.most)])
}

// Whatever the kernel writes of the slices it is given, the file is whole.
func TestWriteVectors(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var lines [][]byte
		for i := range rapid.IntRange(2, 3*maxVectors).Draw(t, "lines") {
			lines = append(lines, bytes.Repeat([]byte{byte('a' + i%26)}, 1+i%7))
		}
		out := &miser{most: rapid.SampledFrom([]int{1, 5, 1000, 1 << 20}).Draw(t, "most")}
		whole := bytes.Join(lines, nil)
		if err := writeLines(out, lines); err != nil || !bytes.Equal(out.Bytes(), whole) {
			t.Fatalf("%v, wrote %d of %d bytes", err, out.Len(), len(whole))
		}
		if !bytes.Equal(bytes.Join(lines, nil), whole) {
			t.Fatal("the lines were changed")
		}
	})
	two := [][]byte{[]byte("a"), []byte("b")}
	if err := writeLines(&miser{}, two); err != io.ErrShortWrite {
		t.Errorf("a write of nothing gave %v", err)
	}
	if err := writeLines(&miser{err: io.ErrClosedPipe}, two); err != io.ErrClosedPipe {
		t.Errorf("a failing write gave %v", err)
	}
	file, err := OS{}.Create(t.TempDir()+"/f", 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if err := writeLines(file, two); err != nil || file.Close() != nil || read(t, file.(osFile).Name()) != "ab" {
		t.Errorf("%v", err)
	}
	if err := writeLines(file, two); err == nil {
		t.Error("a closed file was written")
	}
}
