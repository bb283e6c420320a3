package server

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/fault"
)

const (
	// keyAge is how long a one-time link may be used.
	keyAge = 10 * time.Minute
	// cookieAge is how long a browser stays let in.
	cookieAge = 90 * 24 * time.Hour
	maxKeys   = 100
)

// auth lets browsers and programs in. A cookie is a random id and its end,
// signed with a key of the home, so that a browser stays let in when the host is
// restarted; removing the key's file locks all of them out.
type auth struct {
	key    []byte
	token  [sha256.Size]byte
	cookie string // its name: hosts on other ports of this machine have other ones

	mu   sync.Mutex                      // guards keys
	keys map[[sha256.Size]byte]time.Time // of one-time links, with their end
}

func newAuth(key []byte, token string) *auth {
	sum := sha256.Sum256(key)
	return &auth{key: key, token: sha256.Sum256([]byte(token)), cookie: "draft-sessions-" + hex.EncodeToString(sum[:4]), keys: map[[sha256.Size]byte]time.Time{}}
}

func (a *auth) newKey() string {
	key := rand.Text()
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	for k, end := range a.keys {
		if now.After(end) || len(a.keys) >= maxKeys {
			delete(a.keys, k)
		}
	}
	a.keys[sha256.Sum256([]byte(key))] = now.Add(keyAge)
	return key
}

// use tells whether a link's key is good, and uses it up.
func (a *auth) use(key string) bool {
	sum := sha256.Sum256([]byte(key))
	a.mu.Lock()
	defer a.mu.Unlock()
	end, ok := a.keys[sum]
	delete(a.keys, sum)
	return ok && time.Now().Before(end)
}

func (a *auth) sign(payload []byte) []byte {
	mac := hmac.New(sha256.New, a.key)
	mac.Write(payload)
	return mac.Sum(nil)
}

const cookiePayload = 16 + 8

func (a *auth) newCookie() *http.Cookie {
	payload := make([]byte, 16, cookiePayload+sha256.Size)
	_, _ = rand.Read(payload) // never fails
	// #nosec G115 -- after 1970
	payload = binary.BigEndian.AppendUint64(payload, uint64(time.Now().Add(cookieAge).Unix()))
	// #nosec G124 -- not Secure: the host serves plain HTTP on the loopback interface
	return &http.Cookie{
		Name: a.cookie, Value: base64.RawURLEncoding.EncodeToString(append(payload, a.sign(payload)...)),
		Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode, MaxAge: int(cookieAge.Seconds()),
	}
}

func (a *auth) hasCookie(r *http.Request) bool {
	cookie, err := r.Cookie(a.cookie)
	if err != nil {
		return false
	}
	data, err := base64.RawURLEncoding.DecodeString(cookie.Value)
	if err != nil || len(data) != cookiePayload+sha256.Size {
		return false
	}
	payload, mac := data[:cookiePayload], data[cookiePayload:]
	end := time.Unix(int64(binary.BigEndian.Uint64(payload[16:])), 0) // #nosec G115 -- what newCookie wrote; the signature is checked below
	return hmac.Equal(mac, a.sign(payload)) && time.Now().Before(end)
}

func (a *auth) hasToken(r *http.Request) bool {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	sum := sha256.Sum256([]byte(token))
	return ok && subtle.ConstantTimeCompare(sum[:], a.token[:]) == 1
}

var (
	errStranger = fault.Errorf(fault.Unauthorized, "this browser was not let in; open the link that \"draft-sessions up\" prints")
	errForeign  = fault.Errorf(fault.Forbidden, "the request comes from another origin")
	errHost     = fault.Errorf(fault.Forbidden, "the host is not called by that name")
	errNoRoute  = fault.Errorf(fault.NotFound, "there is no such route")
)

// guard refuses what comes under a foreign name (a page that had its name resolve
// to this machine) or from a foreign page, and sets the headers of every answer.
func (s *Server) guard(next http.Handler) http.Handler {
	origins := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		if !slices.ContainsFunc(s.opts.Hosts, func(name string) bool { return strings.EqualFold(name, r.Host) }) {
			s.fail(w, errHost)
			return
		}
		if origins.Check(r) != nil || !sameOrigin(r) {
			s.fail(w, errForeign)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// sameOrigin also holds requests that only read to the host's own page: cookies
// know no ports, so another page on this machine sends ours along.
func sameOrigin(r *http.Request) bool {
	if origin := r.Header.Get("Origin"); origin != "" && origin != "http://"+r.Host && origin != "https://"+r.Host {
		return false
	}
	if !strings.HasPrefix(r.URL.Path, "/api/") {
		return true // a link from elsewhere may open the page
	}
	site := r.Header.Get("Sec-Fetch-Site")
	return site == "" || site == "same-origin" || site == "none"
}

// let asks for the cookie or the token.
func (s *Server) let(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !s.auth.hasCookie(r) && !s.auth.hasToken(r) {
			s.fail(w, errStranger)
			return
		}
		next(w, r)
	}
}

// enter uses up a one-time link: the key is in no address that stays.
func (s *Server) enter(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet { // HEAD comes here too
		s.fail(w, errNoRoute)
		return
	}
	if s.auth.use(r.URL.Query().Get("key")) {
		http.SetCookie(w, s.auth.newCookie())
	}
	http.Redirect(w, r, "/", http.StatusSeeOther)
}
