package standalone_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/browser"
	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/contract"
	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/flows"
	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/modelstub"
	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/standalone"
)

type object = map[string]any

// driver is the standalone host with the openai agent as a host of the flows.
type driver struct {
	*standalone.Host
	b     *browser.Browser
	model *modelstub.Stub
	// prompts numbers the submissions of another client.
	prompts int
}

var _ flows.Host = (*driver)(nil)

// answer makes the openai agent at the stub the host's only one besides echo.
func (d *driver) answer() {
	d.Agent, d.Flags = "openai", []string{"--base-url", d.model.URL(), "--model", "m"}
}

// Kill ends the host with SIGKILL; its children learn nothing.
func (d *driver) Kill() {
	// One that has ended by itself is what the test finds out next.
	_ = d.Host.Kill()
}

func (d *driver) Model() *modelstub.Stub { return d.model }

// RefusePrompts starts the host without the sessions' agent, or with it.
func (d *driver) RefusePrompts(ctx context.Context, refuse bool) error {
	if err := d.Stop(); err != nil {
		return err
	}
	if d.answer(); refuse {
		d.Agent, d.Flags = "echo", nil
	}
	return d.Start(ctx)
}

// ForgetSession removes the session's log.
func (d *driver) ForgetSession(sessionID string) error {
	return os.Remove(filepath.Join(d.Dir, "sessions", sessionID+".jsonl"))
}

func (d *driver) post(ctx context.Context, path string, in, out any) error {
	return d.Call(ctx, http.MethodPost, path, in, out)
}

func (d *driver) Drafts(ctx context.Context) ([]contract.Draft, error) {
	var list struct{ Drafts []contract.Draft }
	err := d.post(ctx, "/api/drafts/list", object{}, &list)
	return list.Drafts, err
}

func (d *driver) NewDraft(ctx context.Context, text string) (contract.Draft, error) {
	var draft contract.Draft
	workspace, err := d.Workspace(ctx)
	if err == nil {
		err = d.post(ctx, "/api/drafts/new", object{"workspaceId": workspace, "text": text}, &draft)
	}
	return draft, err
}

func (d *driver) DeleteDraft(ctx context.Context, id string) error {
	return d.post(ctx, "/api/drafts/delete", object{"draftId": id}, nil)
}

func (d *driver) Notices(ctx context.Context) ([]contract.Notice, error) {
	var sidebar contract.Sidebar
	err := d.post(ctx, "/api/drafts/sidebar", object{}, &sidebar)
	return sidebar.Notices, err
}

// Reconcile has nothing to ask for: the host does it when the plugin starts, before
// drafts are on.
func (d *driver) Reconcile(context.Context) error { return nil }

func (d *driver) Flush(ctx context.Context) error {
	return d.post(ctx, "/api/drafts/flush", object{}, nil)
}

type session struct {
	ID, WorkspaceID, Permission string
	Archived, Blank             bool
}

// Sessions lists the open and the archived ones, and those of the drafts, which the
// host lists nowhere else.
func (d *driver) Sessions(ctx context.Context) ([]flows.Session, error) {
	var sessions []flows.Session
	for _, state := range []string{"open", "archived"} {
		for cursor := ""; ; {
			var page struct {
				Sessions []session
				Next     string
			}
			if err := d.Call(ctx, http.MethodGet, "/api/sessions?limit=200&state="+state+"&before="+cursor, nil, &page); err != nil {
				return nil, err
			}
			for _, s := range page.Sessions {
				sessions = append(sessions, flows.Session{ID: s.ID, WorkspaceID: s.WorkspaceID, Archived: s.Archived, Blank: s.Blank})
			}
			if cursor = page.Next; cursor == "" {
				break
			}
		}
	}
	drafts, err := d.Drafts(ctx)
	if err != nil {
		return nil, err
	}
	listed := map[string]bool{"": true}
	for _, s := range sessions {
		listed[s.ID] = true
	}
	for _, draft := range drafts {
		if listed[draft.SessionID] {
			continue
		}
		var one struct{ Session session }
		if err := d.Call(ctx, http.MethodGet, "/api/sessions/"+draft.SessionID, nil, &one); err != nil {
			return nil, err
		}
		s := one.Session
		sessions = append(sessions, flows.Session{ID: s.ID, WorkspaceID: s.WorkspaceID, Archived: s.Archived, Blank: s.Blank})
	}
	return sessions, nil
}

