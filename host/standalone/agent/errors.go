package agent

import "errors"

// ErrCancelled: a permission request was not answered, since the turn was
// cancelled or the person dismissed it.
var ErrCancelled = errors.New("the request was cancelled")
