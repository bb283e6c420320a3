//go:build unix

package host

import (
	"io/fs"
	"os"
	"os/exec"
	"syscall"
)

// errBadExecutable is for platforms that have a second name for ENOEXEC.
const errBadExecutable = syscall.ENOEXEC

// ownGroup puts a process into a group of its own, so that what it starts can be
// ended with it: as long as one of them holds its output, go-plugin waits.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup ends a process and what it started, as far as that stayed in its group.
func killGroup(process *os.Process) {
	_ = syscall.Kill(-process.Pid, syscall.SIGKILL) // fails when all of them have ended
}

// running is whether there is a process of that id, whoever's it is.
func running(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || err == syscall.EPERM
}

// mine is whether a file belongs to this user.
func mine(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid()
}