func (d *driver) History(ctx context.Context, sessionID string) (flows.History, error) {
	var log struct {
		Session session
		Events  []struct {
			Type string
			Data struct{ Text string }
		}
		More bool
	}
	if err := d.Call(ctx, http.MethodGet, "/api/sessions/"+sessionID+"?html=0&limit=2000", nil, &log); err != nil {
		return flows.History{}, err
	}
	history := flows.History{Permission: log.Session.Permission}
	if log.More {
		return history, fmt.Errorf("session %s has more than 2,000 events", sessionID)
	}
	for _, e := range log.Events {
		if e.Type == "user/message" {
			history.Messages = append(history.Messages, e.Data.Text)
		}
	}
	return history, nil
}

func (d *driver) NewSession(ctx context.Context) (string, error) {
	var made session
	workspace, err := d.Workspace(ctx)
	if err == nil {
		err = d.post(ctx, "/api/sessions", object{"workspaceId": workspace}, &made)
	}
	return made.ID, err
}

func (d *driver) Prompt(ctx context.Context, sessionID, text string) error {
	d.prompts++
	return d.post(ctx, "/api/sessions/"+sessionID+"/prompts", object{"submissionId": fmt.Sprintf("another-client-%d", d.prompts), "text": text}, nil)
}

func (d *driver) ArchiveSession(ctx context.Context, id string) error {
	return d.post(ctx, "/api/sessions/"+id+"/archive", object{}, nil)
}

func (d *driver) SetPermission(ctx context.Context, sessionID, permission string) error {
	return d.Call(ctx, http.MethodPatch, "/api/sessions/"+sessionID, object{"permission": permission}, nil)
}

func (d *driver) Open() (flows.Tab, error) {
	opened, err := standalone.Open(context.Background(), d.b, d.Host, browser.Look{})
	if err != nil {
		return nil, err
	}
	return &tab{opened}, nil
}

func (d *driver) Command(ctx context.Context, stdin string, args ...string) (string, error) {
	return d.Run(ctx, stdin, args...)
}

func (d *driver) Entry(ctx context.Context) (link, shown string, err error) {
	link, err = d.Link(ctx)
	return link, d.URL(), err
}

func (d *driver) Attach(page *browser.Page) (flows.Tab, error) {
	watched, err := standalone.Watch(page)
	if err != nil {
		return nil, err
	}
	return &tab{watched}, nil
}

// tab is a tab of the host's page for the flows.
type tab struct{ *standalone.Page }

var _ flows.Tab = (*tab)(nil)

const (
	field = `document.querySelector('.stage-body textarea.field')`
	// shownDraft is the id of the draft that is on screen.
	shownDraft = `(location.hash.match(/^#\/draft\/(.+)$/)?.[1] ?? '')`
)

func row(draftID string) string { return `document.querySelector('[data-key="d:` + draftID + `"]')` }

func (t *tab) Look() *browser.Page { return t.Page.Page }

// Send waits for the button, as it does nothing while the host is away.
func (t *tab) Send() error {
	return errors.Join(t.Await("the button to send", `document.querySelector('.send')?.getAttribute('aria-disabled') === 'false'`), t.Press(send))
}

func (t *tab) PressNewDraft() error { return t.ClickOn(`document.querySelector('.new')`) }

func (t *tab) Writable() (string, error) {
	return browser.Eval[string](t.Look(), `(`+field+`?.readOnly === false ? `+shownDraft+` : '')`)
}

func (t *tab) OpenRow(id string) error { return t.ClickOn(row(id) + `?.querySelector('.row-title')`) }

func (t *tab) menu(id, entry string) error {
	at, err := t.Aim(row(id))
	if err != nil {
		return err
	}
	return errors.Join(t.Hover(at.X, at.Y), t.ClickOn(row(id)+`?.querySelector('[data-act="menu"]')`), t.clickNamed(`[role="menuitem"]`, entry))
}

func (t *tab) clickNamed(selector, text string) error {
	return t.ClickOn(fmt.Sprintf(`[...document.querySelectorAll(%q)].find(one => one.textContent.trim().startsWith(%q))`, selector, text))
}

