//go:build !linux

package acp

import "syscall"

// attributes puts the program into a group of its own, so that what it starts
// ends with it. A program whose host was killed sees the end of its input.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
