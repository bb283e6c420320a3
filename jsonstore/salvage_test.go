package jsonstore

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// salvageable is the list format of which every line that is a word can be salvaged.
func salvageable() Format[*list] {
	f := listFormat
	f.Records = func(l *list) int { return len(l.Words) }
	f.Salvage = func(data []byte) (*list, int) {
		l, lost := f.Empty(), 0
		for line := range bytes.Lines(data) {
			if word := strings.TrimSpace(string(line)); strings.Trim(word, "abcdefghijklmnopqrstuvwxyz") == "" {
				l.Words = append(l.Words, word)
			} else {
				lost++
			}
		}
		return l, lost
	}
	return f
}

// Invariant 7: what is whole of a malformed file is put back when it is not less
// than the newest backup has, or when a person wants it; the file is kept anyway.
func TestRepairFromTheFileItself(t *testing.T) {
	for name, c := range map[string]struct {
		file     string
		from     Source
		words    string
		salvaged bool
		lost     int
	}{
		"more than the backup":          {"{\na\nb\nc\nd\n", FromBest, "a b c d", true, 1},
		"as much as the backup":         {"a\nb\nc\n{\n", FromBest, "a b c", true, 1},
		"less than the backup":          {"a\nb\n{\n", FromBest, "one two three", false, 0},
		"nothing of the file":           {"{\n", FromBest, "one two three", false, 0},
		"the backup, by wish":           {"{\na\nb\nc\nd\n", FromBackup, "one two three", false, 0},
		"the file, by wish":             {"a\n{\n", FromFile, "a", true, 1},
		"a file that knows its version": {"{\"version\":2,\"generation\":90,\na\nb\nc\nd\n", FromBest, "a b c d", true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			o, _ := withBackups(t)
			backups := kept(t, o.Path)
			// The last one holds four words; without it the newest holds three.
			if len(backups) == 4 {
				must(t, os.Remove(filepath.Join(filepath.Dir(o.Path), BackupFolder, backups[3])))
			}
			write(t, o.Path, c.file)
			running := open(t, o)
			report, _, err := Inspect(salvageable(), o)
			if err != nil || (report.Salvage != nil) != strings.Contains(c.file, "a") {
				t.Errorf("%+v, %v", report.Salvage, err)
			}
			if report.Backups[0].Records != 3 {
				t.Errorf("the backup holds %d", report.Backups[0].Records)
			}
			done, err := Repair(t.Context(), salvageable(), o, c.from)
			if err != nil {
				t.Fatal(err)
			}
			if done.Salvaged != c.salvaged || done.Lost != c.lost || done.Records != len(strings.Fields(c.words)) || done.At.IsZero() || done.Restored == "" {
				t.Errorf("%+v", done)
			}
			if read(t, done.SetAside) != c.file {
				t.Error("the malformed file was not kept")
			}
			if err := running.Refresh(t.Context()); err != nil || words(running) != c.words {
				t.Errorf("%v, running stores have %q", err, words(running))
			}
			if strings.Contains(c.file, "90") && done.Generation != 91 || done.Generation < 4 {
				t.Errorf("generation %d", done.Generation)
			}
		})
	}
}

func TestNothingToSalvage(t *testing.T) {
	o, _ := withBackups(t)
	must(t, os.RemoveAll(filepath.Join(filepath.Dir(o.Path), BackupFolder)))
	for file, code := range map[string]shared.Code{"{\n": shared.StorageInvalid, `{"version":3}` + "\na\n": shared.StorageUnsupported, `{"version":1,` + "\na\n": shared.StorageInvalid} {
		write(t, o.Path, file)
		_, err := Repair(t.Context(), salvageable(), o, FromFile)
		if shared.CodeOf(err) != code || read(t, o.Path) != file {
			t.Errorf("%q: %v", file, err)
		}
	}
}
