package smoketest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/draft-sessions/dsh-draft-sessions/host/dsh"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
	"github.com/draft-sessions/dsh-draft-sessions/shared/manifest"
	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/contract"
	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/flows"
)

// sweepLimit bounds what of the sweep an ordinary run takes part in.
const sweepLimit = 90 * time.Second

// sweepPatience is how long one step may take: on a busy machine a call that the end
// of the plugin interrupted, and the next process, take their time.
const sweepPatience = 2 * time.Minute

// Invariants 1, 2, 4, 10 and 13 on the real harness: the plugin kills itself before
// and after each call of a draft's life. No acknowledged text is lost, no session
// made twice, no prompt sent twice. A soak goes through all of it three times.
func TestPluginKilledAtEachCall(t *testing.T) {
	var faults []string
	// What has side effects comes first; the others follow while there is time.
	for _, call := range []string{
		"NewDraft", "host.CreateSession", "BeforePrompt", "host.FlushSession", "Flush", "AfterPrompt", "ObserveSession",
		"Edit", "OpenEditor", "host.ReadSession", "host.ListWorkspaces", "Reconcile", "List",
	} {
		faults = append(faults, "after "+call, "before "+call)
	}
	rounds, limit := 1, sweepLimit
	if os.Getenv(flows.EnvSoak) != "" {
		rounds, limit = 3, time.Hour
	}
	h := newHome(t)
	h.Patience = sweepPatience
	h.install()
	h.makeFaulty()
	h.start()
	h.addWork()
	h.awaitMode("full")
	begun, done := time.Now(), 0
	for round := range rounds {
		for _, fault := range faults {
			if done >= 14 && time.Since(begun) > limit {
				break
			}
			h.survives(fault, round)
			done++
		}
	}
	t.Logf("%d of %d faults in %v", done, rounds*len(faults), time.Since(begun).Round(time.Second))
	h.restart()
	h.awaitMode("full")
	h.noSessionTooMany()
}

// survives is a draft's life with one fault in it.
func (h *home) survives(fault string, round int) {
	h.T.Helper()
	text := fmt.Sprintf("tangerine task %d, killed %s", round, fault)
	gate.leaks.Secret(text)
	h.replaceFile(h.faultFile(), []byte(fault), 0o600)
	key := uuid.NewString()
	var draft contract.Draft
	h.untilAnswered("newDraft", map[string]any{
		"workspaceId": h.work.ID, "currentSessionId": "", "recentWorkspaceId": "", "idempotencyKey": key, "text": "", "agentPresetId": "",
	}, &draft)
	h.save(draft, text)
	h.Must(h.CheckDisk(draft.ID, text))
	draft = h.boundNow(draft.ID)

	h.Must(h.API.Prompt(h.Ctx, draft.SessionID, text))
	if got := h.AwaitSent(text); got != draft.SessionID {
		h.T.Errorf("%s: sent in session %s, the draft's was %s", fault, got, draft.SessionID)
	}
	h.untilAnswered("reconcile", map[string]any{"workspaceId": ""}, nil)
	h.untilAnswered("list", map[string]any{"workspaceId": ""}, nil)
	// Observations come when they come, perhaps after everything else.
	h.Eventually(fault+" happened", func() error {
		h.rearm()
		if _, err := os.Stat(h.faultFile()); !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("it waits: %v", err)
		}
		return nil
	})
	// A plugin that could not be asked before the prompt cannot know that it is its
	// draft's: then the text stays a draft, in a session of its own.
	mayStay := strings.HasSuffix(fault, " BeforePrompt")
	h.Eventually("the text was sent once", func() error {
		h.rearm()
		drafts, err := h.API.Drafts(h.Ctx)
		if err != nil {
			return err
		}
		count := 0
		for _, d := range drafts {
			if d.Text == text {
				count++
			}
			if d.Text == "" {
				return fmt.Errorf("%s: draft %s was made beside the one that was asked for", fault, d.ID)
			}
			if len(d.Conflicts) > 0 {
				return fmt.Errorf("draft %s has conflict copies", d.ID)
			}
		}
		if sent, _ := h.Sent(text); sent != 1 || count > 1 || count == 1 && !mayStay {
			return fmt.Errorf("%s: %d messages, %d drafts", fault, sent, count)
		}
		return nil
	})
}

