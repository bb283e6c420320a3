package smoketest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/draft-sessions/dsh-draft-sessions/host/dsh/install"
	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/browser"
	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/contract"
	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/dshapi"
	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/dshpage"
	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/flows"
	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/modelstub"
	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/rig"
)

// driver is the harness with our bundle as a host of the flows.
type driver struct {
	*rig.Home
	work dshapi.Workspace
	tabs []*tab
}

var _ flows.Host = (*driver)(nil)

func (d *driver) Start(ctx context.Context) error {
	if err := d.Home.Start(ctx); err != nil {
		return err
	}
	deadline := time.Now().Add(patience)
	for {
		status, err := d.API.Status(ctx)
		if err == nil && status.Mode == "full" {
			return nil
		}
		if time.Now().After(deadline) {
			return errors.Join(fmt.Errorf("the bundle is in mode %q, reasons %+v", status.Mode, status.Reasons), err)
		}
		time.Sleep(poll)
	}
}

func (d *driver) Model() *modelstub.Stub { return d.Home.Model }

// RefusePrompts makes a model that is not served the one that prompts use. A page
// that knew it would not let one send, so the open ones do not hear of it.
func (d *driver) RefusePrompts(ctx context.Context, refuse bool) error {
	patterns, model := []string{}, map[string]any{"provider": "deepseek-official", "model": "deepseek-v4-flash"}
	if refuse {
		patterns, model = []string{"*://*:*/api/session.models*"}, map[string]any{"provider": "nope", "model": "m"}
	}
	for _, t := range d.tabs {
		if err := t.Block(patterns...); err != nil {
			return err
		}
	}
	return d.API.UpdateSettings(ctx, "agent-default-model", model)
}

func (d *driver) Drafts(ctx context.Context) ([]contract.Draft, error) { return d.API.Drafts(ctx) }

func (d *driver) NewDraft(ctx context.Context, text string) (contract.Draft, error) {
	return d.API.NewDraft(ctx, d.work.ID, text)
}

func (d *driver) DeleteDraft(ctx context.Context, id string) error { return d.API.DeleteDraft(ctx, id) }

func (d *driver) Notices(ctx context.Context) ([]contract.Notice, error) {
	sidebar, err := d.API.Sidebar(ctx)
	return sidebar.Notices, err
}

func (d *driver) Reconcile(ctx context.Context) error { return d.API.Reconcile(ctx) }
func (d *driver) Flush(ctx context.Context) error     { return d.API.Flush(ctx) }

func (d *driver) Sessions(ctx context.Context) ([]flows.Session, error) {
	listed, err := d.API.Sessions(ctx)
	if err != nil {
		return nil, err
	}
	workspaces, archived, err := d.API.Workspaces(ctx)
	if err != nil {
		return nil, err
	}
	sessions := make([]flows.Session, len(listed))
	for i, s := range listed {
		sessions[i] = flows.Session{ID: s.ID, Archived: slices.Contains(archived, s.ID), Blank: s.Blank}
		for _, w := range workspaces {
			if slices.Contains(w.SessionIDs, s.ID) {
				sessions[i].WorkspaceID = w.ID
			}
		}
	}
	return sessions, nil
}

func (d *driver) History(ctx context.Context, sessionID string) (flows.History, error) {
	history, err := d.API.History(ctx, sessionID)
	messages := make([]string, len(history.Messages))
	for i, m := range history.Messages {
		messages[i] = m.Text
	}
	return flows.History{Messages: messages, Permission: history.Permission}, err
}

func (d *driver) NewSession(ctx context.Context) (string, error) {
	return d.API.CreateSession(ctx, d.work.ID, "")
}

func (d *driver) Prompt(ctx context.Context, sessionID, text string) error {
	return d.API.Prompt(ctx, sessionID, text)
}

func (d *driver) ArchiveSession(ctx context.Context, id string) error {
	return d.API.ArchiveSession(ctx, id)
}

func (d *driver) SetPermission(ctx context.Context, sessionID, permission string) error {
	return d.API.RunCommand(ctx, sessionID, "/permission "+permission)
}

