// Command draft-sessions is the draft sessions plugin and its command line.
// A host starts it as "draft-sessions plugin".
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"reflect"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	draftsessions "github.com/draft-sessions/dsh-draft-sessions"
	"github.com/draft-sessions/dsh-draft-sessions/cmd/draft-sessions/internal/commands"
	"github.com/draft-sessions/dsh-draft-sessions/plugin"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

type cli struct {
	commands.Drafts
	commands.Completion

	Up        upCmd        `cmd:"" help:"Start the host with its page and print a link to it."`
	Plugin    pluginCmd    `cmd:"" help:"Run the plugin process. A host starts this; it speaks go-plugin on stdout."`
	Install   installCmd   `cmd:"" help:"Install draft sessions into a profile of DSH."`
	Uninstall uninstallCmd `cmd:"" help:"Take draft sessions out of a profile of DSH; the drafts stay."`
	Gate      gateCmd      `cmd:"" help:"Tell whether draft sessions work with a DSH, and why not."`
	Rearm     rearmCmd     `cmd:"" help:"Ask a running host to start the plugin again after it has given up."`
	Doctor    doctorCmd    `cmd:"" help:"Tell the state of the draft file, and repair it when asked to."`
	About     versionCmd   `cmd:"" name:"version" help:"Print versions, protocol and checksum."`

	Version kong.VersionFlag `help:"Print the version and quit."`
}

type pluginCmd struct{}

func (pluginCmd) Run() error {
	if os.Getenv(shared.MagicCookieKey) != shared.MagicCookieValue {
		return shared.Errorf(shared.DraftInvalidInput, "the plugin is started by a host, such as DSH; there is nothing to run by hand. See draft-sessions --help")
	}
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

// exitError ends the command with a code of its own.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// printJSON prints one object on one line.
func printJSON(out io.Writer, v any) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(v)
}

func main() { os.Exit(run()) }

// run is the whole command; its result is the exit code.
func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	parser, err := kong.New(grammar(os.Args[1:]),
		kong.Name("draft-sessions"),
		kong.Description("Many unsent tasks a workspace, each bound to a blank session of the agent host, safe on disk."),
		kong.Vars{"version": "draft-sessions " + version},
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.BindTo(os.Stdout, (*io.Writer)(nil)),
	)
	if err != nil {
		panic(err) // The commands' own declarations are wrong.
	}
	parsed, err := parser.Parse(os.Args[1:])
	if err == nil {
		err = emptyHome(parsed)
	}
	if err != nil {
		return misused(os.Stderr, err, parser.Model, os.Args[1:])
	}
	if err := parsed.Run(); err != nil {
		return failed(os.Stderr, err, asJSON(parsed))
	}
	return 0
}

// grammar is the command line as far as the first argument needs it: to build all of
// it takes longer than a command about a few drafts.
func grammar(args []string) any {
	all := reflect.TypeFor[cli]()
	for _, field := range reflect.VisibleFields(reflect.TypeFor[commands.Drafts]()) {
		if len(args) > 0 && (args[0] == strings.ToLower(field.Name) || args[0] == field.Tag.Get("aliases")) {
			flag, _ := all.FieldByName("Version")
			field.Index, flag.Index = nil, nil
			return reflect.New(reflect.StructOf([]reflect.StructField{field, flag})).Interface()
		}
	}
	return reflect.New(all).Interface()
}

// emptyHome refuses --home "": a script whose variable is not set would work on
// another home than it means.
func emptyHome(parsed *kong.Context) error {
	for _, element := range parsed.Path {
		if element.Flag == nil || !strings.HasSuffix(element.Flag.Name, "home") {
			continue
		}
		if value, is := parsed.FlagValue(element.Flag).(string); is && value == "" {
			return fmt.Errorf("--%s is empty", element.Flag.Name)
		}
	}
	return nil
}
