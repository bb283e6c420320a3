package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"

	goplugin "github.com/hashicorp/go-plugin"

	"github.com/draft-sessions/dsh-draft-sessions/shared/compat"
	"github.com/draft-sessions/dsh-draft-sessions/shared/manifest"
	pb "github.com/draft-sessions/dsh-draft-sessions/shared/proto/draftsessionsv1"
)

// Codes of a [compat.Reason], beside those of packages compat and manifest; the
// same as in the DSH bundle.
const (
	// PluginStartFailed: the process did not come up; another try may succeed.
	PluginStartFailed = "PLUGIN_START_FAILED"
	// PluginCrashed: it came up and ended, perhaps too often.
	PluginCrashed = "PLUGIN_CRASHED"
	// Internal: the host's own part failed.
	Internal = "INTERNAL"
)

// StartError is why a plugin process cannot be used. No process is left.
type StartError struct {
	// Reasons are for a person and a program; at least one.
	Reasons []compat.Reason
	// Permanent: the same start misses again until a person has mended something,
	// so it is not tried again.
	Permanent bool
	// Err is the cause, nil when the gate decided.
	Err error
}

func (e *StartError) Error() string {
	if e.Err != nil {
		return e.Err.Error()
	}
	var says []string
	for _, r := range e.Reasons {
		says = append(says, fmt.Sprintf("%s (%s): expected %s, found %s. %s", r.Code, r.Subject, r.Expected, r.Found, r.Message))
	}
	return strings.Join(says, "; ")
}

// Unwrap gives the cause.
func (e *StartError) Unwrap() error { return e.Err }

// mismatch is a permanent miss of one reason.
func mismatch(reason compat.Reason, err error) *StartError {
	return &StartError{Reasons: []compat.Reason{reason}, Permanent: true, Err: err}
}

// startError gives any error of a start its reason.
func startError(err error) *StartError {
	var known *StartError
	if errors.As(err, &known) {
		reasons := slices.Clone(known.Reasons)
		for i := range reasons {
			if reasons[i].Found == "" && known.Err != nil {
				reasons[i].Found = err.Error() // with the last words
			}
		}
		return &StartError{Reasons: reasons, Permanent: known.Permanent, Err: err}
	}
	var miss *manifest.Error
	if errors.As(err, &miss) {
		return mismatch(miss.Reason, err)
	}
	return &StartError{Err: err, Reasons: []compat.Reason{{
		Code: PluginStartFailed, Subject: "plugin", Found: err.Error(),
		Message: "The drafts plugin could not be started; the host goes on without drafts.",
	}}}
}

// handshakeError finds the permanent reason of a failed start, if it is one.
func handshakeError(err error, binary string) error {
	says := err.Error()
	switch {
	case strings.Contains(says, "Failed to read any lines"): // it ended without a word
		return err
	case errors.Is(err, goplugin.ErrChecksumsDoNotMatch):
		return mismatch(compat.Reason{
			Code: manifest.ChecksumMismatch, Subject: binary,
			Message: "The plugin binary was replaced while it was being started; install the plugin again.",
		}, err)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return mismatch(compat.Reason{
			Code: manifest.BinaryMissing, Subject: binary,
			Message: "The plugin binary is missing or may not be run; install the plugin again.",
		}, err)
	case errors.Is(err, syscall.ENOEXEC), errors.Is(err, syscall.Errno(errBadExecutable)):
		return mismatch(compat.Reason{
			Code: manifest.BinaryPlatform, Subject: binary,
			Message: "The plugin binary is none that this machine can run; install the plugin's package for this platform.",
		}, err)
	// go-plugin tells these by their words alone.
	case strings.Contains(says, "incompatible core API version"), strings.Contains(says, "incompatible API version"),
		strings.Contains(says, "Unrecognized remote plugin message"), strings.Contains(says, "unsupported plugin protocol"):
		return mismatch(compat.Reason{
			Code: compat.ProtocolMismatch, Subject: binary,
			Message: "What was started does not speak as this host's plugin does; install both of one release.",
		}, err)
	}
	return err
}

// decide asks the plugin for its decision on the host's facts.
func (p *Plugin) decide(ctx context.Context, o Options) error {
	facts := &pb.GateRequest{}
	if o.Facts != nil {
		var err error
		if facts, err = o.Facts(ctx); err != nil {
			return fmt.Errorf("collecting the host's facts: %w", err)
		}
	}
	if facts.Host == "" {
		facts.Host, facts.HostVersion = o.Name, o.Version
	}
	if facts.Protocol == 0 {
		facts.Protocol = int32(o.protocol()) // #nosec G115 -- protocol numbers are small
	}
	decision, err := p.Client.Gate(ctx, facts)
	if err != nil {
		return fmt.Errorf("asking the plugin for its decision: %w", err)
	}
	p.Decision = decision
	if decision.Mode == compat.ModeFull {
		return nil
	}
	return &StartError{Reasons: reasonsOf(decision), Permanent: true}
}

func reasonsOf(decision *pb.GateResponse) []compat.Reason {
	var reasons []compat.Reason
	for _, r := range decision.GetReasons() {
		reasons = append(reasons, compat.Reason{Code: r.Code, Subject: r.Subject, Expected: r.Expected, Found: r.Found, Message: r.Message})
	}
	return reasons
}
