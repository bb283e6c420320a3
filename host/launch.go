package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/draft-sessions/dsh-draft-sessions/shared"
	"github.com/draft-sessions/dsh-draft-sessions/shared/compat"
	"github.com/draft-sessions/dsh-draft-sessions/shared/manifest"
	pb "github.com/draft-sessions/dsh-draft-sessions/shared/proto/draftsessionsv1"
)

// Deadlines. Kill and Ping of go-plugin have none of their own and hang on a
// stopped process, so this package brings them.
const (
	defaultStart = 10 * time.Second
	defaultCall  = 10 * time.Second
	healthEvery  = 5 * time.Second
	healthWithin = 2 * time.Second
	healthMisses = 3
	closeWithin  = 2 * time.Second
	// killWithin is how long a killed process may take to be gone.
	killWithin = 2 * time.Second
)

// Options configure [Launch] and [Supervise].
type Options struct {
	// Binary is the draft-sessions binary, started as "draft-sessions plugin".
	Binary string
	// RequireManifest refuses a binary without a manifest beside it (package
	// manifest). A manifest that is there is always checked, and the binary against
	// it again in the moment of the start. Leave it out only for a binary that this
	// host was built with, such as its own.
	RequireManifest bool
	// Store is the draft file; one file belongs to one home of one host kind.
	Store string
	// Sessions is what the plugin asks of this host.
	Sessions Sessions
	// Name and Version tell the plugin who the host is; Name is required. A host that
	// compatibility.json does not name has only its protocol compared.
	Name, Version string
	// Facts are what the gate decides on, asked for once the process has told who it
	// is; nil is Name and Version. A request without a host or protocol gets this one's.
	Facts func(context.Context) (*pb.GateRequest, error)
	// Env are further entries "KEY=value" for the process. Of the host's own
	// environment it gets PATH, HOME, TMPDIR and the locale only.
	Env []string
	// Log takes the plugin's log lines; nil drops them.
	Log hclog.Logger
	// StartTimeout bounds the time to the first answer; 10 s when zero.
	StartTimeout time.Duration

	memory *memory // of a supervisor's processes, nil for a process alone
}

// Plugin is a running plugin process.
type Plugin struct {
	// Client calls the plugin. A call whose context has no deadline gets one of
	// 10 s; errors are *shared.Error where the plugin gave a code.
	Client pb.DraftSessionsClient
	// Info is what the process told of itself when it started.
	Info *pb.InfoResponse
	// Decision is the gate's: the capabilities that work, and what is not as tested.
	Decision *pb.GateResponse

	log     hclog.Logger
	client  *goplugin.Client
	cmd     *exec.Cmd
	process *os.Process
	stderr  *tail
	sockets string
	memory  *memory
	alone   bool // the memory is this process' own
	cancel  context.CancelFunc
	tasks   sync.WaitGroup
	gone    chan struct{}
	once    sync.Once
	dead    func() // closes gone

	mu     sync.Mutex // guards killed
	killed string     // why we have killed it
}

// Launch passes the gate: it checks the binary, starts the plugin process, asks it
// for its decision, opens the host channel and returns when the plugin is ready for
// calls that call back. The error is a [*StartError] that tells what happened and
// the last lines that the process wrote; no process is left then.
func Launch(ctx context.Context, o Options) (*Plugin, error) {
	if o.Sessions == nil {
		return nil, shared.Errorf(shared.DraftInvalidInput, "a host must offer its sessions")
	}
	if o.Log == nil {
		o.Log = hclog.NewNullLogger()
	}
	if o.StartTimeout == 0 {
		o.StartTimeout = defaultStart
	}
	secure, err := o.checkBinary()
	if err != nil {
		return nil, startError(err)
	}
	sockets, err := socketFolder(o.Log)
	if err != nil {
		return nil, startError(err)
	}
	p := &Plugin{log: o.Log, sockets: sockets, stderr: newTail(20), gone: make(chan struct{}), memory: o.memory}
	if p.memory == nil {
		p.memory, p.alone = newMemory(), true
	}
	p.dead = sync.OnceFunc(func() { close(p.gone) })
	if err := p.start(ctx, o, secure); err != nil {
		p.kill("") // it has accepted nothing that could be lost
		p.Close()
		return nil, startError(p.stderr.explain(err))
	}
	return p, nil
}

func (o Options) protocol() int { return shared.ProtocolVersion }

