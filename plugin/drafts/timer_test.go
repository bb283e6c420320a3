package drafts

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// runTimer is a process that saves to its own draft without rest and tells how
// long each save took.
func runTimer(path string) {
	ctx, name := context.Background(), os.Getenv(sharerNameEnv)
	count, _ := strconv.Atoi(os.Getenv(sharerCountEnv))
	s, err := Open(ctx, Options{Path: path, LimitPerWorkspace: 1 << 20})
	if err != nil {
		fmt.Println("failed", err)
		return
	}
	defer func() { _ = s.Close() }() // The process ends.
	if _, err := s.Create(ctx, CreateParams{ID: "timer-" + name, WorkspaceID: "w", Text: "0"}); err != nil {
		fmt.Println("failed", err)
		return
	}
	time.Sleep(300 * time.Millisecond) // Until the others have begun too.
	for i := range count {
		begun := time.Now()
		if _, err := s.Modify(ctx, "timer-"+name, func(r *shared.DraftRecord) error { r.Text = strconv.Itoa(i + 1); return nil }); err != nil {
			fmt.Println("failed", err)
			return
		}
		fmt.Println(time.Since(begun).Nanoseconds())
	}
}
