package modelstub_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/modelstub"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func post(t *testing.T, url, body string) (int, string) {
	t.Helper()
	response, err := http.Post(url+"/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(answer)
}

func start(t *testing.T) *modelstub.Stub {
	t.Helper()
	stub, err := modelstub.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stub.Close() })
	return stub
}

// The gate relies on it for invariant 3: a text that a request holds is found,
// however JSON escapes it.
func TestRecordsWhatTheModelCouldRead(t *testing.T) {
	stub := start(t)
	status, answer := post(t, stub.URL(), `{"model":"m","stream":true,"messages":[{"role":"system","content":"s"},{"role":"user","content":"caf\u00e9 \ud83d\ude00"}]}`)
	if status != 200 || !strings.HasSuffix(answer, "data: [DONE]\n\n") || !strings.Contains(answer, "echo: ") {
		t.Fatalf("status %d, answer %q", status, answer)
	}
	if got := stub.Seen("café 😀"); got != 1 {
		t.Fatalf("Seen = %d, want 1", got)
	}
	if got := stub.Seen("absent"); got != 0 {
		t.Fatalf("Seen(absent) = %d", got)
	}
}

func TestMultiPartContent(t *testing.T) {
	stub := start(t)
	_, answer := post(t, stub.URL(), `{"model":"m","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:x"}},{"type":"text","text":"ab"}]}]}`)
	if !strings.Contains(answer, `"echo: a"`) || !strings.Contains(answer, `"b"`) {
		t.Fatalf("answer %q does not echo the text part", answer)
	}
	if got := stub.Requests()[0].Images; got != 1 {
		t.Fatalf("Images = %d, want 1", got)
	}
}

func TestFailsAndWaitsWhenTold(t *testing.T) {
	stub := start(t)
	stub.SetStatus(500)
	if status, _ := post(t, stub.URL(), `{"messages":[]}`); status != 500 {
		t.Fatalf("status %d, want 500", status)
	}
	stub.SetStatus(0)
	stub.SetDelay(50 * time.Millisecond)
	began := time.Now()
	if status, _ := post(t, stub.URL(), `{"messages":[]}`); status != 200 || time.Since(began) < 50*time.Millisecond {
		t.Fatalf("status %d after %v", status, time.Since(began))
	}
}
