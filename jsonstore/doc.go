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
//     changed, then subscribers were told, then the call returned. Before the first
//     file of a folder, the folders above are synced too. When the change
//     returned [ErrNoChange], what it saw is on disk in the same sense.
//   - DRAFT_STORAGE_IO, DRAFT_STORAGE_BUSY, or the change's own error: nothing
//     changed. The old file has its old bytes and no temporary file is left.
//   - DRAFT_STORAGE_UNCERTAIN: the new file is in place and whole, but its
//     directory could not be synced, so a power cut may bring the old file back.
//     The snapshot is the new document, as is the file. Repeating the same change
//     is safe: everything is written and synced again before it succeeds, since a
//     system that failed to sync may forget what it held.
//   - DRAFT_STORAGE_INVALID, DRAFT_STORAGE_UNSUPPORTED: the file is malformed or of
//     a later version. It is never written in that state. Snapshot gives the last
//     good document, and updates are refused until the file is valid again, which
//     is noticed by itself.
//   - OPERATION_UNKNOWN: the caller stopped waiting while the change was being
//     written; it may or may not be on disk.
//
// A read waits for nothing and may be of a state that the next refresh replaces.
//
// # Group commit
//
// Updates that wait while a commit runs go into the next one: each runs on the
// result of the one before it, has its own answer, and one that is refused is
// left out. When several came last time, the next commit waits a moment for them,
// a third of the last commit's time at most. When every update of a batch is
// refused or has nothing to change, nothing is written. A document is kept as the
// lines of its file ([Encoded]): what a change leaves alone is neither encoded
// again nor, when another process wrote the file, parsed again.
//
// # Several processes
//
// Every read-modify-write holds a lock beside the file ("<file>.lock", waited for
// in "<file>.queue.lock" by one process at a time, so that none is overtaken for
// long) and reads the file again first if it is not the one last seen: another
// device, inode, size, time, version or generation. So no update is lost. An
// update waits for the lock for [Options.LockWait] at most; DRAFT_STORAGE_BUSY
// then names the process that holds it. What other processes write is noticed by
// watching the directory and by looking every two seconds.
//
// The lock is advisory: a program that does not take it can lose its own changes
// or ours, but never tears the file, provided that it renames too.
//
// # Backups and repair
//
// With [Options.Backups] good generations are kept by time, off the path of
// updates; a backup is no part of what a call promises. [Inspect] looks at a file
// and at all beside it and changes nothing. [Repair] puts a backup in the place of
// a malformed file; nothing in this package calls it.
package jsonstore
