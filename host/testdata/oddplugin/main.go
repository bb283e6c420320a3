// Command oddplugin speaks go-plugin's handshake and then does what ODD says:
// it stands in for a plugin that lies or hangs where the real one cannot be made to.
package main

import (
	"context"
	"errors"
	"os"

	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
	pb "github.com/draft-sessions/dsh-draft-sessions/shared/proto/draftsessionsv1"
)

type odd struct {
	goplugin.NetRPCUnsupportedPlugin
	pb.UnimplementedDraftSessionsServer
	how string
}

func (o *odd) GRPCServer(_ *goplugin.GRPCBroker, s *grpc.Server) error {
	pb.RegisterDraftSessionsServer(s, o)
	return nil
}

func (*odd) GRPCClient(context.Context, *goplugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, errors.New("no client here")
}

func (o *odd) Info(context.Context, *pb.InfoRequest) (*pb.InfoResponse, error) {
	switch o.how {
	case "mute":
		select {}
	case "another protocol":
		return &pb.InfoResponse{Protocol: shared.ProtocolVersion + 1}, nil
	}
	return &pb.InfoResponse{Protocol: shared.ProtocolVersion}, nil
}

func (*odd) Gate(context.Context, *pb.GateRequest) (*pb.GateResponse, error) {
	return &pb.GateResponse{Mode: "full"}, nil
}

func (o *odd) HostChannel(pb.DraftSessions_HostChannelServer) error {
	if o.how == "never ready" {
		select {}
	}
	return errors.New("no channel today")
}

func main() {
	goplugin.Serve(&goplugin.ServeConfig{
		HandshakeConfig: goplugin.HandshakeConfig{
			ProtocolVersion:  shared.ProtocolVersion,
			MagicCookieKey:   shared.MagicCookieKey,
			MagicCookieValue: shared.MagicCookieValue,
		},
		Plugins:    goplugin.PluginSet{shared.PluginName: &odd{how: os.Getenv("ODD")}},
		GRPCServer: goplugin.DefaultGRPCServer,
	})
}
