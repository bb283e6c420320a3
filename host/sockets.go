package host

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/hashicorp/go-hclog"
)

const (
	// socketPrefix, the id of the process that it belongs to and a dash begin the name of
	// a socket folder; the DSH bundle and a plugin's control socket name theirs the same
	// way, and each host sweeps what others left.
	socketPrefix = "draft-sessions-"
	// maxSocketBase bounds the folder that they lie in: the path of a unix socket has
	// about 104 bytes.
	maxSocketBase = 50
)

// socketFolder makes a folder for one process' socket, mode 0700, after sweeping
// those of hosts that were killed.
func socketFolder(log hclog.Logger) (string, error) {
	base := os.TempDir()
	if len(base) > maxSocketBase {
		base = shortTemp
	}
	sweepSockets(base, log)
	dir, err := os.MkdirTemp(base, fmt.Sprintf("%s%d-", socketPrefix, os.Getpid()))
	if err != nil {
		return "", fmt.Errorf("making the socket folder: %w", err)
	}
	return dir, nil
}

// shortTemp is where sockets lie when TMPDIR is too long.
var shortTemp = string(filepath.Separator) + "tmp"

// sweepSockets removes the folders of processes that are gone.
func sweepSockets(base string, log hclog.Logger) {
	entries, err := os.ReadDir(base)
	if err != nil {
		log.Warn("could not look for old socket folders", "error", err)
		return
	}
	for _, entry := range entries {
		rest, ours := strings.CutPrefix(entry.Name(), socketPrefix)
		owner, _, named := strings.Cut(rest, "-")
		pid, err := strconv.Atoi(owner)
		if !ours || !named || err != nil || pid <= 0 || running(pid) || !entry.IsDir() {
			continue
		}
		if info, err := entry.Info(); err != nil || !mine(info) {
			continue // swept by another host, or another user's
		}
		if err := os.RemoveAll(filepath.Join(base, entry.Name())); err != nil {
			log.Warn("could not remove an old socket folder", "error", err)
		}
	}
}
