package markdown

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
	"pgregory.net/rapid"
)

// What a page must never get from an agent, however it is written.
func TestNothingRuns(t *testing.T) {
	for _, text := range []string{
		"<script>alert(1)</script>", "a <img src=x onerror=alert(1)> b", "<iframe src=http://x></iframe>", "<style>*{display:none}</style>",
		"[x](javascript:alert(1))", "[x](JaVaScRiPt:alert(1))", "[x](&#106;avascript:alert(1))", "[x](java\nscript:alert(1))", "[x](data:text/html,<script>alert(1)</script>)",
		"[x](vbscript:x)", "<javascript:alert(1)>", "![x](javascript:alert(1))", "![x](http://elsewhere/pixel.png)", "[x]: javascript:alert(1)\n\n[x]",
		"<a href=\"javascript:alert(1)\">x</a>", "<form action=/><input name=q></form>", "<svg onload=alert(1)>", "<details open ontoggle=alert(1)>",
		"```\"><script>alert(1)</script>\nx\n```", "<!-- --><script>alert(1)</script>", "[x](/api/state)", "[x](//elsewhere)",
	} {
		check(t, text, HTML(text))
	}
}

// The same for anything that looks like Markdown and HTML.
func TestNothingRunsWhateverIsWritten(t *testing.T) {
	pieces := rapid.SampledFrom([]string{"<", ">", "script", "img src=x onerror=", "[", "](", ")", "javascript:", "data:", "`", "\n", "```", "\"", "'", "&#", ";", "a", " ", "/", "on", "=", "<!--", "-->", "<a href=", "svg", "x", "!", "|", "-"})
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOfN(pieces, 0, 30).Draw(rt, "pieces"), "")
		check(rt, text, HTML(text))
	})
}

type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

var allowed = map[string][]string{
	"p": nil, "br": nil, "hr": nil, "h1": nil, "h2": nil, "h3": nil, "h4": nil, "h5": nil, "h6": nil, "blockquote": nil, "pre": nil, "code": {"class"}, "em": nil, "strong": nil,
	"del": nil, "ul": nil, "ol": {"start"}, "li": nil, "table": nil, "thead": nil, "tbody": nil, "tr": nil, "th": {"align"}, "td": {"align"}, "a": {"href", "rel", "target"},
}

// check reads the result as a browser does.
func check(t fataler, text, result string) {
	t.Helper()
	tokens := html.NewTokenizer(strings.NewReader(result))
	for {
		kind := tokens.Next()
		if kind == html.ErrorToken {
			return
		}
		token := tokens.Token()
		switch kind {
		case html.CommentToken, html.DoctypeToken:
			t.Fatalf("%q became %q with a %s", text, result, kind)
		case html.StartTagToken, html.SelfClosingTagToken:
			attributes, ok := allowed[token.Data]
			if !ok {
				t.Fatalf("%q became %q with <%s>", text, result, token.Data)
			}
			for _, a := range token.Attr {
				if !contains(attributes, a.Key) {
					t.Fatalf("%q became %q with %s=%q", text, result, a.Key, a.Val)
				}
				if a.Key == "href" && !strings.HasPrefix(a.Val, "http://") && !strings.HasPrefix(a.Val, "https://") && !strings.HasPrefix(a.Val, "mailto:") {
					t.Fatalf("%q became %q with a link to %q", text, result, a.Val)
				}
			}
		}
	}
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

func TestWhatIsShown(t *testing.T) {
	for text, want := range map[string]string{
		"**b** _i_ `c`":              "<p><strong>b</strong> <em>i</em> <code>c</code></p>\n",
		"a <div> b":                  "<p>a &lt;div&gt; b</p>\n",
		"<div>\n**x**\n</div>":       "<pre><code>&lt;div&gt;\n**x**\n&lt;/div&gt;</code></pre>\n",
		"```go\nx := \"<\"\n```":     "<pre><code class=\"language-go\">x := &#34;&lt;&#34;\n</code></pre>\n",
		"| a |\n|--:|\n| b |":        "<table>\n<thead>\n<tr>\n<th align=\"right\">a</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td align=\"right\">b</td>\n</tr>\n</tbody>\n</table>\n",
		"[x](https://e.org/a?b)":     "<p><a href=\"https://e.org/a?b\" rel=\"nofollow noreferrer noopener\" target=\"_blank\">x</a></p>\n",
		"3. three\n4. four":          "<ol start=\"3\">\n<li>three</li>\n<li>four</li>\n</ol>\n",
		"中文 **粗体**":                  "<p>中文 <strong>粗体</strong></p>\n",
		strings.Repeat("<", 600_000): "<pre>" + strings.Repeat("&lt;", 600_000) + "</pre>",
	} {
		if got := HTML(text); got != want {
			t.Errorf("%.80q became\n%.400q, want\n%.400q", text, got, want)
		}
	}
}