// save writes a text as a page does and returns when it is acknowledged; when the
// plugin ends meanwhile the page opens its editor again and says what it holds.
func (h *home) save(base contract.Draft, text string) {
	h.T.Helper()
	type object = map[string]any
	h.Eventually("the text is acknowledged", func() error {
		h.rearm()
		var opened struct {
			Epoch      string `json:"epoch"`
			Generation int64  `json:"generation"`
			Draft      contract.Draft
		}
		if err := dsh.Draft(h.Ctx, h.URL(), "openEditor", object{
			"draftId": base.ID, "editorId": "sweep", "hostText": text, "hostContentJson": "", "baseEditorId": "",
			"baseTextRevision": base.TextRevision, "baseHash": shared.TextHash(base.Text), "baseDraftId": base.ID,
		}, &opened); err != nil {
			return err
		}
		if err := dsh.Draft(h.Ctx, h.URL(), "edit", object{
			"draftId": base.ID, "editorId": "sweep", "generation": opened.Generation, "seq": 1, "text": text, "contentJson": "",
			"baseTextRevision": opened.Draft.TextRevision, "epoch": opened.Epoch,
		}, nil); err != nil {
			return err
		}
		return dsh.Draft(h.Ctx, h.URL(), "flush", object{"draftId": base.ID}, nil)
	})
}

// untilAnswered repeats a call that the end of the plugin interrupted.
func (h *home) untilAnswered(method string, request, result any) {
	h.T.Helper()
	h.Eventually(method+" is answered", func() error {
		h.rearm()
		return dsh.Draft(h.Ctx, h.URL(), method, request, result)
	})
}

// boundNow waits until the draft has its session.
func (h *home) boundNow(id string) (draft contract.Draft) {
	h.T.Helper()
	h.Eventually("the draft has a session", func() (err error) {
		h.rearm()
		if err := dsh.Draft(h.Ctx, h.URL(), "bind", map[string]any{"draftId": id}, nil); err != nil {
			return err
		}
		if draft, err = h.API.Draft(h.Ctx, id); err == nil && draft.SessionID == "" {
			err = errors.New("it has none")
		}
		return err
	})
	return draft
}

// rearm has the plugin started at once, and again after many faults.
func (h *home) rearm() {
	// It fails only where the harness is gone, which the next call says better.
	_ = dsh.Draft(h.Ctx, h.URL(), "rearm", struct{}{}, nil)
}

// noSessionTooMany checks that every session has a message or belongs to a draft.
func (h *home) noSessionTooMany() {
	h.T.Helper()
	of := map[string]string{}
	for _, draft := range h.AllDrafts() {
		if other, taken := of[draft.SessionID]; taken {
			h.T.Errorf("drafts %s and %s share session %s", draft.ID, other, draft.SessionID)
		}
		of[draft.SessionID] = draft.ID
	}
	sessions, err := h.API.Sessions(h.Ctx)
	h.Must(err)
	for _, session := range sessions {
		if of[session.ID] == "" && len(h.history(session.ID).Messages) == 0 {
			h.T.Errorf("session %s is blank and no draft's", session.ID)
		}
	}
}

func (h *home) faultFile() string { return filepath.Join(filepath.Dir(h.pluginBinary()), "fault") }

// makeFaulty puts the plugin that kills itself on demand into the plugin's place.
func (h *home) makeFaulty() {
	h.T.Helper()
	built := filepath.Join(h.Root, "faultplugin")
	if out, err := exec.CommandContext(h.Ctx, "go", "build", "-o", built, "./testdata/faultplugin").CombinedOutput(); err != nil {
		h.T.Fatalf("build the faulty plugin: %v: %s", err, out)
	}
	data, err := os.ReadFile(built)
	h.Must(err)
	binary := h.pluginBinary()
	h.replaceFile(binary, data, 0o755)
	// A new file: the installed one may be a hard link to that of every other home.
	h.Must(os.Remove(filepath.Join(filepath.Dir(binary), manifest.File)))
	_, err = manifest.Write(binary, "0.0.0", []int{shared.ProtocolVersion}, runtime.GOOS, runtime.GOARCH)
	h.Must(err)
}
