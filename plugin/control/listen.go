package control

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
	pb "github.com/draft-sessions/dsh-draft-sessions/shared/proto/draftsessionsv1"
)

const (
	// socketFolder begins the name of a folder made for a socket whose path beside
	// the draft file would be too long.
	socketFolder = "draft-sessions-"
	// maxSocketPath is what every system takes, in bytes (macOS: 104 with the NUL).
	maxSocketPath = 100
)

// Options configure [Listen].
type Options struct {
	// Store is the draft file; required.
	Store string
	// Service answers the calls.
	Service pb.DraftSessionsServer
	// Unary runs around every call; it gives errors their codes.
	Unary grpc.UnaryServerInterceptor
	// Log gets what happened; nil logs nothing.
	Log hclog.Logger

	uid uint32 // who may call; the process's own user in Listen
}

// Server is an open control socket.
type Server struct {
	entry  Entry
	grpc   *grpc.Server
	served sync.WaitGroup
	close  sync.Once
}

// Listen opens the control socket of this process and writes its entry. End with
// [Server.Close]. It creates the folder run beside the draft file, mode 0700, and
// sweeps the entries of processes that are gone. Errors: DRAFT_STORAGE_IO.
func Listen(o Options) (*Server, error) {
	o.uid = uint32(os.Getuid()) // #nosec G115 -- user ids have 32 bits
	return listen(o)
}

func listen(o Options) (*Server, error) {
	if o.Log == nil {
		o.Log = hclog.NewNullLogger()
	}
	store := resolved(o.Store)
	if err := privateFolder(runFolder(store)); err != nil {
		return nil, shared.Errorf(shared.StorageIO, "make the folder of the control socket: %w", err)
	}
	if _, err := entries(store); err != nil { // Sweeps.
		o.Log.Warn("cannot look for stale control sockets", "error", err)
	}
	path, err := socketPath(store)
	if err != nil {
		return nil, shared.Errorf(shared.StorageIO, "make the folder of the control socket: %w", err)
	}
	entry := Entry{PID: os.Getpid(), Started: startOf(os.Getpid()), Machine: machine(), Socket: path, Store: store}
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		entry.remove()
		return nil, shared.Errorf(shared.StorageIO, "open the control socket: %w", err)
	}
	// Its folder is private already, so nobody came in before this.
	err = os.Chmod(path, 0o600)
	if err == nil {
		err = entry.write()
	}
	if err != nil {
		err = errors.Join(err, listener.Close())
		entry.remove()
		return nil, shared.Errorf(shared.StorageIO, "open the control socket: %w", err)
	}
	s := &Server{entry: entry, grpc: grpcServer(o)}
	pb.RegisterDraftSessionsServer(s.grpc, o.Service)
	s.served.Go(func() {
		if err := s.grpc.Serve(&checked{UnixListener: listener, uid: o.uid, log: o.Log}); err != nil {
			o.Log.Warn("the control socket ended", "error", err)
		}
	})
	return s, nil
}

// Entry is what the server wrote of itself.
func (s *Server) Entry() Entry { return s.entry }

// Close ends the calls under way and removes socket and entry.
func (s *Server) Close() {
	s.close.Do(func() {
		s.entry.remove()
		s.grpc.Stop()
		s.served.Wait()
	})
}

func grpcServer(o Options) *grpc.Server {
	unary := []grpc.UnaryServerInterceptor{
		func(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
			if !allowed[filepath.Base(info.FullMethod)] {
				return nil, refused(info.FullMethod)
			}
			return handler(ctx, req)
		},
	}
	if o.Unary != nil {
		unary = append(unary, o.Unary)
	}
	return grpc.NewServer(
		grpc.WaitForHandlers(true), // What they use is closed after the server.
		grpc.MaxRecvMsgSize(shared.MaxMessageBytes),
		grpc.MaxSendMsgSize(shared.MaxMessageBytes),
		grpc.ChainUnaryInterceptor(unary...),
		grpc.StreamInterceptor(func(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
			if !allowed[filepath.Base(info.FullMethod)] {
				return refused(info.FullMethod)
			}
			return handler(srv, stream)
		}),
	)
}

func refused(method string) error {
	return status.Errorf(codes.PermissionDenied, "%s is for the host alone", filepath.Base(method))
}

// socketPath is beside the entries, or in a private folder of its own where that
// path would be too long for a socket.
func socketPath(store string) (string, error) {
	name := strconv.Itoa(os.Getpid()) + ".sock"
	path := filepath.Join(runFolder(store), name)
	if len(path) <= maxSocketPath {
		// What an earlier process of this id left.
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", err
		}
		return path, nil
	}
	for _, parent := range []string{os.TempDir(), "/tmp"} {
		// Hosts sweep the folders of processes that are gone by the id in their names.
		prefix := fmt.Sprintf("%s%d-", socketFolder, os.Getpid())
		if len(filepath.Join(parent, prefix+"0123456789", name)) <= maxSocketPath {
			dir, err := os.MkdirTemp(parent, prefix) // Mode 0700.
			return filepath.Join(dir, name), err
		}
	}
	return "", errors.New("no folder with a path short enough for a socket")
}

// privateFolder makes a folder that nobody else may look into.
func privateFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.Chmod(dir, 0o700) // #nosec G302 -- a folder
}

// checked accepts connections of one user only.
type checked struct {
	*net.UnixListener
	uid uint32
	log hclog.Logger
}

func (l *checked) Accept() (net.Conn, error) {
	for {
		conn, err := l.AcceptUnix()
		if err != nil {
			return nil, err
		}
		uid, pid, err := peer(conn)
		if err == nil && uid == l.uid {
			return conn, nil
		}
		l.log.Warn("refused a connection to the control socket", "uid", uid, "pid", pid, "error", err)
		_ = conn.Close() // It was nobody's.
	}
}
