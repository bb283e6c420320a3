package main

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/draft-sessions/dsh-draft-sessions/cmd/draft-sessions/internal/commands"
)

// The part of the command line that a command needs says and takes the same as all
// of it.
func TestGrammar(t *testing.T) {
	if reflect.TypeOf(grammar(nil)) != reflect.TypeFor[*cli]() || reflect.TypeOf(grammar([]string{"doctor"})) != reflect.TypeFor[*cli]() {
		t.Error("another command is without the others")
	}
	names := []string{"ls"}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[commands.Drafts]()) {
		names = append(names, strings.ToLower(field.Name))
	}
	for _, name := range names {
		if reflect.TypeOf(grammar([]string{name})) == reflect.TypeFor[*cli]() {
			t.Errorf("%s builds the whole command line", name)
		}
		for _, args := range [][]string{{name, "--help"}, {name, "--version"}, {name, "--nosuch"}} {
			part, whole := told(t, grammar([]string{name}), args), told(t, new(cli), args)
			if part != whole || part == "" {
				t.Errorf("%v: %q, and with all commands %q", args, part, whole)
			}
		}
	}
}

// told is what a command line prints, and its error.
func told(t *testing.T, grammar any, args []string) (text string) {
	t.Helper()
	var out bytes.Buffer
	parser, err := kong.New(grammar, kong.Name("draft-sessions"), kong.Vars{"version": "v"}, kong.Writers(&out, &out), kong.Exit(func(int) { panic(&out) }))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		// --help and --version end the program.
		if ended := recover(); ended != nil && ended != &out {
			panic(ended)
		}
		text = out.String()
	}()
	if _, err := parser.Parse(args); err != nil {
		out.WriteString(err.Error())
	}
	return ""
}
