// Package markdown renders what an agent says as HTML that a page may show as it
// is: [HTML]. An agent's text is foreign: HTML in it is shown as text, and what
// comes out holds no script, style, form, frame, foreign image or link of another
// kind than http, https and mailto.
package markdown

import (
	"bytes"
	"html"
	"regexp"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

// MaxBytes bounds what is rendered; a longer text is shown as it is.
const MaxBytes = 512 << 10

var (
	// goldmark leaves dangerous links out by itself; the policy below holds
	// whatever goldmark does.
	converter = goldmark.New(goldmark.WithExtensions(extension.Linkify, extension.Strikethrough, table), goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(asText{}, 100))))
	policy    = newPolicy()
	// A style attribute would not pass the page's content security policy.
	table = extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute))
)

func newPolicy() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements("p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "pre", "code", "em", "strong", "del",
		"ul", "li", "table", "thead", "tbody", "tr")
	p.AllowAttrs("start").Matching(bluemonday.Integer).OnElements("ol")
	p.AllowElements("ol")
	p.AllowAttrs("align").Matching(regexp.MustCompile(`^(left|center|right)$`)).OnElements("th", "td")
	p.AllowElements("th", "td")
	p.AllowAttrs("class").Matching(regexp.MustCompile(`^language-[A-Za-z0-9_+#.-]{1,32}$`)).OnElements("code")
	p.AllowAttrs("href").OnElements("a")
	p.AllowURLSchemes("http", "https", "mailto")
	p.AllowRelativeURLs(false)
	p.RequireNoFollowOnLinks(true)
	p.RequireNoReferrerOnLinks(true)
	p.AddTargetBlankToFullyQualifiedLinks(true)
	return p
}

// HTML renders text. It never fails: what cannot be rendered is shown as text.
func HTML(text string) string {
	if len(text) <= MaxBytes {
		var out bytes.Buffer
		if converter.Convert([]byte(text), &out) == nil {
			return policy.SanitizeReader(&out).String()
		}
	}
	return "<pre>" + html.EscapeString(text) + "</pre>"
}
