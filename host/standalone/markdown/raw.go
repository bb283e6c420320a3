package markdown

import (
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

// asText shows HTML in a text as what was written: an agent that explains an
// element would otherwise seem to have said nothing.
type asText struct{}

// RegisterFuncs implements [renderer.NodeRenderer].
func (asText) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindRawHTML, inline)
	r.Register(ast.KindHTMLBlock, block)
}

func inline(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		raw := node.(*ast.RawHTML)
		for i := range raw.Segments.Len() {
			segment := raw.Segments.At(i)
			_, _ = w.Write(util.EscapeHTML(segment.Value(source))) // into memory
		}
	}
	return ast.WalkSkipChildren, nil
}

func block(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	html := node.(*ast.HTMLBlock)
	if entering {
		_, _ = w.WriteString("<pre><code>") // into memory
		for i := range html.Lines().Len() {
			line := html.Lines().At(i)
			_, _ = w.Write(util.EscapeHTML(line.Value(source)))
		}
		if html.HasClosure() {
			_, _ = w.Write(util.EscapeHTML(html.ClosureLine.Value(source)))
		}
		_, _ = w.WriteString("</code></pre>\n")
	}
	return ast.WalkSkipChildren, nil
}
