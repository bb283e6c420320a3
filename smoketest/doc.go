// Package smoketest is the gate of the project: the built plugin in the real
// DeepSeek Harness, driven by a real Chromium, with a local stub as the model.
//
// Every test starts a harness home of its own in a folder of its own, so tests
// run side by side; all share one headless Chromium, in which each profile is a
// browser context with storage of its own. A test waits for what a person would
// see (at most [patience]) and never for a fixed time. Latencies are logged, not
// asserted. When a test fails, the harness' log, the plugin's log, the console
// and a screenshot are printed or saved.
//
// What holds on every host is in internal/flows; driver_test.go takes it to the
// harness, and the package standalone beside it to our own host. The tests here are
// of what only the harness has.
//
// Start with internal/flows/doc.go and home_test.go (what a test has at hand). "go run ./smoketest/setup" installs what the tests need.
package smoketest
