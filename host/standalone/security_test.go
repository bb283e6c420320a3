package standalone_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/draft-sessions/dsh-draft-sessions/host/standalone"
)

// browser is a client with cookies that does not follow redirects.
func browser(t *testing.T) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// ask makes a request as a browser; headers are pairs.
func ask(t *testing.T, c *http.Client, method, address, body string, headers ...string) (*http.Response, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
		if headers[i] == "Host" {
			request.Host = headers[i+1]
		}
	}
	response, err := c.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(data)
}

func code(body string) string {
	var answer struct{ Code string }
	_ = json.Unmarshal([]byte(body), &answer) // no code then
	return answer.Code
}

// A link lets one browser in, once; the key stays in no address, and no script
// and no other site gets the cookie.
func TestOneTimeLink(t *testing.T) {
	dir := t.TempDir()
	host, _ := start(t, standalone.Options{Home: dir})
	b := browser(t)
	if response, body := ask(t, b, "GET", host.Address+"/", ""); response.StatusCode != 401 || !strings.Contains(body, "draft-sessions up") {
		t.Errorf("%d %s", response.StatusCode, body)
	}
	link := host.NewLink()
	if response, _ := ask(t, b, "HEAD", link, ""); response.Header.Get("Set-Cookie") != "" {
		t.Error("looking at a link used it up")
	}
	response, _ := ask(t, b, "GET", link, "")
	cookie := response.Header.Get("Set-Cookie")
	if response.StatusCode != 303 || response.Header.Get("Location") != "/" || !strings.Contains(cookie, "HttpOnly") || !strings.Contains(cookie, "SameSite=Strict") || !strings.Contains(cookie, "Path=/") {
		t.Errorf("%d, %v", response.StatusCode, response.Header)
	}
	if response.Header.Get("Referrer-Policy") != "no-referrer" || response.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%v", response.Header)
	}
	if response, _ := ask(t, b, "GET", host.Address+"/api/state", ""); response.StatusCode != 200 {
		t.Errorf("%d", response.StatusCode)
	}
	if response, _ := ask(t, b, "GET", host.Address+"/", ""); response.StatusCode != 200 {
		t.Errorf("%d", response.StatusCode)
	}
	for name, address := range map[string]string{"used twice": link, "made up": host.Address + "/enter?key=AAAA", "empty": host.Address + "/enter"} {
		stranger := browser(t)
		if response, _ := ask(t, stranger, "GET", address, ""); response.Header.Get("Set-Cookie") != "" {
			t.Errorf("%s: %v", name, response.Header)
		}
		if response, body := ask(t, stranger, "GET", host.Address+"/api/state", ""); response.StatusCode != 401 || code(body) != "unauthorized" {
			t.Errorf("%s: %d %s", name, response.StatusCode, body)
		}
	}
	// A host that starts again lets the same browser in.
	address, err := url.Parse(host.Address)
	if err != nil {
		t.Fatal(err)
	}
	cookies := b.Jar.Cookies(address)
	if err := host.Close(); err != nil {
		t.Fatal(err)
	}
	again, _ := start(t, standalone.Options{Home: dir})
	if response, _ := ask(t, browser(t), "GET", again.Address+"/api/state", "", "Cookie", cookies[0].String()); response.StatusCode != 200 {
		t.Errorf("%d", response.StatusCode)
	}
	forged := *cookies[0]
	forged.Value = forged.Value[:len(forged.Value)-4] + "AAAA"
	if response, _ := ask(t, browser(t), "GET", again.Address+"/api/state", "", "Cookie", forged.String()); response.StatusCode != 401 {
		t.Errorf("a forged cookie: %d", response.StatusCode)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "cookie.key")); err != nil || len(data) != 32 {
		t.Errorf("%d bytes, %v", len(data), err)
	}
}

