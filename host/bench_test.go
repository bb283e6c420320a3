package host_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/draft-sessions/dsh-draft-sessions/host"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

type bareClient struct {
	goplugin.NetRPCUnsupportedPlugin
}

func (bareClient) GRPCServer(*goplugin.GRPCBroker, *grpc.Server) error { return nil }

func (bareClient) GRPCClient(_ context.Context, _ *goplugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return conn, nil
}

// BenchmarkStart measures exec to first answer, in turns with a bare go-plugin
// binary: the medians and their ratio (ours also opens the draft file and the
// host channel).
func BenchmarkStart(b *testing.B) {
	bare := filepath.Join(b.TempDir(), "bare")
	if out, err := exec.Command("go", "build", "-o", bare, "./testdata/bareplugin").CombinedOutput(); err != nil {
		b.Fatalf("%s", out)
	}
	store := filepath.Join(b.TempDir(), "drafts.json")
	var ours, theirs []time.Duration
	for b.Loop() {
		started := time.Now()
		p, err := host.Launch(b.Context(), host.Options{Binary: binary, Store: store, Sessions: newFakeSessions(), Name: "bench"})
		if err != nil {
			b.Fatal(err)
		}
		ours = append(ours, time.Since(started))
		p.Close()

		started = time.Now()
		client := goplugin.NewClient(&goplugin.ClientConfig{
			HandshakeConfig:  goplugin.HandshakeConfig{ProtocolVersion: shared.ProtocolVersion, MagicCookieKey: shared.MagicCookieKey, MagicCookieValue: shared.MagicCookieValue},
			Plugins:          goplugin.PluginSet{shared.PluginName: bareClient{}},
			Cmd:              exec.Command(bare),
			AutoMTLS:         true,
			AllowedProtocols: []goplugin.Protocol{goplugin.ProtocolGRPC},
			Logger:           hclog.NewNullLogger(),
		})
		protocol, err := client.Client()
		if err != nil {
			b.Fatal(err)
		}
		if err := protocol.Ping(); err != nil {
			b.Fatal(err)
		}
		theirs = append(theirs, time.Since(started))
		client.Kill()
	}
	slices.Sort(ours)
	slices.Sort(theirs)
	median, baseline := ours[len(ours)/2], theirs[len(theirs)/2]
	b.ReportMetric(float64(median)/1e6, "ms-ours")
	b.ReportMetric(float64(baseline)/1e6, "ms-bare")
	b.ReportMetric(float64(median)/float64(baseline), "ratio")
}
