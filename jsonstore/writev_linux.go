package jsonstore

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// writev implements [vectorWriter].
func (f osFile) writev(slices [][]byte) (int, error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return 0, err
	}
	var n int
	var errWrite error
	err = raw.Write(func(fd uintptr) bool {
		for {
			if n, errWrite = unix.Writev(int(fd), slices); !errors.Is(errWrite, unix.EINTR) {
				return true
			}
		}
	})
	if err == nil && errWrite != nil {
		err = &os.PathError{Op: "writev", Path: f.Name(), Err: errWrite}
	}
	return n, err
}
