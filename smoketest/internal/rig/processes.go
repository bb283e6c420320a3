package rig

import (
	"fmt"
	"math/rand/v2"
	"net"
	"time"

	"github.com/draft-sessions/dsh-draft-sessions/smoketest/internal/processes"
)

// PluginPids are the plugin processes of this home, whoever their parent is now.
func (h *Home) PluginPids() []int { return processes.Plugins(h.DraftFile()) }

// waitGone polls until there are none, and gives those that are left.
func waitGone(pids func() []int, limit time.Duration) []int {
	deadline := time.Now().Add(limit)
	for {
		left := pids()
		if len(left) == 0 || time.Now().After(deadline) {
			return left
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// Ports of harnesses lie below the range that the system hands to outgoing
// connections (32768 and up on Linux), so that a restart finds its port free.
const (
	firstPort = 20000
	lastPort  = 31999
)

func freePort() (int, error) {
	for range 100 {
		port := firstPort + rand.IntN(lastPort-firstPort+1)
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			continue
		}
		return port, listener.Close()
	}
	return 0, fmt.Errorf("no free port between %d and %d", firstPort, lastPort)
}