// checkBinary is the gate's first step. The result has go-plugin compare the
// checksum once more; it is used up by one start.
func (o Options) checkBinary() (*goplugin.SecureConfig, error) {
	found, err := manifest.Check(o.Binary, o.protocol())
	var miss *manifest.Error
	if !o.RequireManifest && errors.As(err, &miss) && miss.Reason.Code == manifest.Missing {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	sum, err := hex.DecodeString(found.SHA256)
	return &goplugin.SecureConfig{Checksum: sum, Hash: sha256.New()}, err
}

func (p *Plugin) start(ctx context.Context, o Options, secure *goplugin.SecureConfig) error {
	cmd := exec.Command(o.Binary, "plugin")
	ownGroup(cmd)
	cmd.Env = append(allowedEnv(), o.Env...)
	// go-plugin names the folder to its own runners only; elsewhere the socket of a
	// killed process would stay for good.
	cmd.Env = append(cmd.Env, shared.EnvStore+"="+o.Store, goplugin.EnvUnixSocketDir+"="+p.sockets)
	p.client = goplugin.NewClient(&goplugin.ClientConfig{
		HandshakeConfig:  goplugin.HandshakeConfig{ProtocolVersion: shared.ProtocolVersion, MagicCookieKey: shared.MagicCookieKey, MagicCookieValue: shared.MagicCookieValue},
		Plugins:          goplugin.PluginSet{shared.PluginName: &clientPlugin{}},
		Cmd:              cmd,
		SecureConfig:     secure,
		SkipHostEnv:      true,
		AutoMTLS:         true,
		AllowedProtocols: []goplugin.Protocol{goplugin.ProtocolGRPC},
		StartTimeout:     o.StartTimeout,
		Logger:           o.Log,
		SyncStdout:       discard{},
		SyncStderr:       discard{},
		Stderr:           p.stderr,
		GRPCDialOptions: []grpc.DialOption{
			grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(shared.MaxMessageBytes), grpc.MaxCallSendMsgSize(shared.MaxMessageBytes)),
			grpc.WithChainUnaryInterceptor(withDeadline, withCode),
		},
	})
	protocol, err := p.client.Client()
	p.cmd, p.process = cmd, cmd.Process
	if err != nil {
		return handshakeError(fmt.Errorf("starting the plugin: %w", err), filepath.Base(o.Binary))
	}
	raw, err := protocol.Dispense(shared.PluginName)
	if err != nil {
		return fmt.Errorf("connecting to the plugin: %w", err)
	}
	p.Client = raw.(pb.DraftSessionsClient)

	startCtx, cancelStart := context.WithTimeout(ctx, o.StartTimeout)
	defer cancelStart()
	if p.Info, err = p.Client.Info(startCtx, &pb.InfoRequest{}); err != nil {
		return fmt.Errorf("asking the plugin who it is: %w", err)
	}
	if int(p.Info.Protocol) != o.protocol() {
		return mismatch(compat.Reason{
			Code: compat.ProtocolMismatch, Subject: "protocol", Expected: fmt.Sprint(o.protocol()), Found: fmt.Sprint(p.Info.Protocol),
			Message: "The host and the plugin binary are of different builds; install both of one release.",
		}, fmt.Errorf("the plugin speaks protocol %d, this host %d", p.Info.Protocol, o.protocol()))
	}
	if err := p.decide(startCtx, o); err != nil {
		return err
	}
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	p.cancel = cancel
	return p.openChannel(startCtx, life, o)
}

// openChannel opens the host channel and waits for the plugin's ready message.
func (p *Plugin) openChannel(startCtx, life context.Context, o Options) error {
	stream, err := p.Client.HostChannel(life)
	if err != nil {
		return fmt.Errorf("opening the host channel: %w", err)
	}
	hello := &pb.Hello{Host: o.Name, HostVersion: o.Version, Instance: p.memory.instance}
	err = stream.Send(&pb.HostReply{Reply: &pb.HostReply_Hello{Hello: hello}})
	if errors.Is(err, io.EOF) { // gRPC's word for a stream that the other side has ended
		return errChannelClosed
	}
	if err != nil {
		return fmt.Errorf("greeting the plugin: %w", err)
	}
	answers := newAnswers(o.Sessions, p.memory, stream, p.log)
	p.tasks.Go(func() {
		answers.serve(life)
		p.dead()
	})
	select {
	case <-answers.ready:
	case <-p.gone:
		return errChannelClosed
	case <-startCtx.Done():
		return fmt.Errorf("waiting for the plugin to be ready: %w", startCtx.Err())
	}
	p.tasks.Go(func() { p.watchHealth(life) })
	return nil
}

