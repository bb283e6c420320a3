// Command bareplugin is the least that go-plugin serves over gRPC: the baseline
// of the start benchmark. Its one call is the health check that go-plugin brings.
package main

import (
	"context"
	"errors"

	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

type nothing struct {
	goplugin.NetRPCUnsupportedPlugin
}

func (nothing) GRPCServer(*goplugin.GRPCBroker, *grpc.Server) error { return nil }

func (nothing) GRPCClient(context.Context, *goplugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, errors.New("no client here")
}

func main() {
	goplugin.Serve(&goplugin.ServeConfig{
		HandshakeConfig: goplugin.HandshakeConfig{
			ProtocolVersion:  shared.ProtocolVersion,
			MagicCookieKey:   shared.MagicCookieKey,
			MagicCookieValue: shared.MagicCookieValue,
		},
		Plugins:    goplugin.PluginSet{shared.PluginName: nothing{}},
		GRPCServer: goplugin.DefaultGRPCServer,
	})
}
