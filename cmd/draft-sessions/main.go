// Command draft-sessions is the draft sessions plugin and its command line.
// A host starts it as "draft-sessions plugin".
package main

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"

	"github.com/alecthomas/kong"

	draftsessions "github.com/draft-sessions/dsh-draft-sessions"
	"github.com/draft-sessions/dsh-draft-sessions/plugin"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// version is the release; a build may set it with -ldflags "-X main.version=...".
var version = "0.1.0"

type cli struct {
	Up      upCmd      `cmd:"" help:"Start the host with its page and print a link to it."`
	Plugin  pluginCmd  `cmd:"" help:"Run the plugin process. A host starts this; it speaks go-plugin on stdout."`
	Doctor  doctorCmd  `cmd:"" help:"Tell the state of the draft file, and repair it when asked to."`
	Version versionCmd `cmd:"" help:"Print versions."`
}

type pluginCmd struct{}

func (pluginCmd) Run() error {
	config, err := plugin.ConfigFromEnv(version, draftsessions.Compatibility)
	if err != nil {
		return err
	}
	if os.Getenv("GOGC") == "" {
		// A large draft file is decoded and encoded in bursts: a smaller heap is
		// worth more to the host than the time (docs/performance.md).
		debug.SetGCPercent(25)
	}
	return plugin.Serve(config)
}

type versionCmd struct{}

func (versionCmd) Run() error {
	revision := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				revision = " " + s.Value
			}
		}
	}
	_, err := fmt.Printf("draft-sessions %s%s\nrecord version %d, plugin protocol %d\n", version, revision, shared.RecordVersion, shared.ProtocolVersion)
	return err
}

func main() {
	ctx := kong.Parse(&cli{},
		kong.Name("draft-sessions"),
		kong.Description("Many unsent tasks a workspace, each bound to a blank session of the agent host, safe on disk."),
		kong.UsageOnError(),
	)
	if err := ctx.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "draft-sessions:", err)
		var exit *exitError
		if errors.As(err, &exit) {
			os.Exit(exit.code)
		}
		os.Exit(1)
	}
}