// Gone is closed when the process has ended or its channel has broken. A Plugin
// is not started again: Launch another one.
func (p *Plugin) Gone() <-chan struct{} { return p.gone }

// Pid is the process id.
func (p *Plugin) Pid() int { return p.process.Pid }

// Why tells how a process that is [Plugin.Gone] ended, as far as that is known;
// after Close it is.
func (p *Plugin) Why() string {
	p.mu.Lock()
	killed := p.killed
	p.mu.Unlock()
	switch {
	case killed != "":
		return killed
	case p.client.Exited() && p.cmd.ProcessState != nil:
		return "it ended: " + p.cmd.ProcessState.String()
	}
	return "its host channel broke"
}

// Close ends the process: gracefully, so that it saves what it has accepted, or
// by SIGKILL when it has not ended after 2 s. No process is left when it returns.
func (p *Plugin) Close() {
	p.once.Do(func() {
		if p.process != nil {
			kill := time.AfterFunc(closeWithin+time.Second, func() { p.kill("") })
			defer kill.Stop()
		}
		if p.cancel != nil {
			p.cancel() // the end of the host channel asks the process to end
			p.tasks.Wait()
			p.awaitExit(closeWithin)
		}
		if p.client != nil {
			p.killClient(closeWithin + time.Second + killWithin)
		}
		p.dead()
		if p.alone {
			p.memory.close()
		}
		if err := os.RemoveAll(p.sockets); err != nil {
			p.log.Warn("could not remove the socket folder", "error", err)
		}
	})
}

func (p *Plugin) awaitExit(limit time.Duration) {
	deadline := time.Now().Add(limit)
	for !p.client.Exited() && time.Now().Before(deadline) {
		time.Sleep(10 * time.Millisecond)
	}
}

// kill ends the process and what it started, as far as it stayed in its group.
// why is for Why; "" leaves that to how it ended.
func (p *Plugin) kill(why string) {
	if p.process == nil || p.client.Exited() {
		return // never there, or awaited, so that the id may be another's by now
	}
	p.mu.Lock()
	p.killed = why
	p.mu.Unlock()
	killGroup(p.process)
}

// killClient has go-plugin end the process and forget it. That waits for the end
// of the output, which a process that left the group may hold: then it is left to
// itself after limit.
func (p *Plugin) killClient(limit time.Duration) {
	ended := make(chan struct{})
	go func() { p.client.Kill(); close(ended) }() // ends with the output
	select {
	case <-ended:
	case <-time.After(limit):
		p.log.Warn("something that the plugin started still holds its output", "plugin", p.client.ID())
	}
}

// watchHealth kills a process that does not answer three times in a row.
func (p *Plugin) watchHealth(life context.Context) {
	ticker := time.NewTicker(healthEvery)
	defer ticker.Stop()
	misses := 0
	for {
		select {
		case <-ticker.C:
		case <-p.gone:
			return
		case <-life.Done():
			return
		}
		ctx, cancel := context.WithTimeout(life, healthWithin)
		_, err := p.Client.Info(ctx, &pb.InfoRequest{})
		cancel()
		if err == nil {
			misses = 0
			continue
		}
		if misses++; misses == healthMisses {
			p.log.Error("the plugin does not answer; killing it", "pid", p.process.Pid)
			p.kill(fmt.Sprintf("it did not answer %d times within %v and was killed", healthMisses, healthWithin))
			return
		}
	}
}

// errChannelClosed: a plugin that is not ready to serve ends the channel, before
// or after the host's greeting has gone out.
var errChannelClosed = errors.New("the plugin closed the host channel at once")

type clientPlugin struct {
	goplugin.NetRPCUnsupportedPlugin
}

func (*clientPlugin) GRPCServer(*goplugin.GRPCBroker, *grpc.Server) error {
	return errors.New("package plugin is the server")
}

func (*clientPlugin) GRPCClient(_ context.Context, _ *goplugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return pb.NewDraftSessionsClient(conn), nil
}

// allowedEnv is what the process may see of the host's environment.
func allowedEnv() []string {
	var env []string
	for _, key := range []string{"PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "TZ"} {
		if v, ok := os.LookupEnv(key); ok {
			env = append(env, key+"="+v)
		}
	}
	return env
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
