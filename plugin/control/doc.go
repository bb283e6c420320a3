// Package control is the control socket: how a command of the same user talks to
// a live plugin of a home, and so to its host. The plugin calls [Listen]; a
// command calls [Find] and gets a client of the same gRPC service, without the
// calls that only a host may make.
//
// The socket lies in a folder of mode 0700 and has mode 0600 itself; the user at
// the other end is checked by the kernel's word besides, on both sides. It is
// found by run/<pid>.json beside the draft file. A file whose process is gone
// is removed by whoever comes across it; one of another machine is left alone.
package control
