// Package plugin is the plugin process: it serves the draft store, the editors
// and the binding of drafts over gRPC to the host that started it. [Serve] is
// the whole process; the command "draft-sessions plugin" calls nothing else.
//
// The process ends when its host channel ends, on SIGTERM, and when a host asks
// go-plugin to shut it down. In each case accepted edits are saved first.
package plugin

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/google/uuid"
	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/draft-sessions/dsh-draft-sessions/plugin/composer"
	"github.com/draft-sessions/dsh-draft-sessions/plugin/control"
	"github.com/draft-sessions/dsh-draft-sessions/plugin/drafts"
	"github.com/draft-sessions/dsh-draft-sessions/plugin/sessions"
	"github.com/draft-sessions/dsh-draft-sessions/plugin/sidebar"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
	"github.com/draft-sessions/dsh-draft-sessions/shared/compat"
	pb "github.com/draft-sessions/dsh-draft-sessions/shared/proto/draftsessionsv1"
)

const (
	// hostCallTimeout bounds one call to the host.
	hostCallTimeout = 15 * time.Second
	// lastSaves is how long an ending process waits for its last saves.
	lastSaves = 5 * time.Second
	// lonely is how long a process without a host channel stays.
	lonely = 60 * time.Second
)

// Config is what the plugin process is started with.
type Config struct {
	// Version is the version of the binary.
	Version string
	// Compatibility is the content of compatibility.json.
	Compatibility []byte
	// StorePath is the draft file; its folder is made when needed.
	StorePath string
	// LimitPerWorkspace is the number of drafts in one workspace, the default when 0.
	LimitPerWorkspace int
	// LogLevel is an hclog level, "info" when empty.
	LogLevel string
	// ServerOptions are further options of the gRPC server. The fault tests stand
	// between host and plugin with them.
	ServerOptions []grpc.ServerOption
}

// ConfigFromEnv reads what a host passes in the environment (package shared).
// Code: DRAFT_INVALID_INPUT.
func ConfigFromEnv(version string, compatibility []byte) (Config, error) {
	c := Config{Version: version, Compatibility: compatibility, StorePath: os.Getenv(shared.EnvStore), LogLevel: os.Getenv(shared.EnvLogLevel)}
	if c.StorePath == "" {
		return c, shared.Errorf(shared.DraftInvalidInput, "%s names no draft file", shared.EnvStore)
	}
	if v := os.Getenv(shared.EnvLimitPerWorkspace); v != "" {
		limit, err := strconv.Atoi(v)
		if err != nil || limit < shared.MinDraftsPerWorkspace {
			return c, shared.Errorf(shared.DraftInvalidInput, "%s must be a number of at least %d", shared.EnvLimitPerWorkspace, shared.MinDraftsPerWorkspace)
		}
		c.LimitPerWorkspace = limit
	}
	return c, nil
}

// Serve runs the plugin process until its host ends it. When it returns, every
// accepted edit is on disk; the error tells what could not be saved.
func Serve(config Config) error {
	log := hclog.New(&hclog.LoggerOptions{
		Name:       "plugin",
		Level:      hclog.LevelFromString(config.LogLevel),
		Output:     os.Stderr, // stdout belongs to the handshake
		JSONFormat: true,
	})
	p, err := start(config, log)
	if err != nil {
		log.Error("the plugin cannot start", "code", shared.CodeOf(err), "error", err)
		return err
	}
	goplugin.Serve(&goplugin.ServeConfig{
		HandshakeConfig: Handshake(),
		Plugins:         goplugin.PluginSet{shared.PluginName: &grpcPlugin{server: p.server}},
		GRPCServer:      p.grpcServer,
		Logger:          log,
	})
	return p.stop()
}

// Handshake is the go-plugin handshake of package shared.
func Handshake() goplugin.HandshakeConfig {
	return goplugin.HandshakeConfig{
		ProtocolVersion:  shared.ProtocolVersion,
		MagicCookieKey:   shared.MagicCookieKey,
		MagicCookieValue: shared.MagicCookieValue,
	}
}

type grpcPlugin struct {
	goplugin.NetRPCUnsupportedPlugin
	server *server
}

func (p *grpcPlugin) GRPCServer(_ *goplugin.GRPCBroker, s *grpc.Server) error {
	pb.RegisterDraftSessionsServer(s, p.server)
	return nil
}

func (p *grpcPlugin) GRPCClient(context.Context, *goplugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, errors.New("package host is the client")
}

// process is everything that lives as long as the plugin process.
type process struct {
	log     hclog.Logger
	options []grpc.ServerOption
	server  *server

	ending  chan struct{} // closed when the process shall end
	endOnce sync.Once
	here    chan struct{} // closed when a host channel was opened
	lonely  time.Duration // how long it stays without one
	tasks   sync.WaitGroup
	done    chan struct{} // closed when tasks shall end

	mu      sync.Mutex // guards what follows
	grpc    *grpc.Server
	control *control.Server
	stopped bool
}

