// Package draftsessionsv1 is the gRPC contract between a host and the plugin
// process: draft_sessions.proto and the code generated from it.
//
// Run "go generate ./shared/proto/..." after a change. It needs nothing but Go:
// the compiler is a library and both code generators are tool directives of
// go.mod.
package draftsessionsv1

//go:generate go run ../internal/protogen -I . draft_sessions.proto
