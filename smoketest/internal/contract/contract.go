// Package contract has the messages of the plugin's contract as every host answers
// with them in JSON, as far as tests look at them (draft_sessions.proto is their
// definition).
package contract

// Draft is one draft.
type Draft struct {
	ID            string     `json:"id"`
	SessionID     string     `json:"sessionId"`
	WorkspaceID   string     `json:"workspaceId"`
	WorkspacePath string     `json:"workspacePath"`
	Text          string     `json:"text"`
	Title         string     `json:"title"`
	Order         int64      `json:"order"`
	State         string     `json:"state"`
	LastError     string     `json:"lastError"`
	Revision      int64      `json:"revision"`
	TextRevision  int64      `json:"textRevision"`
	Conflicts     []Conflict `json:"conflicts"`
	ContentJSON   string     `json:"contentJson"`
}

// Conflict is a kept losing text.
type Conflict struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// Sidebar is what a page's rows are made of.
type Sidebar struct {
	Rows       []Row    `json:"rows"`
	SessionIDs []string `json:"sessionIds"`
	Notices    []Notice `json:"notices"`
	TrashCount int64    `json:"trashCount"`
}

// Row is one draft in the sidebar.
type Row struct {
	DraftID   string `json:"draftId"`
	SessionID string `json:"sessionId"`
	Title     string `json:"title"`
	SaveState string `json:"saveState"`
	Conflicts int64  `json:"conflicts"`
}

// Notice is something that a page tells its user.
type Notice struct {
	ID      string `json:"id"`
	Kind    string `json:"kind"`
	DraftID string `json:"draftId"`
}