func start(config Config, log hclog.Logger) (*process, error) {
	compatible, err := compat.Parse(config.Compatibility)
	if err != nil {
		return nil, err
	}
	store, err := drafts.Open(context.Background(), drafts.Options{Path: config.StorePath, LimitPerWorkspace: config.LimitPerWorkspace, Log: log.Named("drafts")})
	if err != nil {
		return nil, err
	}
	s := newServer(config, compatible, store, log)
	p := &process{log: log, options: config.ServerOptions, lonely: lonely, ending: make(chan struct{}), here: make(chan struct{}), done: make(chan struct{})}
	s.hostGone = p.end
	var hereOnce sync.Once
	s.hostHere = func() {
		hereOnce.Do(func() {
			close(p.here)
			p.listen()
		})
	}
	p.server = s
	p.tasks.Go(func() { s.hub.run(p.done) })
	p.tasks.Go(p.watchEnd)
	return p, nil
}

// newServer is the service over an open store. Only its editors and sessions run
// anything by themselves, and only when they are used.
func newServer(config Config, compatible *compat.Table, store *drafts.Store, log hclog.Logger) *server {
	s := &server{config: config, compatible: compatible, epoch: uuid.NewString(), store: store, channel: &channel{}}
	s.hub = newHub(s.renderSidebar)
	s.editors = composer.New(s.epoch, composer.Options{
		Store:    store,
		Log:      log.Named("composer"),
		Saved:    s.saved,
		NotSaved: s.hub.notSaved,
		Changed:  s.hub.changed,
	})
	s.sessions = sessions.New(sessions.Options{
		Store:   store,
		Host:    s.channel,
		Editors: s.editors,
		Log:     log.Named("sessions"),
		Notify:  s.hub.notify,
	})
	store.Subscribe(func(before, after *shared.Document) { s.hub.documentChanged(before, after, s.editors) })
	return s
}

func (s *server) renderSidebar(notices []*pb.Notice) *pb.Sidebar {
	doc := s.store.Snapshot()
	return &pb.Sidebar{
		Epoch:      s.epoch,
		Rows:       sidebar.Rows(doc, s.editors.SaveStates()),
		SessionIds: sidebar.SessionIDs(doc),
		Notices:    notices,
		TrashCount: int64(len(drafts.Trashed(doc, time.Now()))),
		Storage:    s.storage(),
	}
}

// saved tells the pages, and that a late edit became a draft of its own.
func (s *server) saved(saved composer.Saved) {
	if saved.NewDraftID != "" && saved.FirstOfNew {
		kind := noticeLateEdit
		if saved.Lost {
			kind = noticeLost
		}
		s.hub.notify(kind, saved.Record)
	}
	s.hub.saved(saved)
}

const (
	// noticeLateEdit: text arrived after its draft was sent or deleted.
	noticeLateEdit = "late_edit"
	// noticeLost: the draft file was replaced by one without the draft.
	noticeLost = "lost"
)

func pid() int { return os.Getpid() }

func (p *process) end() { p.endOnce.Do(func() { close(p.ending) }) }

// listen opens the control socket, once a host is there. Without it everything
// else works as it does.
func (p *process) listen() {
	socket, err := control.Listen(control.Options{Store: p.server.store.State().Path, Service: p.server, Unary: codedUnary, Log: p.log.Named("control")})
	if err != nil {
		p.log.Warn("there is no control socket for commands", "error", err)
		return
	}
	p.mu.Lock()
	late := p.stopped
	p.control = socket
	p.mu.Unlock()
	if late {
		socket.Close()
	}
}

// watchEnd ends the gRPC server, and with it Serve, when the host is gone, was
// never there, or the process is told to end.
func (p *process) watchEnd() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM)
	defer signal.Stop(signals)
	alone := time.NewTimer(p.lonely)
	defer alone.Stop()
	select {
	case <-p.here:
	case <-alone.C:
		p.log.Warn("no host opened its channel; ending")
		p.stopServing()
		return
	case <-signals:
		p.stopServing()
		return
	case <-p.ending:
		p.stopServing()
		return
	case <-p.done:
		return
	}
	select {
	case <-p.ending:
		p.log.Info("the host is gone; ending")
	case <-signals:
		p.log.Info("told to end")
	case <-p.done:
		return
	}
	p.stopServing()
}

func (p *process) stopServing() {
	p.mu.Lock()
	server := p.grpc
	p.mu.Unlock()
	if server != nil {
		server.Stop()
	}
}

func (p *process) grpcServer(opts []grpc.ServerOption) *grpc.Server {
	opts = append(append(opts, p.options...),
		grpc.MaxRecvMsgSize(shared.MaxMessageBytes),
		grpc.MaxSendMsgSize(shared.MaxMessageBytes),
		grpc.ChainUnaryInterceptor(codedUnary),
	)
	server := grpc.NewServer(opts...)
	p.mu.Lock()
	p.grpc = server
	p.mu.Unlock()
	return server
}

// stop saves what is pending and closes everything, in the order of what uses what.
func (p *process) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), lastSaves)
	defer cancel()
	p.mu.Lock()
	socket := p.control
	p.stopped = true
	p.mu.Unlock()
	if socket != nil {
		socket.Close()
	}
	err := p.server.editors.Stop(ctx)
	p.server.sessions.Stop()
	close(p.done)
	p.tasks.Wait()
	return errors.Join(err, p.server.store.Close())
}
