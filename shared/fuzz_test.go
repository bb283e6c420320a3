package shared

import (
	"bytes"
	"reflect"
	"testing"
)

// FuzzDecode: no bytes make the readers panic, both readers agree, what they
// accept is written so that it reads back the same, and a refusal has its code
// (invariant 7).
func FuzzDecode(f *testing.F) {
	f.Add([]byte(fullDocument))
	f.Add([]byte("{\"version\":2,\"generation\":0,\"drafts\":[],\"trash\":[]}\n"))
	f.Add([]byte(`{"version":2,"generation":0,"drafts":[{`))
	f.Add([]byte("{\"version\":2,\"generation\":1,\"drafts\":[\n{\"version\":2,\"id\":\"a\",\"sessionId\":null,\"workspaceId\":\"w\",\"text\":\"\\ud83d\\ude00\",\"createdAt\":1,\"updatedAt\":2,\"order\":0,\"state\":\"draft\",\"revision\":1,\"textRevision\":1}\n],\"trash\":[],\"drafts\":[]}\n"))
	f.Add([]byte("\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, err := DecodeDocument(data)
		byLines, lines, errLines := DecodeLines(cut(data), nil, nil)
		if (err == nil) != (errLines == nil) || err == nil && !reflect.DeepEqual(doc, byLines) {
			t.Fatalf("by lines: %v, as a whole: %v", errLines, err)
		}
		if err != nil {
			if CodeOf(err) != StorageInvalid || CodeOf(errLines) != StorageInvalid {
				t.Fatalf("refused with %v and %v", err, errLines)
			}
			return
		}
		written, err := EncodeLines(byLines, byLines, lines)
		if err != nil {
			t.Fatalf("accepted, but not written: %v", err)
		}
		again, err := DecodeDocument(bytes.Join(written, nil))
		if err != nil {
			t.Fatalf("written, but not accepted: %v", err)
		}
		fresh, err := EncodeDocument(doc)
		if err != nil {
			t.Fatal(err)
		}
		same, err := EncodeDocument(again)
		if err != nil || !bytes.Equal(fresh, same) {
			t.Fatalf("%v, came back as\n%s\nnot\n%s", err, same, fresh)
		}
	})
}

// FuzzMigrateV1: no bytes make the migration panic, the same bytes give the same
// document, and what it accepts is a version-2 document that reads back the same.
func FuzzMigrateV1(f *testing.F) {
	f.Add([]byte(v1Document()))
	f.Add([]byte(v1Document(v1Record("a", "1", "ready", `,"title":"x\ud800y","pinned":true`), v1Record("b", "1", "error", `,"lastError":"e"`))))
	f.Add([]byte(v1Document(v1Record(`\ud800`, "null", "draft", ""))))
	f.Add([]byte(`{"version":1,"drafts":[],"drafts":[]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, report, err := MigrateV1(data)
		if err != nil {
			if CodeOf(err) != StorageInvalid {
				t.Fatalf("refused with %v", err)
			}
			return
		}
		again, reportAgain, err := MigrateV1(data)
		if err != nil || !reflect.DeepEqual(doc, again) || !reflect.DeepEqual(report, reportAgain) {
			t.Fatalf("a second time %+v, %v", again, err)
		}
		written, err := EncodeDocument(doc)
		if err != nil {
			t.Fatalf("taken over, but not written: %v", err)
		}
		read, err := DecodeDocument(written)
		if err != nil || !reflect.DeepEqual(doc, read) {
			t.Fatalf("%v, came back as %+v, not %+v", err, read, doc)
		}
	})
}
