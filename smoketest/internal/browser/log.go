package browser

import (
	"fmt"
	"strings"
	"sync"

	cdpruntime "github.com/chromedp/cdproto/runtime"
)

// pageLog collects what a page throws and prints.
type pageLog struct {
	mu      sync.Mutex
	errors  []string
	console []string
}

func (l *pageLog) add(event any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch e := event.(type) {
	case *cdpruntime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			text += " " + e.ExceptionDetails.Exception.Description
		}
		l.errors = append(l.errors, text)
	case *cdpruntime.EventConsoleAPICalled:
		var parts []string
		for _, argument := range e.Args {
			if argument.Description != "" {
				parts = append(parts, argument.Description)
			} else {
				parts = append(parts, string(argument.Value))
			}
		}
		l.console = append(l.console, fmt.Sprintf("%s: %s", e.Type, strings.Join(parts, " ")))
	}
}

// Errors are the uncaught exceptions of the page so far.
func (p *Page) Errors() []string {
	p.log.mu.Lock()
	defer p.log.mu.Unlock()
	return append([]string(nil), p.log.errors...)
}

// Console is what the page printed so far, oldest first.
func (p *Page) Console() []string {
	p.log.mu.Lock()
	defer p.log.mu.Unlock()
	return append([]string(nil), p.log.console...)
}
