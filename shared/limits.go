package shared

import "time"

// Limits of design.md.
const (
	DefaultDraftsPerWorkspace = 50
	MinDraftsPerWorkspace     = 20
	// MaxTextBytes bounds the text of a draft and of a conflict copy, in bytes of UTF-8.
	MaxTextBytes = 1 << 20
	// MaxTitleBytes bounds a title that the user gave.
	MaxTitleBytes = 1 << 10
	// MaxEditorIDBytes bounds the id that a page gives itself.
	MaxEditorIDBytes = 128
	// MaxContentBytes bounds the JSON of a Content or Settings object.
	MaxContentBytes = 1 << 20
	// MaxConflicts bounds the conflict copies of one draft; the next edit that
	// would make one more is refused with DRAFT_LIMIT_REACHED and stays in its page.
	MaxConflicts = 50
	// MaxFileBytes bounds the draft file; WarnFileBytes is logged once.
	MaxFileBytes  = 256 << 20
	WarnFileBytes = 32 << 20
	MaxTrash      = 200
	TrashAge      = 30 * 24 * time.Hour
	MaxReceipts   = 500
	// SaveDebounce is how long an editor waits for the next key before it saves.
	SaveDebounce = 350 * time.Millisecond
)
