//go:build !linux

package dsh

import "syscall"

// attributes puts DSH into a group of its own, since Ctrl+C shall reach the caller
// alone, which then stops DSH in order.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
