package control

// allowed are the calls that a command may make. A call that is not named here
// is the host's: the channel on which the host itself is called, and what only
// the host can have observed. A test holds the list against the contract.
var allowed = map[string]bool{
	"Info": true, "Gate": true, "Watch": true,
	"List": true, "Get": true, "Create": true, "Update": true, "Delete": true, "Restore": true, "ListTrash": true,
	"Rebind": true, "Reorder": true, "Duplicate": true, "ResolveConflict": true, "GetSidebar": true, "DismissNotice": true,
	"NewDraft": true, "Bind": true, "Move": true, "OpenEditor": true, "Edit": true, "Flush": true, "CloseEditor": true,
	"Reconcile": true, "ChooseSession": true,
	"ListHostWorkspaces": true, "EditText": true, "Relocate": true, "Import": true, "Send": true, "SendStatus": true,
	"ListSent": true, "ReadAnswer": true,
}

// hostOnly are the others, for the test.
var hostOnly = map[string]bool{
	"HostChannel": true, "BeforePrompt": true, "AfterPrompt": true, "BeforeCommand": true, "AfterCommand": true, "ObserveSession": true,
}