// What another page, another name or a stranger may not do, although the browser
// would send our cookie along.
func TestForeignRequests(t *testing.T) {
	host, c := start(t, standalone.Options{})
	b := browser(t)
	ask(t, b, "GET", host.Address+strings.TrimPrefix(host.NewLink(), host.Address), "")
	w := c.workspace()
	body := `{"workspaceId":"` + w + `"}`
	json := []string{"Content-Type", "application/json"}
	create := host.Address + "/api/sessions"
	for name, test := range map[string]struct {
		method, address, body string
		headers               []string
		status                int
		code                  string
	}{
		"our own page":             {"POST", create, body, append([]string{"Origin", host.Address, "Sec-Fetch-Site", "same-origin"}, json...), 200, ""},
		"another site":             {"POST", create, body, append([]string{"Origin", "https://elsewhere.example", "Sec-Fetch-Site", "cross-site"}, json...), 403, "forbidden"},
		"another port":             {"POST", create, body, append([]string{"Origin", "http://127.0.0.1:1", "Sec-Fetch-Site", "same-site"}, json...), 403, "forbidden"},
		"an old browser":           {"POST", create, body, append([]string{"Origin", "http://127.0.0.1:1"}, json...), 403, "forbidden"},
		"a page without a name":    {"POST", create, body, append([]string{"Origin", "null"}, json...), 403, "forbidden"},
		"a form":                   {"POST", create, body, []string{"Content-Type", "text/plain", "Origin", host.Address}, 400, "bad-request"},
		"a read from another port": {"GET", host.Address + "/api/state", "", []string{"Sec-Fetch-Site", "same-site"}, 403, "forbidden"},
		"a read with an origin":    {"GET", host.Address + "/api/events", "", []string{"Origin", "http://127.0.0.1:1"}, 403, "forbidden"},
		"another name":             {"GET", host.Address + "/api/state", "", []string{"Host", "elsewhere.example"}, 403, "forbidden"},
		"another name's page":      {"GET", host.Address + "/", "", []string{"Host", "elsewhere.example"}, 403, "forbidden"},
		"our name, another port":   {"GET", host.Address + "/api/state", "", []string{"Host", "127.0.0.1:1"}, 403, "forbidden"},
		"our other name":           {"GET", host.Address + "/api/health", "", []string{"Host", "localhost:" + strings.Split(host.Address, ":")[2]}, 200, ""},
		"deleting from elsewhere":  {"DELETE", host.Address + "/api/workspaces/" + w, "", []string{"Origin", "http://127.0.0.1:1", "Sec-Fetch-Site", "same-site"}, 403, "forbidden"},
	} {
		response, answer := ask(t, b, test.method, test.address, test.body, test.headers...)
		if response.StatusCode != test.status || code(answer) != test.code {
			t.Errorf("%s: %d %s", name, response.StatusCode, answer)
		}
		if response.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: lets other origins read", name)
		}
	}
	for _, route := range []string{"GET /api/state", "GET /api/events", "GET /api/agents", "GET /api/folders", "POST /api/links", "POST /api/drafts/list", "POST /api/sessions", "GET /api/sessions/x", "POST /api/sessions/x/prompts", "GET /api/none"} {
		method, path, _ := strings.Cut(route, " ")
		for name, header := range map[string]string{"nothing": "", "a wrong token": "Bearer AAAA", "no token": "Bearer "} {
			response, answer := ask(t, browser(t), method, host.Address+path, "{}", "Authorization", header, "Content-Type", "application/json")
			if response.StatusCode != 401 || code(answer) != "unauthorized" {
				t.Errorf("%s with %s: %d %s", route, name, response.StatusCode, answer)
			}
		}
	}
}

// The page may run its own files only, and nobody may frame it.
func TestHeaders(t *testing.T) {
	host, _ := start(t, standalone.Options{})
	b := browser(t)
	ask(t, b, "GET", host.NewLink(), "")
	for _, path := range []string{"/", "/api/state", "/api/none", "/assets/none"} {
		response, _ := ask(t, b, "GET", host.Address+path, "")
		policy := response.Header.Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"} {
			if !strings.Contains(policy, part) {
				t.Errorf("%s: %q", path, policy)
			}
		}
		if strings.Contains(policy, "unsafe") || response.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v", path, response.Header)
		}
	}
	response, body := ask(t, b, "GET", host.Address+"/", "")
	if strings.Contains(body, "<style") || strings.Contains(body, "<script>") || !strings.HasPrefix(response.Header.Get("Content-Type"), "text/html") {
		t.Errorf("%s", body)
	}
	again, _ := ask(t, b, "GET", host.Address+"/", "", "If-None-Match", response.Header.Get("ETag"))
	if again.StatusCode != 304 {
		t.Errorf("%d", again.StatusCode)
	}
}

