package host_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/hashicorp/go-hclog"

	"github.com/draft-sessions/dsh-draft-sessions/host"
	pb "github.com/draft-sessions/dsh-draft-sessions/shared/proto/draftsessionsv1"
)

// A host with drafts: it never waits for the plugin, tells what it hears of it, and
// ends it when it is told to end itself.
func ExampleSupervise() {
	ctx, stop := host.UntilSignal(context.Background())
	defer stop()

	home := filepath.Join(os.Getenv("HOME"), ".myhost")
	drafts := host.Supervise(ctx, host.Supervision{
		Options: host.Options{
			Binary:          "/usr/lib/myhost/draft-sessions",
			RequireManifest: true,
			Store:           filepath.Join(home, "drafts.json"),
			Sessions:        newFakeSessions(), // the host's own sessions
			Name:            "myhost",
			Version:         "1.0.0",
			Log:             hclog.Default().Named("drafts"),
		},
		Ready: func(ctx context.Context, p *host.Plugin) error {
			_, err := p.Client.GetSidebar(ctx, &pb.SidebarRequest{}) // what a page begins with
			return err
		},
	})
	defer drafts.Close()

	go func() {
		for status := range drafts.Changes(ctx) {
			fmt.Println(status.Mode, status.Reasons)
		}
	}()

	// For each thing that a person does:
	client, err := drafts.Client()
	if err != nil {
		log.Print(err) // drafts are paused or off: the rest of the host works
		return
	}
	if _, err := client.NewDraft(ctx, &pb.NewDraftRequest{WorkspaceId: "w1"}); err != nil {
		log.Print(err)
	}
	<-drafts.Done()
}