// Command runs the installed binary.
func (d *driver) Command(ctx context.Context, stdin string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(gate.bundle, "bin", install.BinaryName), append(args, "--home", d.Dir)...)
	cmd.Dir, cmd.Env, cmd.Stdin = d.work.Path, append(os.Environ(), d.Env...), strings.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("draft-sessions %s: %w\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return string(out), err
}

func (d *driver) Open() (flows.Tab, error) {
	return d.tab(dshpage.Open(gate.browser, browser.Look{}, d.URL()))
}

func (d *driver) Entry(context.Context) (link, shown string, err error) { return d.URL(), d.URL(), nil }

func (d *driver) Attach(page *browser.Page) (flows.Tab, error) { return d.tab(dshpage.Watch(page)) }

func (d *driver) tab(opened *dshpage.Page, err error) (flows.Tab, error) {
	if opened == nil {
		return nil, err
	}
	t := &tab{opened, d}
	d.tabs = append(d.tabs, t)
	return t, err
}

// tab is a tab of the harness for the flows.
type tab struct {
	*dshpage.Page
	d *driver
}

var _ flows.Tab = (*tab)(nil)

func (t *tab) Look() *browser.Page { return t.Page.Page }
func (t *tab) Send() error         { return t.Enter() }

// Writable is the draft of the session that is shown, when its composer takes text.
func (t *tab) Writable() (string, error) {
	current, err := t.Current()
	if err != nil {
		return "", err
	}
	composer, err := t.Page.Composer()
	if err != nil || composer.Disabled || composer.ReadOnly {
		return "", err
	}
	drafts, err := t.d.API.Drafts(context.Background())
	if err != nil {
		return "", err
	}
	for _, draft := range drafts {
		if draft.SessionID == current {
			return draft.ID, nil
		}
	}
	return "", nil
}

func (t *tab) Rows() ([]flows.Row, error) {
	shown, err := t.Page.Rows()
	rows := make([]flows.Row, len(shown))
	for i, row := range shown {
		rows[i] = flows.Row{ID: row.ID, Title: row.Title}
	}
	return rows, err
}

func (t *tab) Composer() (flows.Composer, error) {
	c, err := t.Page.Composer()
	return flows.Composer{Text: c.Text, Focused: c.Focused, Start: c.Start, End: c.End}, err
}

func (t *tab) AwaitEmpty(limit time.Duration) error { return t.AwaitText("", limit) }

// KeepVersion keeps the first conflict copy of the draft that is shown.
func (t *tab) KeepVersion() error {
	return errors.Join(t.ClickOn(`[data-drafts-action=versions]`),
		t.ClickOn(`[data-drafts-dialog] [data-drafts-action=keep]`), t.ClickOn(`[data-drafts-dialog] .dss-close`))
}

func (t *tab) Notices() ([]string, error) {
	shown, err := t.Page.Notices()
	kinds := make([]string, len(shown))
	for i, notice := range shown {
		kinds[i] = notice.Kind
	}
	return kinds, err
}

// AwaitSent waits until one of the page's own rows is the selected one.
func (t *tab) AwaitSent(sessionID string, limit time.Duration) error {
	return t.until(limit, "the sent session is the page's own row", func() error {
		rows, err := t.StockRows()
		if err == nil && !slices.ContainsFunc(rows, func(row dshpage.StockRow) bool { return row.Selected }) {
			err = fmt.Errorf("rows %+v", rows)
		}
		if current, currentErr := t.Current(); err == nil && (currentErr != nil || current != sessionID) {
			err = errors.Join(fmt.Errorf("it shows session %s", current), currentErr)
		}
		return err
	})
}

func (t *tab) AwaitRefused(limit time.Duration) error {
	return t.until(limit, "the page says that it could not send", func() error {
		alerts, err := t.Alerts()
		if err != nil {
			return err
		}
		composer, err := t.Page.Composer()
		if err == nil && (composer.Phase != "plain" || len(alerts) == 0) {
			err = fmt.Errorf("phase %s, alerts %q", composer.Phase, alerts)
		}
		return err
	})
}

func (t *tab) until(limit time.Duration, what string, check func() error) error {
	for deadline := time.Now().Add(limit); ; time.Sleep(poll) {
		err := check()
		if err == nil {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("after %v not true that %s: %w", limit, what, err)
		}
	}
}
