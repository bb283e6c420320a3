// Package standalone is the gate of the standalone host's page: the real binary, a
// real Chromium and real key events, and the page's own checks in Node. The drivers
// lie in smoketest/internal; what they know of the page is its roles and labels.
package standalone
