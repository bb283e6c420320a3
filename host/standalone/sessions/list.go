package sessions

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/fault"
)

// Query says which sessions to list.
type Query struct {
	// Path is a workspace's folder, "" for all.
	Path string
	// State is "open", "archived" or "trash".
	State string
	// Words must all be in the title or first message, whatever their case.
	Words string
	// Without are sessions to leave out while they are blank.
	Without map[string]bool
	// Limit is how many at most; Before is the cursor of an earlier answer.
	Limit  int
	Before string
}

// List lists sessions, newest first; next is "" when there are no more. total
// counts all that match.
func (s *Store) List(q Query) (page []Summary, next string, total int, err error) {
	at, id, err := parseCursor(q.Before)
	if err != nil {
		return nil, "", 0, err
	}
	words := strings.Fields(strings.ToLower(q.Words))
	all := s.summaries(func(st *state) bool {
		switch q.State {
		case "archived":
			if !st.Archived || st.TrashedAt > 0 {
				return false
			}
		case "trash":
			if st.TrashedAt == 0 {
				return false
			}
		default:
			if st.Archived || st.TrashedAt > 0 {
				return false
			}
		}
		if q.Path != "" && st.WorkspacePath != q.Path || st.Blank && q.Without[st.ID] {
			return false
		}
		text := strings.ToLower(st.Title + "\n" + st.firstMessage)
		return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
	})
	total = len(all)
	slices.SortFunc(all, func(a, b Summary) int {
		return cmp.Or(cmp.Compare(b.UpdatedAt, a.UpdatedAt), cmp.Compare(b.ID, a.ID))
	})
	if q.Before != "" {
		all = slices.DeleteFunc(all, func(x Summary) bool {
			return x.UpdatedAt > at || x.UpdatedAt == at && x.ID >= id
		})
	}
	if q.Limit > 0 && len(all) > q.Limit {
		all = all[:q.Limit]
		last := all[len(all)-1]
		next = strconv.FormatInt(last.UpdatedAt, 10) + "." + last.ID
	}
	return all, next, total, nil
}

func parseCursor(cursor string) (at int64, id string, err error) {
	if cursor == "" {
		return 0, "", nil
	}
	number, id, ok := strings.Cut(cursor, ".")
	at, convErr := strconv.ParseInt(number, 10, 64)
	if !ok || convErr != nil {
		return 0, "", fault.Errorf(fault.BadRequest, "that is no cursor of an earlier answer")
	}
	return at, id, nil
}

func (s *Store) summaries(want func(*state) bool) []Summary {
	s.mu.Lock()
	all := make([]*session, 0, len(s.sessions))
	for _, ses := range s.sessions {
		all = append(all, ses)
	}
	s.mu.Unlock()
	out := make([]Summary, 0, len(all))
	for _, ses := range all {
		ses.mu.Lock()
		if (ses.state.LastSeq > 0 || ses.state.Damaged != "") && want(ses.state) {
			out = append(out, s.summary(ses))
		}
		ses.mu.Unlock()
	}
	return out
}
