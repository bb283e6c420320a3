package bridge

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"go.uber.org/goleak"

	"github.com/draft-sessions/dsh-draft-sessions/host"
	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/fault"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
	"github.com/draft-sessions/dsh-draft-sessions/shared/compat"
	pb "github.com/draft-sessions/dsh-draft-sessions/shared/proto/draftsessionsv1"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func bridge() (*Bridge, chan State) {
	states := make(chan State, 10)
	return New(Options{Event: func(*pb.Event) {}, Changed: func(s State) { states <- s }, Log: hclog.NewNullLogger()}), states
}

// Invariant 8: while the plugin is away, ordinary sessions go on as in stock. A
// draft's session waits: its draft would stay behind as if it were unsent.
func TestPromptsWhileThePluginIsAway(t *testing.T) {
	b, _ := bridge()
	b.sidebar = &pb.Sidebar{SessionIds: []string{"drafts"}}
	ctx := context.Background()
	if err := b.BeforePrompt(ctx, "ordinary", "p", "text"); err != nil {
		t.Errorf("%v", err)
	}
	if err := b.BeforePrompt(ctx, "drafts", "p", "text"); fault.CodeOf(err) != fault.PluginUnavailable {
		t.Errorf("%v", err)
	}
	b.set(away(host.Status{Mode: host.Stock}))
	if err := b.BeforePrompt(ctx, "drafts", "p", "text"); err != nil {
		t.Errorf("without drafts: %v", err)
	}
	if _, err := b.Client(); fault.CodeOf(err) != fault.PluginUnavailable {
		t.Errorf("%v", err)
	}
	b.AfterPrompt(ctx, "drafts", "p", true) // has nobody to tell, and does no harm
	b.Close()
}

// A plugin that cannot start leaves a host without drafts that says why.
func TestPluginThatCannotStart(t *testing.T) {
	b, states := bridge()
	b.Start(host.Options{Binary: t.TempDir() + "/none", Store: t.TempDir() + "/drafts.json", Sessions: &Offers{}, Name: "standalone"})
	defer b.Close()
	select {
	case s := <-states:
		if s.Mode != ModeStock || !strings.HasPrefix(s.Message, "The drafts are off.") || len(s.Message) < 25 {
			t.Errorf("%+v", s)
		}
	case <-time.After(time.Minute):
		t.Error("nothing was said")
	}
}

func TestStates(t *testing.T) {
	for mode, want := range map[host.Mode]string{host.Starting: "opened", host.Paused: "paused", host.Stock: "off. Because."} {
		if s := away(host.Status{Mode: mode, Reasons: []compat.Reason{{Message: "Because."}}}); !strings.Contains(s.Message, want) || (s.Mode == ModeStock) != (mode == host.Stock) || s.Epoch != "" {
			t.Errorf("%s: %+v", mode, s)
		}
	}
}

// The plugin takes a refusal for one of the session's id only when it is one:
// trouble with the disk may pass.
func TestRefusals(t *testing.T) {
	var refused *host.Refusal
	if err := refusal(fault.Errorf(fault.SessionConflict, "x")); !errors.As(err, &refused) || refused.Code != "session-conflict" {
		t.Errorf("%v", err)
	}
	if err := refusal(fault.Errorf(fault.Storage, "x")); shared.CodeOf(err) != shared.SessionUnavailable || errors.As(err, &refused) && refused.Code == "storage" {
		t.Errorf("%v", err)
	}
	if err := refusal(context.Canceled); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if err := refusal(nil); err != nil {
		t.Errorf("%v", err)
	}
}
