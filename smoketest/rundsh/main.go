// Command rundsh is `make dsh`: it brings everything that is needed to use draft
// sessions in the real DeepSeek Harness, starts it and prints the page's address.
// It needs Go, Node and npm. DSH_HOME names the home to use; without it one of its
// own under the cache folder is used, so that an existing DSH is left alone. The
// current folder becomes a workspace when the home has none.
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/draft-sessions/dsh-draft-sessions/host/dsh"
)

func main() {
	port := flag.Int("port", 0, "the port of the page; 0 takes a free one")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *port); err != nil {
		fmt.Fprintln(os.Stderr, "make dsh:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, port int) error {
	if err := free(port); err != nil {
		return err
	}
	tools, err := dsh.Prepare(ctx, dsh.Options{Progress: os.Stdout})
	if err != nil {
		return err
	}
	home := os.Getenv("DSH_HOME")
	if home == "" {
		home = filepath.Join(tools.CacheDir, "home")
	}
	if home, err = filepath.Abs(home); err != nil {
		return fmt.Errorf("find the home: %w", err)
	}
	bundle := filepath.Join(tools.CacheDir, "bundle")
	if err := tools.Stage(ctx, bundle); err != nil {
		return err
	}
	fmt.Println("installing the bundle into", home)
	if err := tools.Install(ctx, home, bundle); err != nil {
		return err
	}
	fmt.Println("starting DSH", tools.DSHVersion)
	process, err := tools.Start(ctx, home, port)
	if err != nil {
		return err
	}
	if err := addWorkspace(ctx, process.URL); err != nil {
		fmt.Fprintln(os.Stderr, "make dsh: the current folder is not a workspace yet:", err)
	}
	fmt.Printf("\n  %s\n\nDrafts: the \"New draft\" button in the sidebar, or Alt+Shift+N. Ctrl+C stops DSH. Its log: %s\n",
		process.URL, process.Log)
	select {
	case <-ctx.Done():
		fmt.Println("\nstopping")
		return process.Stop()
	case <-process.Done():
		return fmt.Errorf("DSH ended by itself: %w", process.Wait())
	}
}

// free is whether nobody listens on a port of this machine, before minutes are spent.
func free(port int) error {
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return fmt.Errorf("port %d cannot be used: %w; another one: make dsh PORT=n, or any free one without PORT", port, err)
	}
	return listener.Close()
}

// addWorkspace makes the current folder a workspace of a home that has none.
func addWorkspace(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	var list struct {
		Items []struct{} `json:"items"`
	}
	if err := dsh.Call(ctx, url, "workspace.list", struct{}{}, &list); err != nil || len(list.Items) > 0 {
		return err
	}
	return dsh.Call(ctx, url, "workspace.create", map[string]string{"path": dir}, nil)
}
