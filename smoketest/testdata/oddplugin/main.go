// Command oddplugin stands where the plugin binary should be and misbehaves as the
// file "odd" beside it says.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
	pb "github.com/draft-sessions/dsh-draft-sessions/shared/proto/draftsessionsv1"
)

func main() {
	path, err := os.Executable()
	if err != nil {
		panic(err)
	}
	raw, err := os.ReadFile(filepath.Join(filepath.Dir(path), "odd"))
	if err != nil {
		panic(err)
	}
	switch how := strings.TrimSpace(string(raw)); how {
	case "prints garbage":
		for range 100 {
			fmt.Println("this is no handshake")
		}
		hang()
	case "exits at once":
		fmt.Fprintln(os.Stderr, "these are its last words")
		os.Exit(3)
	case "never answers":
		hang()
	case "speaks another protocol":
		fmt.Printf("1|%d|unix|/nowhere|grpc|\n", shared.ProtocolVersion+1)
		hang()
	case "dies on every call":
		serve(func() { os.Exit(4) })
	case "answers, then hangs":
		serve(func() { _ = syscall.Kill(os.Getpid(), syscall.SIGSTOP) })
	default:
		panic("odd in a way that nobody knows: " + how)
	}
}

// hang stays for ever; a select without cases alone would be a deadlock to Go.
func hang() {
	for {
		time.Sleep(time.Hour)
	}
}

// serve shakes hands and does onCall with each call of the service.
func serve(onCall func()) {
	goplugin.Serve(&goplugin.ServeConfig{
		HandshakeConfig: goplugin.HandshakeConfig{
			ProtocolVersion: shared.ProtocolVersion, MagicCookieKey: shared.MagicCookieKey, MagicCookieValue: shared.MagicCookieValue,
		},
		Plugins:    goplugin.PluginSet{shared.PluginName: &odd{onCall: onCall}},
		GRPCServer: goplugin.DefaultGRPCServer,
	})
}

type odd struct {
	goplugin.NetRPCUnsupportedPlugin
	pb.UnimplementedDraftSessionsServer
	onCall func()
}

func (o *odd) GRPCServer(_ *goplugin.GRPCBroker, s *grpc.Server) error {
	pb.RegisterDraftSessionsServer(s, o)
	return nil
}

func (*odd) GRPCClient(context.Context, *goplugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, errors.New("no client here")
}

func (o *odd) Info(context.Context, *pb.InfoRequest) (*pb.InfoResponse, error) {
	o.onCall()
	return &pb.InfoResponse{Protocol: shared.ProtocolVersion}, nil
}
