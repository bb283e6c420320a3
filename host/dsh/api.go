package dsh

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// APIError is a failure that DSH answered with.
type APIError struct {
	Method  string
	Code    string `json:"code"`
	Message string `json:"message"`
}

func (e *APIError) Error() string { return fmt.Sprintf("%s: %s: %s", e.Method, e.Code, e.Message) }

// Call calls a method of the HTTP API of the DSH at url, such as "workspace.list",
// and decodes its value into result, which may be nil. A failure that DSH
// answered with is an [*APIError].
func Call(ctx context.Context, url, method string, payload, result any) error {
	raw, err := json.Marshal(map[string]any{
		"type": "client-request", "rpcId": fmt.Sprintf("go-%d", time.Now().UnixNano()),
		"method": method, "payload": payload,
	})
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/api/"+method, bytes.NewReader(raw))
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	req.Header.Set("Content-Type", "application/json")
	// DSH ends connections that rest for a while, and a call that meets that end is lost.
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: HTTP %s", method, resp.Status)
	}
	var envelope struct {
		Result struct {
			OK    bool            `json:"ok"`
			Value json.RawMessage `json:"value"`
			Error APIError        `json:"error"`
		} `json:"result"`
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	if err := json.Unmarshal(body, &envelope); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	if !envelope.Result.OK {
		failure := envelope.Result.Error
		failure.Method = method
		return &failure
	}
	if result == nil || len(envelope.Result.Value) == 0 {
		return nil
	}
	if err := json.Unmarshal(envelope.Result.Value, result); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	return nil
}

// Draft calls a method of the bundle, such as "newDraft", and decodes its value
// into result, which may be nil. A coded failure is an [*APIError].
func Draft(ctx context.Context, url, method string, request, result any) error {
	var answer struct {
		OK    bool            `json:"ok"`
		Value json.RawMessage `json:"value"`
		Error APIError        `json:"error"`
	}
	payload := map[string]any{"args": map[string]any{"request": request}}
	if err := Call(ctx, url, "draftSessions/"+method, payload, &answer); err != nil {
		return err
	}
	if !answer.OK {
		failure := answer.Error
		failure.Method = method
		return &failure
	}
	if result == nil {
		return nil
	}
	if err := json.Unmarshal(answer.Value, result); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	return nil
}

// Status is what the bundle's host half says of itself.
type Status struct {
	// Mode is starting, full, paused or stock.
	Mode    string `json:"mode"`
	Version string `json:"version"`
	Epoch   string `json:"epoch"`
	// Reasons are why it is stock; in full mode why something does not work.
	Reasons []Reason `json:"reasons"`
	// Capabilities are what works (compatibility.json); none in stock mode.
	Capabilities []string `json:"capabilities"`
	// Overridden is whether an untested DSH is run because the user said so.
	Overridden bool `json:"overridden"`
	// Rearmable is whether "rearm" would start the plugin again.
	Rearmable bool `json:"rearmable"`
	// Pages are what pages found wanting of themselves.
	Pages []Reason `json:"pages"`
}

// Reason is one thing that is not as it was tested, or failed.
type Reason struct {
	Code     string `json:"code"`
	Subject  string `json:"subject"`
	Expected string `json:"expected"`
	Found    string `json:"found"`
	Message  string `json:"message"`
}

// AwaitMode waits until the bundle is in that mode: DSH prints its address a
// moment before that. In a DSH without the bundle it waits until ctx ends.
func AwaitMode(ctx context.Context, url, mode string) (Status, error) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		var status Status
		err := Draft(ctx, url, "status", struct{}{}, &status)
		if err == nil && status.Mode == mode {
			return status, nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return status, errors.Join(fmt.Errorf("await mode %s (now %q): %w", mode, status.Mode, ctx.Err()), err)
		}
	}
}
