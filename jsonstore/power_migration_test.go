package jsonstore

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// Taking over an older version is safe wherever the power is cut, also when
// syncing the folder fails now and then: until the new file is there the old one
// is, byte for byte, and from then on its copy beside it. What is acknowledged is
// there and stays.
func TestPowerCutDuringAMigration(t *testing.T) {
	for _, failing := range [][]int{{}, {1}, {2}, {1, 2}, {1, 3}, {2, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}} {
		o := quiet(filepath.Join(t.TempDir(), "list.json"))
		write(t, o.Path, version1)
		syncs := 0
		r := &recorder{fail: func(op operation) bool {
			if op.kind == "syncdir" {
				syncs++
			}
			return op.kind == "syncdir" && slices.Contains(failing, syncs)
		}}
		o.FS = r
		s := open(t, o)
		for range 6 {
			_, err := s.Update(t.Context(), add("three"))
			if err == nil {
				must(t, r.add(operation{kind: "ack", words: 3}))
				break
			}
			if code := shared.CodeOf(err); code != shared.StorageIO && code != shared.StorageUncertain {
				t.Fatal(err)
			}
		}
		acknowledged := slices.ContainsFunc(r.log, func(op operation) bool { return op.kind == "ack" })
		if acknowledged != (len(failing) < 6) {
			t.Errorf("with syncs %v failing it is acknowledged: %v", failing, acknowledged)
		}
		cutMigration(t, r.log, s.State().Path)
	}
}

// cutMigration cuts the power after each operation.
func cutMigration(t *testing.T, log []operation, path string) {
	t.Helper()
	before := &inode{data: []byte(version1), synced: true}
	d := &simulated{cached: map[string]*inode{path: before}, certain: map[string]*inode{path: before}}
	acknowledged := 0
	for i, op := range log {
		d.apply(op)
		acknowledged = max(acknowledged, op.words)
		for _, names := range d.namings() {
			copies := contents(names[backupName(path, 1, 1)])
			for _, content := range contents(names[path]) {
				if content == version1 && acknowledged == 0 {
					continue
				}
				l, err := listFormat.Decode([][]byte{[]byte(content)}, Encoded[*list]{})
				if err != nil || len(l.Doc.Words) != 3 {
					t.Errorf("after operation %d, %s, the file is %q", i, op.kind, content)
				}
				if len(copies) != 1 || copies[0] != version1 {
					t.Errorf("after operation %d, %s, the file is new and its copy may be %q", i, op.kind, copies)
				}
			}
		}
	}
}
