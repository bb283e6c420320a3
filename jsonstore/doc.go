// Package jsonstore keeps one versioned JSON document in one file, shared by
// any number of processes. It knows nothing of what the document means: a
// [Format] reads and writes it. Start with [Open], read with [Store.Snapshot],
// change with [Store.Update].
//
// # What is durable when a call returns
//
//   - [Store.Update] returned nil: the new document is on disk. It was written to
//     a temporary file in the same directory (0600, created exclusively), synced,
//     renamed over the old one, and the directory was synced; then the snapshot
//     changed, then subscribers were told, then the call returned. When the change
//     returned [ErrNoChange], what it saw is on disk in the same sense.
//   - DRAFT_STORAGE_IO, DRAFT_STORAGE_BUSY, or the change's own error: nothing
//     changed. The old file has its old bytes and no temporary file is left.
//   - DRAFT_STORAGE_UNCERTAIN: the new file is in place and whole, but its
//     directory could not be synced, so a power cut may bring the old file back.
//     The snapshot is the new document, as is the file. The next update reads the
//     file again; repeating the same change is safe and makes it certain.
//   - DRAFT_STORAGE_INVALID, DRAFT_STORAGE_UNSUPPORTED: the file is malformed or of
//     a later version. It is never written in that state. Snapshot gives the last
//     good document, and updates are refused until the file is valid again, which
//     is noticed by itself.
//   - OPERATION_UNKNOWN: the caller stopped waiting while the change was being
//     written; it may or may not be on disk.
//
// A read waits for nothing and may be of a state that the next refresh replaces.
//
// # Several processes
//
// Every read-modify-write holds a lock on "<file>.lock" beside the file and reads
// the file again first if it is not the one last seen, so no update is lost. What
// other processes write is noticed by watching the directory and by looking every
// two seconds. The lock is advisory: a program that does not take it can lose its
// own changes or ours, but never tears the file, provided that it renames too.
package jsonstore
