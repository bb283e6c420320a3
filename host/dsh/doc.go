// Package dsh prepares and runs the DeepSeek Harness (DSH) with this project's
// bundle: what `make dsh` and the end-to-end tests are made of. The bundle itself
// is the JavaScript beside it: server/ (the host half, with the Node go-plugin
// client), client/ (the browser half) and wire/ (what crosses between them).
//
// Start with [Prepare], which brings Node, pnpm and the pinned DSH into a cache
// folder; then [Toolchain.Stage] a bundle, [Toolchain.Install] it into a DSH_HOME
// and [Toolchain.Start] the host.
package dsh