func (t *tab) DeleteRow(id string) error    { return t.menu(id, "Delete") }
func (t *tab) OpenVersions(id string) error { return t.menu(id, "Other versions…") }
func (t *tab) Undo() error                  { return t.clickNamed(`.toast button`, "Undo") }

func (t *tab) KeepVersion() error {
	return errors.Join(t.clickNamed(`.note button`, "Other versions"), t.clickNamed(`dialog button`, "Keep as its own draft"), t.Press(escape))
}

func (t *tab) Rows() ([]flows.Row, error) {
	return browser.Eval[[]flows.Row](t.Look(), `[...document.querySelectorAll('.row-draft')].map(row => ({ ID: row.dataset.key.slice(2), Title: row.querySelector('.row-title')?.textContent ?? '' }))`)
}

func (t *tab) Composer() (flows.Composer, error) {
	return browser.Eval[flows.Composer](t.Look(), `(field => ({ Text: field?.value ?? '', Focused: field !== null && document.activeElement === field, Start: field?.selectionStart ?? 0, End: field?.selectionEnd ?? 0 }))(`+field+`)`)
}

func (t *tab) FocusComposer() error {
	return errors.Join(t.ClickOn(field), t.Press(browser.Key{Key: "End", Code: "End", VirtualKey: 35, Ctrl: true, Command: "moveToEndOfDocument"}))
}

func (t *tab) MoveCaret(offset int) error {
	return t.Do(fmt.Sprintf(`%s.setSelectionRange(%d, %d)`, field, offset, offset))
}

func (t *tab) Blur() error { return t.Do(field + `?.blur()`) }

func (t *tab) Write(text string) error {
	return errors.Join(t.FocusComposer(), t.Page.Write(text))
}

// Paste has the field change and tell so as after a paste of the text.
func (t *tab) Paste(text string) error {
	return errors.Join(t.FocusComposer(), t.Do(`(field => {
		field.setRangeText(`+standalone.Quote(text)+`, field.selectionStart, field.selectionEnd, 'end')
		field.dispatchEvent(new InputEvent('input', { inputType: 'insertFromPaste', bubbles: true }))
	})(document.activeElement)`))
}

// AwaitText waits for the field, whose line breaks are all line feeds.
func (t *tab) AwaitText(text string, limit time.Duration) error {
	shown := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	return t.AwaitFor("the field holds the text", fmt.Sprintf(`%s?.value === %s`, field, standalone.Quote(shown)), limit)
}

func (t *tab) AwaitSaved(draftID string, limit time.Duration) error {
	return t.AwaitFor("the draft is saved", fmt.Sprintf(`document.querySelector('.save')?.dataset.state === 'saved' && %s === %q`, shownDraft, draftID), limit)
}

// AwaitEmpty waits until no text of a draft or message is in a field.
func (t *tab) AwaitEmpty(limit time.Duration) error {
	return t.AwaitFor("no field holds text", `[...document.querySelectorAll('textarea.field')].every(one => one.value === '')`, limit)
}

func (t *tab) AwaitSent(sessionID string, limit time.Duration) error {
	return t.AwaitFor("the sent session is on screen", fmt.Sprintf(`document.querySelector('[data-key="s:%s"][aria-selected="true"]') && document.querySelector('.item-user')`, sessionID), limit)
}

func (t *tab) AwaitRefused(limit time.Duration) error {
	return t.AwaitFor("the page says that it could not send", field+` && [...document.querySelectorAll('.toast')].some(one => one.textContent.includes('That did not work'))`, limit)
}

func (t *tab) SaveState(draftID string) (string, error) {
	return browser.Eval[string](t.Look(), fmt.Sprintf(`(%s === %q ? document.querySelector('.save')?.dataset.state ?? '' : '')`, shownDraft, draftID))
}

func (t *tab) Notices() ([]string, error) {
	return browser.Eval[[]string](t.Look(), `[...document.querySelectorAll('.note, .toast')].map(one => one.dataset.kind ?? '').filter(Boolean)`)
}

func (t *tab) NoticesSeen() ([]string, error) {
	return browser.Eval[[]string](t.Look(), `window.__notices`)
}

func (t *tab) SeesText(text string) (bool, error) {
	return browser.Eval[bool](t.Look(), `document.body.innerText.includes(`+standalone.Quote(text)+`)`)
}

func (t *tab) ReloadPage() error {
	return errors.Join(t.Reload(), t.AwaitConnected())
}
