package control

import (
	"fmt"
	"net"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// zombie is SZOMB of <sys/proc.h>.
const zombie = 5

// startOf is the start time of a process; [ended] when it has ended and nobody has
// taken note, "" when it is gone.
func startOf(pid int) string {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(info.Proc.P_pid) != pid {
		return ""
	}
	if info.Proc.P_stat == zombie {
		return ended
	}
	return fmt.Sprintf("%d.%06d", info.Proc.P_starttime.Sec, info.Proc.P_starttime.Usec)
}

var machine = sync.OnceValue(func() string {
	name, _ := os.Hostname() // "" is a name as well.
	return name
})

// peer is the user and process at the other end of a unix socket.
func peer(conn *net.UnixConn) (uid uint32, pid int, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, 0, err
	}
	var credentials *unix.Xucred
	var sockErr error
	if err := raw.Control(func(fd uintptr) {
		if credentials, sockErr = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED); sockErr != nil {
			return
		}
		pid, sockErr = unix.GetsockoptInt(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERPID)
	}); err != nil {
		return 0, 0, err
	}
	if sockErr != nil {
		return 0, 0, sockErr
	}
	return credentials.Uid, pid, nil
}
