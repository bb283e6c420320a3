package server

import (
	"context"
	"net/http"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/fault"
	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/pbjson"
	pb "github.com/draft-sessions/dsh-draft-sessions/shared/proto/draftsessionsv1"
)

// draftOperations are the calls that a page may make of the plugin. What only a
// host may say, such as that a prompt was admitted, is not among them.
func (s *Server) draftOperations() map[string]route {
	return map[string]route{
		"new":              forward(s, pb.DraftSessionsClient.NewDraft),
		"list":             forward(s, pb.DraftSessionsClient.List),
		"get":              forward(s, pb.DraftSessionsClient.Get),
		"create":           forward(s, pb.DraftSessionsClient.Create),
		"update":           forward(s, pb.DraftSessionsClient.Update),
		"delete":           forward(s, pb.DraftSessionsClient.Delete),
		"restore":          forward(s, pb.DraftSessionsClient.Restore),
		"list-trash":       forward(s, pb.DraftSessionsClient.ListTrash),
		"reorder":          forward(s, pb.DraftSessionsClient.Reorder),
		"duplicate":        forward(s, pb.DraftSessionsClient.Duplicate),
		"bind":             forward(s, pb.DraftSessionsClient.Bind),
		"move":             forward(s, pb.DraftSessionsClient.Move),
		"open-editor":      forward(s, pb.DraftSessionsClient.OpenEditor),
		"edit":             forward(s, pb.DraftSessionsClient.Edit),
		"flush":            forward(s, pb.DraftSessionsClient.Flush),
		"close-editor":     forward(s, pb.DraftSessionsClient.CloseEditor),
		"resolve-conflict": forward(s, pb.DraftSessionsClient.ResolveConflict),
		"sidebar":          forward(s, pb.DraftSessionsClient.GetSidebar),
		"dismiss-notice":   forward(s, pb.DraftSessionsClient.DismissNotice),
	}
}

// forward hands a request to the plugin and its answer or code back.
func forward[Request any, P interface {
	*Request
	proto.Message
}, Answer proto.Message](s *Server, call func(pb.DraftSessionsClient, context.Context, P, ...grpc.CallOption) (Answer, error)) route {
	return func(r *http.Request) (any, error) {
		data, err := readBody(r)
		if err != nil {
			return nil, err
		}
		request := P(new(Request))
		if err := pbjson.Unmarshal(data, request); err != nil {
			return nil, fault.Errorf(fault.BadRequest, "the body is %w", err)
		}
		client, err := s.opts.Drafts.Client()
		if err != nil {
			return nil, err
		}
		answer, err := call(client, r.Context(), request)
		if err != nil {
			return nil, unavailable(err)
		}
		return pbjson.Value(answer), nil
	}
}
