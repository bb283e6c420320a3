// Command screenshots is `make screenshots`: it makes the pictures of
// docs/images from the real harness, the standalone host and a real Chromium, light
// and dark, English and Chinese. The model is a stub, the agent an example; nothing
// leaves the machine.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/draft-sessions/dsh-draft-sessions/host/dsh"
	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/browser"
	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/dshpage"
	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/rig"
)

// patience bounds every wait for the page.
const patience = 20 * time.Second

func main() {
	out := flag.String("out", filepath.Join("docs", "images"), "the folder of the pictures")
	only := flag.String("only", "", "dsh or standalone: the pictures of that host only")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *out, *only); err != nil {
		fmt.Fprintln(os.Stderr, "screenshots:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out, only string) (err error) {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	temp, err := os.MkdirTemp("", "ds-pictures-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	chromium, err := browser.Start(filepath.Join(temp, "chromium"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, chromium.Close()) }()
	if only != "dsh" {
		if err := shootStandalone(ctx, temp, chromium, out); err != nil {
			return err
		}
	}
	if only == "standalone" {
		return nil
	}
	tools, err := dsh.Prepare(ctx, dsh.Options{Progress: os.Stdout})
	if err != nil {
		return err
	}
	bundle := filepath.Join(temp, "bundle")
	if err := tools.Stage(ctx, bundle); err != nil {
		return err
	}
	for _, s := range scenes {
		if err := s.shoot(ctx, tools, bundle, chromium, out); err != nil {
			return fmt.Errorf("%s: %w", s.language, err)
		}
	}
	return nil
}

// shoot sets one scene up in a home of its own and takes its pictures.
func (s scene) shoot(ctx context.Context, tools *dsh.Toolchain, bundle string, chromium *browser.Browser, out string) (err error) {
	home, err := rig.New(tools)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, home.Close()) }()
	if err := home.Install(ctx, bundle); err != nil {
		return err
	}
	if err := home.Start(ctx); err != nil {
		return err
	}
	draft, err := s.setUp(ctx, home)
	if err != nil {
		return err
	}
	for _, dark := range []bool{false, true} {
		name := "drafts-light-" + s.suffix + ".png"
		if dark {
			name = "drafts-dark-" + s.suffix + ".png"
		}
		path := filepath.Join(out, name)
		look := browser.Look{Language: s.language, Dark: dark, Width: 1200, Height: 760}
		if err := picture(chromium, look, home.URL(), draft, s.open(), path); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		fmt.Println("wrote", path)
	}
	return nil
}

// picture opens a draft and takes the picture once the page has come to rest.
func picture(chromium *browser.Browser, look browser.Look, url, draftID, text, path string) error {
	page, err := dshpage.Open(chromium, look, url)
	if err != nil {
		return err
	}
	defer page.Close()
	if err := page.OpenRow(draftID); err != nil {
		return err
	}
	if err := page.AwaitText(text, patience); err != nil {
		return err
	}
	if err := page.Hover(700, 700); err != nil {
		return err
	}
	if err := page.AwaitRest(patience); err != nil {
		return err
	}
	return page.Screenshot(path)
}
