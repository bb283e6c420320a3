package standalone

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/google/uuid"
	"github.com/hashicorp/go-hclog"

	"github.com/draft-sessions/dsh-draft-sessions/host"
	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/bridge"
	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/home"
	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/server"
	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/sessions"
	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/workspaces"
)

// DefaultListen is where the page is when nothing else was asked for. Browsers
// keep a page's own storage by port, so it stays the same where it can.
const DefaultListen = "127.0.0.1:7737"

// Options configure [Start].
type Options struct {
	// Home is the host's folder; one host uses it at a time.
	Home string
	// Binary is the draft-sessions binary, for the plugin process.
	Binary  string
	Version string
	// Listen is the address; "" is [DefaultListen], or any free port of the
	// loopback interface when that one is taken.
	Listen string
	// Names are further names by which the page may be called, for an address
	// that is not the loopback interface's.
	Names []string
	// Agents say what may answer prompts.
	Agents AgentOptions
	// Folders are added to the workspaces.
	Folders []string
	// PluginEnv are further entries "KEY=value" for the plugin process.
	PluginEnv []string
	Log       hclog.Logger
}

// Host is a running host.
type Host struct {
	// Address is the origin, such as http://127.0.0.1:7737.
	Address string

	home       *home.Home
	workspaces *workspaces.List
	agents     *Agents
	sessions   *sessions.Store
	bridge     *bridge.Bridge
	server     *server.Server

	stop    context.CancelFunc
	serving sync.WaitGroup
	failed  chan error // capacity 1: serving ended by itself
	once    sync.Once
	err     error
}

// Start starts the host. It serves when it returns; the plugin's drafts come a
// moment later ([Host.AwaitDrafts]). End it with [Host.Close]. Its error is a
// *home.InUseError when another host has the home.
func Start(ctx context.Context, o Options) (*Host, error) {
	if o.Log == nil {
		o.Log = hclog.NewNullLogger()
	}
	h := &Host{failed: make(chan error, 1)}
	if err := h.start(ctx, o); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return h, nil
}

func (h *Host) start(ctx context.Context, o Options) (err error) {
	if h.home, err = home.Open(o.Home); err != nil {
		return err
	}
	config, err := readConfig(h.home.ConfigFile())
	if err != nil {
		return err
	}
	key, err := cookieKey(filepath.Join(h.home.Dir, "cookie.key"))
	if err != nil {
		return err
	}
	if h.workspaces, err = workspaces.Open(ctx, h.home.WorkspacesFile(), o.Log.Named("workspaces")); err != nil {
		return err
	}
	for _, folder := range o.Folders {
		if _, err := h.workspaces.Add(ctx, folder, ""); err != nil {
			return fmt.Errorf("adding %s: %w", folder, err)
		}
	}
	hub := server.NewHub()
	if h.agents, err = newAgents(o.Agents, config, hub.AgentsChanged); err != nil {
		return err
	}
	h.bridge = bridge.New(bridge.Options{Event: hub.PluginEvent, Changed: hub.PluginChanged, Log: o.Log.Named("bridge")})
	h.sessions, err = sessions.Open(sessions.Options{
		Folder: h.home.SessionsFolder(), Agents: h.agents, Plugin: h.bridge, Watcher: hub, WorkspaceOf: h.workspaceOf, Log: o.Log.Named("sessions"),
	})
	if err != nil {
		return err
	}
	h.bridge.Start(host.Options{
		Binary: o.Binary, Store: h.home.DraftFile(), Name: "standalone", Version: o.Version, Env: o.PluginEnv,
		Sessions: &bridge.Offers{Sessions: h.sessions, Workspaces: h.workspaces}, Log: o.Log.Named("plugin"),
	})
	return h.serve(o, hub, key)
}

func (h *Host) workspaceOf(path string) string {
	w, _ := h.workspaces.Of(path)
	return w.ID
}

func (h *Host) serve(o Options, hub *server.Hub, key []byte) error {
	listener, err := listen(o.Listen)
	if err != nil {
		return err
	}
	h.Address = "http://" + listener.Addr().String()
	instance, token := uuid.NewString(), rand.Text()
	h.server = server.New(server.Options{
		Hosts: server.Names(listener.Addr(), o.Names), CookieKey: key, Token: token, Instance: instance, Version: o.Version,
		Sessions: h.sessions, Workspaces: h.workspaces, Drafts: h.bridge, Agents: h.agents, Hub: hub, Log: o.Log.Named("http"),
	})
	cancel := h.workspaces.Subscribe(func() { hub.WorkspacesChanged(h.server.Listed()) })
	life, stop := context.WithCancel(context.Background())
	h.stop = func() { cancel(); stop() }
	h.serving.Go(func() {
		if err := h.server.Serve(life, listener); err != nil {
			h.failed <- err
		}
	})
	return h.home.Register(home.Registration{PID: os.Getpid(), StartedAt: time.Now().UnixMilli(), Address: h.Address, Token: token, Instance: instance})
}

func listen(address string) (net.Listener, error) {
	wanted := address
	if wanted == "" {
		wanted = DefaultListen
	}
	listener, err := net.Listen("tcp", wanted)
	if address == "" && errors.Is(err, syscall.EADDRINUSE) {
		listener, err = net.Listen("tcp", "127.0.0.1:0")
	}
	if err != nil {
		return nil, fmt.Errorf("listening on %s: %w", wanted, err)
	}
	return listener, nil
}

// cookieKey reads the key that signs cookies, or makes one. Who removes the file
// locks every browser out.
func cookieKey(path string) ([]byte, error) {
	const size = 32
	key, err := os.ReadFile(path)
	if err == nil && len(key) == size {
		return key, nil
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("reading the key of the cookies: %w", err)
	}
	key = make([]byte, size)
	_, _ = rand.Read(key) // never fails
	if err := os.WriteFile(path, key, 0o600); err != nil {
		return nil, fmt.Errorf("writing the key of the cookies: %w", err)
	}
	return key, nil
}

// NewLink is an address that lets one browser in, once, within ten minutes.
func (h *Host) NewLink() string { return h.Address + h.server.NewLink() }

// AwaitDrafts waits until the plugin is there, and tells why when it is not.
func (h *Host) AwaitDrafts(ctx context.Context) error {
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		state := h.bridge.State()
		switch {
		case state.Epoch != "":
			return nil
		case state.Mode == bridge.ModeStock:
			return errors.New(state.Message)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return fmt.Errorf("waiting for the drafts: %w", ctx.Err())
		}
	}
}

// Failed gives why serving ended by itself.
func (h *Host) Failed() <-chan error { return h.failed }

// Close ends the host: running turns are cancelled, accepted edits saved, every
// process that it started has ended when it returns.
func (h *Host) Close() error {
	h.once.Do(func() {
		if h.stop != nil {
			h.stop()
			h.serving.Wait()
		}
		if h.sessions != nil {
			h.sessions.Close()
		}
		if h.bridge != nil {
			h.bridge.Close()
		}
		if h.agents != nil {
			h.err = errors.Join(h.err, h.agents.Close())
		}
		if h.workspaces != nil {
			h.err = errors.Join(h.err, h.workspaces.Close())
		}
		if h.home != nil {
			h.err = errors.Join(h.err, h.home.Close())
		}
	})
	return h.err
}
