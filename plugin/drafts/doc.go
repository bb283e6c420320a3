// Package drafts is the DraftStore: every decision about what may become of a
// draft record is made here, once, for pages, terminals and hosts alike. Start
// with [Open]; a draft is a [shared.DraftRecord], kept in one file that several
// processes may use at once.
//
// Every method that changes something returns nil only when the change is on
// disk (invariant 1). With DRAFT_STORAGE_UNCERTAIN the change is in the file and
// in the snapshot, but a power cut could undo it; the record is returned beside
// the error, and repeating the call is safe. With any other error nothing
// changed. A method that finds nothing to change writes nothing and succeeds.
//
// Changes that come while others are written are written together, each with its
// own answer. [Diagnose] and [Repair] are for a person whose file is damaged.
//
// Records and documents that this package gives out are shared by all readers:
// never change what they point to.
package drafts
