// Command mkpackages is `make package`: it builds the release's npm packages into
// build/packages, all platforms or those that are named ("linux/amd64", or "here"
// for this machine's).
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"

	"github.com/draft-sessions/dsh-draft-sessions/host/dsh"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "mkpackages:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, names []string) error {
	platforms := dsh.Platforms
	if len(names) > 0 {
		platforms = nil
	}
	for _, name := range names {
		if name == "here" {
			name = runtime.GOOS + "/" + runtime.GOARCH
		}
		at := slices.IndexFunc(dsh.Platforms, func(p dsh.Platform) bool { return p.String() == name })
		if at < 0 {
			return fmt.Errorf("%s is no platform that packages are made for (%v)", name, dsh.Platforms)
		}
		platforms = append(platforms, dsh.Platforms[at])
	}
	tools, err := dsh.PrepareBuild(ctx, dsh.Options{Progress: os.Stderr})
	if err != nil {
		return err
	}
	dir := filepath.Join("build", "packages")
	packages, err := tools.Package(ctx, dir, platforms...)
	for _, name := range packages {
		_, printErr := fmt.Println(filepath.Join(dir, name))
		err = errors.Join(err, printErr)
	}
	return err
}
