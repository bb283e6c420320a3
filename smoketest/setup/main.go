// Command setup is the first step of `make test`: it looks for what the tests
// need of the machine (a Chromium, Xvfb and xdotool for the chord test, npm for
// Node packages, fonts for the screenshots), and where it runs as root on a
// system with apt-get it installs what is missing. Elsewhere it says what to
// install and ends with status 1. It never uses sudo.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"

	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/browser"
)

// need is something that the tests use of the machine.
type need struct {
	name string
	// why is what it is for, said when it cannot be installed.
	why string
	// packages are the Debian packages that bring it.
	packages []string
	// optional: without it the tests run, with a poorer result.
	optional bool
	there    func(ctx context.Context) bool
}

func needs() []need {
	return []need{
		{name: "Chromium or Chrome", why: "the browser that the tests drive", packages: []string{"chromium"},
			there: func(context.Context) bool { _, err := browser.Find(); return err == nil }},
		{name: "Xvfb", why: "a screen for the test that presses real keys", packages: []string{"xvfb"}, there: command("Xvfb")},
		{name: "xdotool", why: "presses the keys", packages: []string{"xdotool"}, there: command("xdotool")},
		{name: "npm", why: "brings Node, pnpm and the harness", packages: []string{"nodejs", "npm"}, there: command("npm")},
		{name: "a Chinese font", why: "the screenshots", packages: []string{"fontconfig", "fonts-noto-cjk"}, optional: true, there: font(":lang=zh")},
		{name: "an emoji font", why: "the screenshots", packages: []string{"fontconfig", "fonts-noto-color-emoji"}, optional: true, there: font(":lang=und-zsye")},
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "setup:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer) error {
	missing := lacking(ctx, needs())
	if len(missing) == 0 {
		return nil
	}
	if canInstall() {
		install(ctx, out, missing)
		missing = lacking(ctx, missing)
	}
	return report(out, missing)
}

func lacking(ctx context.Context, all []need) []need {
	var missing []need
	for _, n := range all {
		if !n.there(ctx) {
			missing = append(missing, n)
		}
	}
	return missing
}

// canInstall is whether packages can be installed without asking anybody.
func canInstall() bool {
	_, err := exec.LookPath("apt-get")
	return err == nil && os.Geteuid() == 0
}

// install tries to bring what is missing; what it could not bring is still
// missing afterwards, and its output says why.
func install(ctx context.Context, out io.Writer, missing []need) {
	fmt.Fprintf(out, "setup: installing %s\n", names(missing))
	arguments := []string{"install", "-y", "--no-install-recommends"}
	for _, n := range missing {
		arguments = append(arguments, n.packages...)
	}
	for _, step := range [][]string{{"update"}, arguments} {
		apt := exec.CommandContext(ctx, "apt-get", step...)
		apt.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		apt.Stdout, apt.Stderr = out, out
		if err := apt.Run(); err != nil {
			fmt.Fprintf(out, "setup: apt-get %s: %v\n", step[0], err)
		}
	}
}

// report says what is missing still; it is an error when a test needs it.
func report(out io.Writer, missing []need) error {
	var packages []string
	var needed []need
	for _, n := range missing {
		if n.optional {
			fmt.Fprintf(out, "setup: %s is missing (%s); going on without\n", n.name, n.why)
			continue
		}
		needed = append(needed, n)
		packages = append(packages, n.packages...)
	}
	if len(needed) == 0 {
		return nil
	}
	for _, n := range needed {
		fmt.Fprintf(out, "setup: %s is missing: %s\n", n.name, n.why)
	}
	return fmt.Errorf("install %s (on Debian, as root: apt-get install %s) and try again", names(needed), strings.Join(packages, " "))
}

func names(all []need) string {
	var list []string
	for _, n := range all {
		list = append(list, n.name)
	}
	return strings.Join(list, ", ")
}

func command(name string) func(context.Context) bool {
	return func(context.Context) bool { _, err := exec.LookPath(name); return err == nil }
}

// font is whether fontconfig knows a font of that pattern.
func font(pattern string) func(context.Context) bool {
	return func(ctx context.Context) bool {
		list, err := exec.CommandContext(ctx, "fc-list", pattern, "family").Output()
		return err == nil && len(strings.TrimSpace(string(list))) > 0
	}
}
