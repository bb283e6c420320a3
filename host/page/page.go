// Package page holds the scripts that the pages of all hosts share: how what is
// written in a browser goes to the plugin. The DSH bundle takes them in when it is
// built, the standalone host serves them at /page/. They import only
// each other.
package page

import "embed"

// Files are the scripts, without their tests.
//
//go:embed *.js
var Files embed.FS