// No parameter names a file outside of what it is for.
func TestTraversal(t *testing.T) {
	dir, folder := t.TempDir(), t.TempDir()
	host, c := start(t, standalone.Options{Home: dir, Folders: []string{folder}})
	if err := os.Mkdir(filepath.Join(folder, "inner"), 0o700); err != nil {
		t.Fatal(err)
	}
	const secret = "cookie.key"
	for _, path := range []string{
		"/assets/../index.html", "/assets/%2e%2e/index.html", "/assets/..%2f..%2f" + secret, "/assets//etc/passwd", "/assets/%00", "/page/../index.html", "/page/%2e%2e/index.html", "/page/..%2f..%2f" + secret, "/" + secret, "/..%2f" + secret,
		"/api/sessions/..%2f" + secret, "/api/sessions/%2e%2e", "/api/submissions/..%2f..%2fx",
	} {
		request, err := http.NewRequestWithContext(t.Context(), "GET", host.Address, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.URL.Opaque = strings.TrimPrefix(host.Address, "http:") + path // as it is, not cleaned
		request.Header.Set("Authorization", "Bearer "+c.Token)
		response, err := browser(t).Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode < 300 {
			t.Errorf("%s: %d", path, response.StatusCode)
		}
	}
	for _, path := range []string{"relative", folder + "/../..", "../x", folder + "/inner/..", "/\x00"} {
		status, answer, err := c.call("GET", "/api/folders?path="+url.QueryEscape(path), nil)
		if err != nil || status != 400 || answer["code"] != "bad-request" {
			t.Errorf("folders %q: %d, %v, %v", path, status, answer, err)
		}
		if path == "/\x00" {
			continue // no JSON string either
		}
		status, answer, err = c.call("POST", "/api/workspaces", object{"path": path})
		if err != nil || status != 400 || answer["code"] != "bad-request" {
			t.Errorf("workspaces %q: %d, %v, %v", path, status, answer, err)
		}
	}
	if got := c.must("GET", "/api/folders?path="+url.QueryEscape(folder), nil); len(got["folders"].([]any)) != 1 {
		t.Errorf("%v", got)
	}
	w := c.workspace()
	for _, id := range []string{"../x", "a/b", "..", "a\x00b"} {
		status, answer, err := c.call("POST", "/api/sessions", object{"workspaceId": w, "sessionId": id})
		if err != nil || status != 400 {
			t.Errorf("session %q: %d, %v, %v", id, status, answer, err)
		}
	}
	if entries, err := os.ReadDir(filepath.Join(dir, "sessions")); err != nil || len(entries) != 0 {
		t.Errorf("%v, %v", entries, err)
	}
}

func TestBodies(t *testing.T) {
	host, c := start(t, standalone.Options{})
	w := c.workspace()
	for name, test := range map[string]struct {
		path, body, kind string
		status           int
		code             string
	}{
		"too large":                 {"/api/drafts/create", `{"text":"` + strings.Repeat("x", 5<<20) + `"}`, "application/json", 413, "too-large"},
		"not JSON":                  {"/api/sessions", "secret words", "application/json", 400, "bad-request"},
		"unknown member":            {"/api/sessions", `{"workspaceId":"` + w + `","secret words":1}`, "application/json", 400, "bad-request"},
		"unknown of draft":          {"/api/drafts/get", `{"draftId":"x","secret words":1}`, "application/json", 400, "bad-request"},
		"twice":                     {"/api/sessions", `{"workspaceId":"a","workspaceId":"b"}`, "application/json", 400, "bad-request"},
		"not Unicode":               {"/api/sessions", "{\"title\":\"\xff\"}", "application/json", 400, "bad-request"},
		"a form":                    {"/api/sessions", "workspaceId=x", "application/x-www-form-urlencoded", 400, "bad-request"},
		"no kind":                   {"/api/sessions", "{}", "", 400, "bad-request"},
		"no draft":                  {"/api/drafts/get", `{"draftId":"none"}`, "application/json", 404, "DRAFT_NOT_FOUND"},
		"what a host says":          {"/api/drafts/before-prompt", `{}`, "application/json", 404, "not-found"},
		"a draft's send of nothing": {"/api/drafts/send", `{"draftId":"none","submissionId":"x"}`, "application/json", 404, "DRAFT_NOT_FOUND"},
	} {
		response, answer := ask(t, browser(t), "POST", host.Address+test.path, test.body, "Content-Type", test.kind, "Authorization", "Bearer "+c.Token)
		if response.StatusCode != test.status || code(answer) != test.code || strings.Contains(answer, "secret words") {
			t.Errorf("%s: %d %s", name, response.StatusCode, answer)
		}
	}
}

// Invariant 11: neither log nor error of the host holds a prompt, a text or the token.
func TestNothingPrivateIsLogged(t *testing.T) {
	log := &strings.Builder{}
	_, c := start(t, standalone.Options{Log: newLog(log)})
	const secret = "very-secret-words"
	d := c.draft("new", object{"workspaceId": c.workspace(), "text": secret})
	c.draft("send", object{"draftId": d["id"], "submissionId": "s"})
	c.submission("s", "completed")
	_, _, err := c.call("POST", "/api/sessions/none/prompts", object{"submissionId": "t", "text": secret})
	if err != nil {
		t.Fatal(err)
	}
	if err := syscallKillPlugin(t, c); err != nil {
		t.Fatal(err)
	}
	logged := locked(log)
	if strings.Contains(logged, secret) || strings.Contains(logged, c.Token) || logged == "" {
		t.Errorf("%s", logged)
	}
}
