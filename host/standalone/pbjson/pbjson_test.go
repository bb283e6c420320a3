package pbjson

import (
	"reflect"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	pb "github.com/draft-sessions/dsh-draft-sessions/shared/proto/draftsessionsv1"
)

func TestForm(t *testing.T) {
	for name, test := range map[string]struct {
		m    proto.Message
		want string
	}{
		"numbers and empty lists": {&pb.Notice{Id: "n", At: 1 << 40}, `"at":1099511627776`},
		"every member":            {&pb.Notice{}, `"draftId":""`},
		"lists of messages":       {&pb.ListResponse{Drafts: []*pb.Draft{{Id: "a", Pinned: true}}}, `"pinned":true`},
		"an empty list":           {&pb.ListResponse{}, `{"drafts":[]}`},
		"an absent message":       {&pb.BindResponse{}, `"draft":null`},
		"an enum":                 {&pb.Admission{Decision: pb.Admission_REFUSE}, `"decision":"REFUSE"`},
		"a map":                   {&pb.GateRequest{Packages: map[string]string{"a": "1"}}, `"packages":{"a":"1"}`},
		"a given option":          {&pb.UpdateRequest{Title: proto.String("")}, `"title":""`},
		"a choice":                {&pb.Event{Event: &pb.Event_Removed{Removed: &pb.Removed{DraftId: "d"}}}, `{"removed":{"`},
	} {
		data, err := Marshal(test.m)
		if err != nil || !strings.Contains(string(data), test.want) {
			t.Errorf("%s: %s, %v", name, data, err)
		}
	}
	if data, err := Marshal(&pb.UpdateRequest{}); err != nil || strings.Contains(string(data), "pinned") {
		t.Errorf("an option that was not given: %s, %v", data, err)
	}
	if Value((*pb.Draft)(nil)) != nil {
		t.Error("nothing is not null")
	}
}

// What is written is read again.
func TestThereAndBack(t *testing.T) {
	d := &pb.Draft{Id: "d", Text: "a \"b\" <c> ✓", Revision: 1 << 52, Pinned: true, Conflicts: []*pb.Conflict{{Id: "x", At: 7}}}
	data, err := Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	again := &pb.Draft{}
	if err := Unmarshal(data, again); err != nil || !proto.Equal(d, again) {
		t.Errorf("%v, %v", again, err)
	}
}

// Invariant 11: a refusal quotes nothing.
func TestRefusalsQuoteNothing(t *testing.T) {
	for _, bad := range []string{`{"secret":1}`, `{"draftId":"secret`, `{"draftId":{"secret":1}}`, `secret`, `[]`} {
		err := Unmarshal([]byte(bad), &pb.DraftRef{})
		if err == nil || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "DraftRef") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	r := &pb.EditRequest{}
	if err := Unmarshal([]byte(`{"seq":7,"baseTextRevision":"8"}`), r); err != nil || !reflect.DeepEqual([]int64{r.Seq, r.BaseTextRevision}, []int64{7, 8}) {
		t.Errorf("%v, %v", r, err)
	}
}
