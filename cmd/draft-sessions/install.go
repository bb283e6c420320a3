package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/draft-sessions/dsh-draft-sessions/host/dsh/install"
	"github.com/draft-sessions/dsh-draft-sessions/plugin/drafts"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
	"github.com/draft-sessions/dsh-draft-sessions/shared/compat"
)

// Exit codes of install and uninstall, beside 0 and 1.
const (
	exitNoDSH    = 3 // no DSH, or no pnpm that it needs
	exitNoBundle = 4 // what is to be installed is not there, or damaged
	exitUndone   = 5 // DSH failed; the profile was put back
)

const installExits = "Exit codes: 0 done, or nothing to do; 1 the home cannot be written, or another install is at work; 3 no DSH was found, or no pnpm, which it needs; 4 the packages of the release were not found, or are damaged; 5 DSH failed, and the profile was put back."

type installCmd struct {
	target
	From string `placeholder:"DIR" help:"Folder with the release's packages, or with the bundle; the one this command lies in when not given."`
	JSON bool   `help:"Print one JSON object."`
}

// Help is shown by kong below the usage.
func (installCmd) Help() string {
	return "Install draft sessions into a profile of DSH, without a network, or bring it to this release. A running DSH takes it up when it is started the next time. The bundle lies in the home, under storages/dsh-draft-sessions/bundles. Doing it again changes nothing; a failing install is undone.\n\n" + installExits
}

func (c installCmd) Run(ctx context.Context, out io.Writer) error {
	home, err := homeDir(c.DSHHome)
	if err != nil {
		return err
	}
	bundle, err := install.Load(c.From)
	if err != nil {
		return installExit(err)
	}
	dsh, err := install.Find(c.DSH)
	if err != nil {
		return installExit(err)
	}
	result, err := install.Add(ctx, install.Options{DSH: dsh, Home: home, Profile: c.Profile, Progress: progress(c.JSON)}, bundle)
	if err != nil {
		return installExit(err)
	}
	report, err := judge(ctx, dsh, home, c.Profile, "")
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(out, struct {
			install.Result
			Gate gateReport `json:"gate"`
		}{result, report})
	}
	state := "is installed"
	if !result.Changed {
		state = "was installed already"
	}
	if _, err := fmt.Fprintf(out, "The bundle %s %s in the profile %s of %s.\n", result.Version, state, c.Profile, home); err != nil {
		return err
	}
	if report.Mode != compat.ModeFull {
		if _, err := fmt.Fprintln(out, "It stays off in this DSH, which runs as it always did:"); err != nil {
			return err
		}
		return printReasons(out, report.Reasons)
	}
	if !result.Changed {
		return nil
	}
	_, err = fmt.Fprintf(out, "Start DSH (again): drafts are in its sidebar. The command line is %s.\n", result.Command)
	return err
}

type uninstallCmd struct {
	target
	JSON bool `help:"Print one JSON object."`
}

// Help is shown by kong below the usage.
func (uninstallCmd) Help() string {
	return "Take draft sessions out of a profile of DSH. The drafts and all sessions stay; the profile's files are as they were before install where nothing else has changed. Doing it again changes nothing; a failing uninstall is undone.\n\n" + installExits
}

func (c uninstallCmd) Run(ctx context.Context, out io.Writer) error {
	home, err := namedHome(c.DSHHome)
	if err != nil {
		return err
	}
	dsh, err := install.Find(c.DSH)
	if err != nil {
		return installExit(err)
	}
	result, err := install.Remove(ctx, install.Options{DSH: dsh, Home: home, Profile: c.Profile, Progress: progress(c.JSON)})
	if err != nil {
		return installExit(err)
	}
	if c.JSON {
		return printJSON(out, result)
	}
	state := "was not in"
	if result.Changed {
		state = "is out of"
	}
	if _, err := fmt.Fprintf(out, "The bundle %s the profile %s of %s.\n", state, c.Profile, home); err != nil {
		return err
	}
	path := drafts.PathIn(home)
	if _, err := os.Stat(path); err != nil {
		return nil // there never were any
	}
	_, err = fmt.Fprintf(out, "The drafts stay in %s.\n", path)
	return err
}

// progress tells a person what takes time, apart from the result.
func progress(asJSON bool) func(line string) {
	if asJSON {
		return nil
	}
	return func(line string) { _, _ = fmt.Fprintln(os.Stderr, "draft-sessions: "+line) }
}

func installExit(err error) error {
	code, known := map[shared.Code]int{
		install.DSHNotFound: exitNoDSH, install.PnpmMissing: exitNoDSH,
		install.BundleNotFound: exitNoBundle, install.BundleInvalid: exitNoBundle,
		install.DSHFailed: exitUndone,
	}[shared.CodeOf(err)]
	if !known {
		return err
	}
	return &exitError{code, err}
}
