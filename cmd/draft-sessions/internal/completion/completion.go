// Package completion completes command lines in bash, zsh and fish: the shell's
// [Script] asks the command itself, which answers with [Words].
package completion

import (
	"embed"
	"sort"
	"strings"

	"github.com/alecthomas/kong"
)

//go:embed scripts
var scripts embed.FS

// Script is what a shell sources; shell is bash, zsh or fish.
func Script(shell string) (string, error) {
	data, err := scripts.ReadFile("scripts/" + shell)
	return string(data), err
}

// Word is something that may stand next, and what it is.
type Word struct{ Text, About string }

// Words are what may stand in the place of the last word, which is the beginning
// of one. drafts gives the ids of drafts; it gets what was given as --home.
func Words(model *kong.Application, words []string, drafts func(home string) []Word) []Word {
	if len(words) == 0 {
		words = []string{""}
	}
	last := words[len(words)-1]
	at, home := model.Node, ""
	var awaits *kong.Flag
	positions := 0
	for _, word := range words[:len(words)-1] {
		switch {
		case awaits != nil:
			if awaits.Name == "home" {
				home = word
			}
			awaits = nil
		case strings.HasPrefix(word, "-"):
			name, value, given := strings.Cut(word, "=")
			awaits = flagOf(at, name)
			if awaits != nil && (given || awaits.IsBool()) {
				if awaits.Name == "home" {
					home = value
				}
				awaits = nil
			}
		default:
			if next := childOf(at, word); next != nil {
				at, positions = next, 0
			} else {
				positions++
			}
		}
	}
	var all []Word
	switch {
	case awaits != nil && awaits.Enum != "":
		all = enum(awaits.Enum)
	case awaits != nil:
		return nil // A file, a folder, or words.
	case strings.HasPrefix(last, "-"):
		all = flags(at)
	case len(at.Children) > 0:
		for _, child := range at.Children {
			if !child.Hidden {
				all = append(all, Word{child.Name, child.Help})
			}
		}
	default:
		all = positional(at, positions, home, drafts)
	}
	var matching []Word
	for _, w := range all {
		if strings.HasPrefix(w.Text, last) {
			matching = append(matching, Word{w.Text, oneLine(w.About)})
		}
	}
	return matching
}

func positional(at *kong.Node, position int, home string, drafts func(string) []Word) []Word {
	if len(at.Positional) == 0 {
		return nil
	}
	value := at.Positional[min(position, len(at.Positional)-1)]
	if position >= len(at.Positional) && !value.IsCumulative() {
		return nil
	}
	switch {
	case value.Enum != "":
		return enum(value.Enum)
	case value.Name == "id":
		return drafts(home)
	}
	return nil
}

func childOf(at *kong.Node, name string) *kong.Node {
	for _, child := range at.Children {
		if child.Name == name {
			return child
		}
		for _, alias := range child.Aliases {
			if alias == name {
				return child
			}
		}
	}
	return nil
}

func flagOf(at *kong.Node, given string) *kong.Flag {
	for _, group := range at.AllFlags(false) {
		for _, flag := range group {
			if given == "--"+flag.Name || flag.Short != 0 && given == "-"+string(flag.Short) {
				return flag
			}
		}
	}
	return nil
}

func flags(at *kong.Node) []Word {
	var all []Word
	for _, group := range at.AllFlags(true) {
		for _, flag := range group {
			all = append(all, Word{"--" + flag.Name, flag.Help})
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Text < all[j].Text })
	return all
}

func enum(values string) []Word {
	var all []Word
	for _, value := range strings.Split(values, ",") {
		if value = strings.TrimSpace(value); value != "" {
			all = append(all, Word{Text: value})
		}
	}
	return all
}

// oneLine is what a shell shows beside a word.
func oneLine(about string) string {
	return strings.Join(strings.FieldsFunc(about, func(r rune) bool { return r == '\n' || r == '\t' || r == '\r' }), " ")
}
