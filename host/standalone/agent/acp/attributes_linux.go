package acp

import "syscall"

// attributes puts the program into a group of its own, so that what it starts
// ends with it, and has the kernel end it when the host is killed.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
