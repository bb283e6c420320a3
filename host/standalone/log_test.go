package standalone_test

import (
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/hashicorp/go-hclog"
)

// logLock guards what loggers of these tests write to.
var logLock sync.Mutex

type lockedWriter struct{ to *strings.Builder }

func (w lockedWriter) Write(p []byte) (int, error) {
	logLock.Lock()
	defer logLock.Unlock()
	return w.to.Write(p)
}

func newLog(to *strings.Builder) hclog.Logger {
	return hclog.New(&hclog.LoggerOptions{Level: hclog.Trace, Output: lockedWriter{to}})
}

func locked(from *strings.Builder) string {
	logLock.Lock()
	defer logLock.Unlock()
	return from.String()
}

// syscallKillPlugin kills the plugin and waits until another one is there: its
// end and start are logged too.
func syscallKillPlugin(t *testing.T, c *client) error {
	t.Helper()
	old := pluginOf(t, c.PID)
	if err := syscall.Kill(old, syscall.SIGKILL); err != nil {
		return err
	}
	until(t, "another plugin", func() bool {
		found := childrenOf(c.PID, binary, "plugin")
		return len(found) == 1 && found[0] != old
	})
	return nil
}
