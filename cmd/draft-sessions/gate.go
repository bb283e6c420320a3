package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	draftsessions "github.com/draft-sessions/dsh-draft-sessions"
	"github.com/draft-sessions/dsh-draft-sessions/cmd/draft-sessions/internal/desk"
	"github.com/draft-sessions/dsh-draft-sessions/host/dsh/install"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
	"github.com/draft-sessions/dsh-draft-sessions/shared/compat"
	"github.com/draft-sessions/dsh-draft-sessions/shared/manifest"
)

// Exit codes of gate, beside 0 (full) and 1 (it could not look).
const exitStock = 2

type gateCmd struct {
	target
	Override string `placeholder:"VERSION" help:"Judge as if the user ran exactly this untested version of DSH at their own risk."`
	JSON     bool   `help:"Print one JSON object."`
}

// Help is shown by kong below the usage.
func (gateCmd) Help() string {
	return "Tell whether draft sessions work with a DSH that is installed: its version by its package and by its own word, its Node, and the pinned packages are compared with compatibility.json, that of the bundle in the profile when there is one, whose binary is checked too. Nothing is changed, and DSH is not started; which features it has, it finds out itself when it starts (the bundle's status tells).\n\nExit codes: 0 full; 2 stock, with the reasons; 3 no DSH was found; 1 it could not look."
}

// gateReport is what gate tells.
type gateReport struct {
	// Mode is "full" or "stock".
	Mode         string          `json:"mode"`
	Overridden   bool            `json:"overridden"`
	Capabilities []string        `json:"capabilities"`
	Reasons      []compat.Reason `json:"reasons"`
	// DSH is the version by its package, in Root.
	DSH     string `json:"dsh"`
	Root    string `json:"root"`
	Home    string `json:"home"`
	Profile string `json:"profile"`
	// Bundle is the version in the profile, "" when it is not installed there.
	Bundle string `json:"bundle"`
}

func (c gateCmd) Run(ctx context.Context, out io.Writer) error {
	home, err := namedHome(c.DSHHome)
	if err != nil {
		return err
	}
	dsh, err := install.Find(c.DSH)
	if err != nil {
		return installExit(err)
	}
	if c.Override != "" && c.Override != dsh.Version {
		return shared.Errorf(shared.DraftInvalidInput, "this DSH is %s, not %s: --override names the very version", dsh.Version, c.Override)
	}
	report, err := judge(ctx, dsh, home, c.Profile, c.Override)
	if err != nil {
		return err
	}
	if c.JSON {
		err = printJSON(out, report)
	} else {
		err = printReport(out, report)
	}
	if err == nil && report.Mode != compat.ModeFull {
		first := report.Reasons[0]
		err = &exitError{exitStock, &desk.Problem{
			Err:  shared.Errorf(shared.Code(first.Code), "DSH runs as without draft sessions"),
			Kept: "DSH and the drafts are as they were", Next: first.Message,
		}}
	}
	return err
}

// judge collects the facts and decides.
func judge(ctx context.Context, dsh *install.DSH, home, profile, override string) (gateReport, error) {
	r := gateReport{DSH: dsh.Version, Root: dsh.Root, Home: home, Profile: profile, Capabilities: []string{}, Reasons: []compat.Reason{}}
	table, err := compat.Parse(draftsessions.Compatibility)
	if err != nil {
		return r, err
	}
	version, folder, broken := install.Installed(home, profile)
	if folder != "" {
		r.Bundle = version
		var own *compat.Table
		if own, broken = checkBundle(folder); broken == nil {
			table = own
		}
	}
	facts := dsh.Facts(ctx, home, profile, table.Hosts["dsh"])
	if ctx.Err() != nil {
		return r, ctx.Err()
	}
	facts.Override = override
	decision := table.Decide(facts)
	r.Mode, r.Overridden = decision.Mode, decision.Overridden
	r.Reasons = append(r.Reasons, decision.Reasons...)
	r.Capabilities = append(r.Capabilities, decision.Capabilities...)
	if broken == nil {
		return r, nil
	}
	reason := compat.Reason{Code: string(shared.CodeOf(broken)), Subject: install.PackageName, Message: shared.MessageOf(broken)}
	var miss *manifest.Error
	if errors.As(broken, &miss) {
		reason = miss.Reason
	}
	r.Mode, r.Overridden, r.Capabilities = compat.ModeStock, false, []string{}
	r.Reasons = append([]compat.Reason{reason}, r.Reasons...)
	return r, nil
}

// checkBundle gives the table of an installed bundle, once its binary has been checked.
func checkBundle(folder string) (*compat.Table, error) {
	if _, err := manifest.Check(filepath.Join(folder, "bin", install.BinaryName), shared.ProtocolVersion); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(filepath.Join(folder, "compatibility.json"))
	if err != nil {
		return nil, shared.Errorf(install.BundleInvalid, "read the installed bundle: %w", err)
	}
	table, err := compat.Parse(data)
	if err != nil {
		return nil, shared.Errorf(install.BundleInvalid, "read the installed bundle: %w", err)
	}
	return table, nil
}

func printReport(out io.Writer, r gateReport) error {
	mode := r.Mode
	if r.Overridden {
		mode += ", at your own risk"
	}
	if len(r.Capabilities) > 0 {
		mode += ": " + strings.Join(r.Capabilities, ", ")
	}
	bundle := "not installed in the profile"
	if r.Bundle != "" {
		bundle = r.Bundle
	}
	if _, err := fmt.Fprintf(out, "mode       %s\nDSH        %s, %s\nprofile    %s of %s\nbundle     %s\n", mode, r.DSH, r.Root, r.Profile, r.Home, bundle); err != nil {
		return err
	}
	return printReasons(out, r.Reasons)
}

func printReasons(out io.Writer, reasons []compat.Reason) error {
	for _, r := range reasons {
		compared := ""
		switch {
		case r.Expected != "" && r.Found != "":
			compared = fmt.Sprintf(" (expected %s, found %s)", r.Expected, r.Found)
		case r.Expected != "":
			compared = fmt.Sprintf(" (expected %s)", r.Expected)
		}
		if _, err := fmt.Fprintf(out, "reason     %s, %s%s: %s\n", r.Code, r.Subject, compared, r.Message); err != nil {
			return err
		}
	}
	return nil
}
