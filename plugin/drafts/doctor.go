package drafts

import (
	"context"
	"path/filepath"

	"github.com/draft-sessions/dsh-draft-sessions/jsonstore"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// PathIn is the draft file of a home, such as $DSH_HOME.
func PathIn(home string) string {
	return filepath.Join(home, "storages", "dsh-draft-sessions", "drafts.json")
}

// Diagnosis is what [Diagnose] found: the state of the file and of what stands
// beside it, and how much is in it. It holds no text of a draft.
type Diagnosis struct {
	jsonstore.Report
	// Unknown: the file cannot be read, so nobody knows what it holds.
	Unknown bool `json:"unknown,omitempty"`
	// Drafts, Trash and Conflicts are how many drafts, deleted drafts and conflict
	// copies the file holds, 0 when that is unknown.
	Drafts    int `json:"drafts"`
	Trash     int `json:"trash"`
	Conflicts int `json:"conflicts"`
}

// Diagnose looks at the draft file of that path and at everything beside it. It
// creates and changes nothing, and may be used while hosts run. The error is
// DRAFT_STORAGE_IO when the folder cannot be looked at; what is wrong with the
// file is in the diagnosis.
func Diagnose(path string) (Diagnosis, error) {
	report, doc, err := jsonstore.Inspect(format, fileOptions(path))
	d := Diagnosis{Report: report, Unknown: report.Code != "", Drafts: len(doc.Drafts), Trash: len(doc.Trash)}
	for i := range doc.Drafts {
		d.Conflicts += len(doc.Drafts[i].Conflicts)
	}
	return d, err
}

// Repair puts good content in the place of a draft file that is malformed or
// missing, and keeps the malformed one beside it; see [jsonstore.Repair] for where
// it is taken from, what is durable and for the codes. Hosts that run take the
// restored file up by themselves.
func Repair(ctx context.Context, path string, from jsonstore.Source) (jsonstore.Repaired, error) {
	return jsonstore.Repair(ctx, format, fileOptions(path), from)
}

// fileOptions are those of every draft file.
func fileOptions(path string) jsonstore.Options {
	return jsonstore.Options{
		Path: path,
		// The design's own folder holds nothing else; another may be anyone's.
		PrivateFolder: filepath.Base(filepath.Dir(path)) == "dsh-draft-sessions",
		MaxBytes:      shared.MaxFileBytes,
		WarnBytes:     shared.WarnFileBytes,
		Backups:       true,
	}
}
