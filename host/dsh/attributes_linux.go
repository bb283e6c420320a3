package dsh

import "syscall"

// attributes puts DSH into a group of its own, since Ctrl+C shall reach the caller
// alone, which then stops DSH in order; a killed caller takes DSH with it.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
