package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/browser"
	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/standalone"
)

// exampleAgent is a real agent of the Agent Client Protocol that asks before it acts.
const exampleAgent = "github.com/coder/acp-go-sdk/example/agent"

// standaloneLooks are the pictures of the standalone host's page.
var standaloneLooks = []struct {
	name string
	look browser.Look
	// session: the session whose agent asks, else the newest draft.
	session bool
}{
	{"standalone-light", browser.Look{Width: 1280, Height: 800}, false},
	{"standalone-dark", browser.Look{Dark: true, Width: 1280, Height: 800}, false},
	{"standalone-session-light", browser.Look{Width: 1280, Height: 800}, true},
	{"standalone-session-dark", browser.Look{Dark: true, Width: 1280, Height: 800}, true},
	{"standalone-narrow-light", browser.Look{Width: 400, Height: 800}, false},
	{"standalone-narrow-dark", browser.Look{Dark: true, Width: 400, Height: 800}, true},
}

// shootStandalone takes the pictures of the standalone host's page, each language in
// a home of its own.
func shootStandalone(ctx context.Context, temp string, chromium *browser.Browser, out string) error {
	source, err := os.Getwd()
	if err != nil {
		return err
	}
	binary, err := standalone.Build(ctx, source, temp)
	if err != nil {
		return err
	}
	agent := filepath.Join(temp, "agent")
	if output, err := exec.CommandContext(ctx, "go", "build", "-o", agent, exampleAgent).CombinedOutput(); err != nil {
		return fmt.Errorf("build the example agent: %w\n%s", err, output)
	}
	for _, s := range scenes {
		if err := s.shootStandalone(ctx, filepath.Join(temp, "standalone-"+s.suffix), binary, agent, chromium, out); err != nil {
			return fmt.Errorf("standalone, %s: %w", s.language, err)
		}
	}
	return nil
}

func (s scene) shootStandalone(ctx context.Context, dir, binary, agent string, chromium *browser.Browser, out string) (err error) {
	host, err := standalone.New(binary, dir)
	if err != nil {
		return err
	}
	host.Agent = "acp:" + agent
	if err := host.Start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, host.Stop()) }()
	draft, session, err := s.setUpStandalone(ctx, host, dir)
	if err != nil {
		return err
	}
	for _, picture := range standaloneLooks {
		picture.look.Language = s.language
		address, ready := "#/draft/"+draft, `document.querySelector('.save')?.dataset.state === 'saved' && document.querySelector('.picker:not([hidden])')`
		if picture.session {
			address, ready = "#/session/"+session, `document.querySelector('.item-permission.open')`
		}
		path := filepath.Join(out, picture.name+"-"+s.suffix+".png")
		if err := pictureOf(ctx, host, chromium, picture.look, address, ready, path); err != nil {
			return fmt.Errorf("%s: %w", picture.name, err)
		}
		fmt.Println("wrote", path)
	}
	return nil
}

func pictureOf(ctx context.Context, host *standalone.Host, chromium *browser.Browser, look browser.Look, address, ready, path string) error {
	page, err := standalone.Open(ctx, chromium, host, look)
	if err != nil {
		return err
	}
	defer page.Close()
	if err := errors.Join(page.Goto(host.URL()+address), page.AwaitConnected(), page.Await("the page is complete", ready),
		page.Hover(float64(look.Width)/2, 200)); err != nil {
		return err
	}
	// Whatever still moves comes to rest.
	if err := page.Await("two frames", `new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => done(true), 200))))`); err != nil {
		return err
	}
	return page.Screenshot(path)
}

// setUpStandalone fills a running home and gives the newest draft and the session whose
// agent waits for an answer.
func (s scene) setUpStandalone(ctx context.Context, host *standalone.Host, dir string) (draft, session string, err error) {
	var workspaces []string
	for _, name := range s.folders {
		folder := filepath.Join(dir, "work", name)
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return "", "", err
		}
		var made struct{ ID string }
		if err := host.Call(ctx, http.MethodPost, "/api/workspaces", map[string]string{"path": folder}, &made); err != nil {
			return "", "", err
		}
		workspaces = append(workspaces, made.ID)
	}
	first, err := host.Workspace(ctx) // the one that the host was started with
	if err != nil {
		return "", "", err
	}
	if err := host.Call(ctx, http.MethodDelete, "/api/workspaces/"+first, struct{}{}, nil); err != nil {
		return "", "", err
	}
	for i, ordinary := range s.sent {
		var made struct{ ID string }
		if err := host.Call(ctx, http.MethodPost, "/api/sessions", map[string]string{"workspaceId": workspaces[0], "title": ordinary.title}, &made); err != nil {
			return "", "", err
		}
		prompt := map[string]string{"submissionId": fmt.Sprintf("picture-%s-%d", s.suffix, i), "text": ordinary.prompt}
		if err := host.Call(ctx, http.MethodPost, "/api/sessions/"+made.ID+"/prompts", prompt, nil); err != nil {
			return "", "", err
		}
		if err := awaitQuestion(ctx, host, made.ID); err != nil {
			return "", "", err
		}
		session = made.ID
	}
	for i, text := range s.drafts {
		if draft, err = host.Draft(ctx, workspaces[0], text); err != nil {
			return "", "", err
		}
		if i == 1 {
			if err := pin(ctx, host, draft); err != nil {
				return "", "", err
			}
		}
	}
	return draft, session, nil
}

func pin(ctx context.Context, host *standalone.Host, id string) error {
	var draft struct{ Revision int64 }
	if err := host.Call(ctx, http.MethodPost, "/api/drafts/get", map[string]string{"draftId": id}, &draft); err != nil {
		return err
	}
	return host.Call(ctx, http.MethodPost, "/api/drafts/update", map[string]any{"draftId": id, "expectedRevision": draft.Revision, "pinned": true}, nil)
}

// awaitQuestion waits until the session's agent asks for a permission.
func awaitQuestion(ctx context.Context, host *standalone.Host, session string) error {
	deadline := time.Now().Add(patience)
	for {
		var history struct {
			Requests []struct{ RequestID string }
		}
		if err := host.Call(ctx, http.MethodGet, "/api/sessions/"+session, nil, &history); err != nil {
			return err
		}
		if len(history.Requests) > 0 {
			return nil
		}
		if time.Now().After(deadline) {
			return errors.New("the agent does not ask")
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}
