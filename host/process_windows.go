package host

import (
	"io/fs"
	"os"
	"os/exec"
	"syscall"
)

// errBadExecutable is ERROR_BAD_EXE_FORMAT.
const errBadExecutable = syscall.Errno(193)

// ownGroup: a process here has no group that could be ended with it.
func ownGroup(*exec.Cmd) {}

func killGroup(process *os.Process) {
	_ = process.Kill() // fails when it has ended
}

// running is whether there is a process of that id.
func running(pid int) bool {
	process, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	_ = process.Release() // only its existence was asked for
	return true
}

// mine: the temporary folder is the user's own.
func mine(fs.FileInfo) bool { return true }
