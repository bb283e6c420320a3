package control

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// startOf is the start time of a process in ticks since boot, with the boot it
// belongs to; [ended] when it has ended and nobody has taken note, "" when it is gone.
func startOf(pid int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	// The second field may hold anything, blanks and brackets too; the start is
	// the 20th behind it.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 20 {
		return ""
	}
	if state := fields[0][0]; state == 'Z' || state == 'X' {
		return ended
	}
	return boot() + "/" + string(fields[19])
}

var boot = sync.OnceValue(func() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
})

// machine also tells containers apart: each has process ids of its own.
var machine = sync.OnceValue(func() string {
	name, _ := os.Hostname() // "" is a name as well.
	space, _ := os.Readlink("/proc/self/ns/pid")
	return name + " " + space
})

// peer is the user and process at the other end of a unix socket.
func peer(conn *net.UnixConn) (uid uint32, pid int, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, 0, err
	}
	var credentials *unix.Ucred
	var sockErr error
	if err := raw.Control(func(fd uintptr) {
		credentials, sockErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return 0, 0, err
	}
	if sockErr != nil {
		return 0, 0, sockErr
	}
	return credentials.Uid, int(credentials.Pid), nil
}
