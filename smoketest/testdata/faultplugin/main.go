// Command faultplugin is the real plugin, which kills itself where the file "fault"
// beside it says: "before Edit", "after Edit" for a call of the host's, "before
// host.CreateSession", "after host.CreateSession" for one of its own. After means
// that the effect was had and nobody was told. A fault happens once: its file is
// renamed to "fault.hit" right before.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"google.golang.org/grpc"

	draftsessions "github.com/draft-sessions/dsh-draft-sessions"
	"github.com/draft-sessions/dsh-draft-sessions/plugin"
	pb "github.com/draft-sessions/dsh-draft-sessions/shared/proto/draftsessionsv1"
)

func main() {
	config, err := plugin.ConfigFromEnv("0.0.0", draftsessions.Compatibility)
	if err == nil {
		config.ServerOptions = []grpc.ServerOption{grpc.ChainUnaryInterceptor(unary), grpc.ChainStreamInterceptor(channel)}
		err = plugin.Serve(config)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// fault ends the process when it is that fault's turn.
func fault(when, call string) {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	path := filepath.Join(filepath.Dir(self), "fault")
	wanted, err := os.ReadFile(path)
	if err != nil || strings.TrimSpace(string(wanted)) != when+" "+call {
		return
	}
	if os.Rename(path, path+".hit") == nil { // of several calls at once, one
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
}

func unary(ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	name := info.FullMethod[strings.LastIndex(info.FullMethod, "/")+1:]
	fault("before", name)
	answer, err := handler(ctx, request)
	fault("after", name)
	return answer, err
}

func channel(server any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	if !strings.HasSuffix(info.FullMethod, "/HostChannel") {
		return handler(server, stream)
	}
	return handler(server, &watched{stream})
}

// watched is the host channel, on which the plugin calls its host.
type watched struct{ grpc.ServerStream }

func (w *watched) SendMsg(m any) error {
	if call, ok := m.(*pb.HostCall); ok && call.Call != nil {
		fault("before", "host."+member(call.Call))
	}
	return w.ServerStream.SendMsg(m)
}

func (w *watched) RecvMsg(m any) error {
	err := w.ServerStream.RecvMsg(m)
	if reply, ok := m.(*pb.HostReply); ok && err == nil && reply.Reply != nil {
		fault("after", "host."+member(reply.Reply))
	}
	return err
}

// member is the name of a oneof's member: "CreateSession" of *pb.HostCall_CreateSession.
func member(oneof any) string {
	name := fmt.Sprintf("%T", oneof)
	return name[strings.LastIndex(name, "_")+1:]
}
