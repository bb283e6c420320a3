package desk

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"pgregory.net/rapid"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// What a list shows of an id finds that draft and no other.
func TestShortIdsAreUnique(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.OneOf(
			rapid.StringMatching(`[ab]{1,3}(-[ab]{1,12}){0,3}`),
			// As UUIDs of one moment are: alike for long.
			rapid.StringMatching(`01a22fa3-ae(cf|e2)-7d6c-98b7-81045[0-9a-f]{7}`),
		)
		ids := rapid.SliceOfNDistinct(id, 1, 20, plain).Draw(t, "ids")
		var all []candidate
		for _, id := range ids {
			all = append(all, candidate{id: id})
		}
		d := &Desk{}
		for id, short := range Short(ids) {
			if len(short) < min(shortest, len(id)) || !strings.HasPrefix(id, short) {
				t.Fatalf("%q is shown as %q", id, short)
			}
			if i, err := d.pick(short, all, "draft", ""); err != nil || all[i].id != id {
				t.Fatalf("%q of %q finds %v, %v", short, id, i, err)
			}
		}
	})
}

// Every code has an exit code of its own and something to say.
func TestEveryCodeHasItsExit(t *testing.T) {
	seen := map[int]shared.Code{}
	for code, exit := range exits {
		if other, taken := seen[exit]; taken {
			t.Errorf("%s and %s both end with %d", code, other, exit)
		}
		seen[exit] = code
		var out bytes.Buffer
		err := shared.Errorf(code, "what happened")
		Report(&out, err, false)
		if !strings.Contains(out.String(), "what happened") || !strings.Contains(out.String(), "kept: ") || !strings.Contains(out.String(), string(code)) {
			t.Errorf("%s is told as %q", code, out.String())
		}
		if ExitCode(err) != exit || advice[code].kept == "" {
			t.Errorf("%s: exit %d", code, ExitCode(err))
		}
	}
	if len(exits) != 12 || ExitCode(nil) != 0 || ExitCode(errors.New("strange")) != exits[shared.StorageIO] {
		t.Errorf("%d codes, an error without one ends with %d", len(exits), ExitCode(errors.New("strange")))
	}
}

func TestWhatATerminalWouldActOnIsReplaced(t *testing.T) {
	if got := Printable("a\x1b[31m\tb\nc\u202e\r"); got != "a�[31m\tb\nc��" {
		t.Errorf("%q", got)
	}
}
