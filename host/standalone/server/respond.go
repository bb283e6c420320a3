package server

import (
	"errors"
	"io"
	"mime"
	"net/http"

	"github.com/go-json-experiment/json"

	"github.com/draft-sessions/dsh-draft-sessions/host/standalone/fault"
	"github.com/draft-sessions/dsh-draft-sessions/shared"
)

// answer turns a route into a handler: what it returns is the body.
func (s *Server) answer(handle route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		}
		body, err := handle(r)
		if err != nil {
			s.fail(w, err)
			return
		}
		status := http.StatusOK
		if a, ok := body.(accepted); ok {
			status, body = http.StatusAccepted, a.body
		}
		data, err := json.Marshal(body, json.Deterministic(true))
		if err != nil {
			s.opts.Log.Error("an answer does not encode", "path", r.Pattern)
			s.fail(w, fault.Errorf(fault.Storage, "the answer could not be written"))
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write(data) // the client is gone
	}
}

// accepted is a body that is answered with 202.
type accepted struct{ body any }

// decode reads a JSON body strictly.
func decode[T any](r *http.Request) (T, error) {
	var body T
	data, err := readBody(r)
	if err != nil {
		return body, err
	}
	if err := json.Unmarshal(data, &body, json.RejectUnknownMembers(true)); err != nil {
		return body, fault.Errorf(fault.BadRequest, "the body is not what this route takes") // the cause may quote it
	}
	return body, nil
}

func readBody(r *http.Request) ([]byte, error) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		return nil, fault.Errorf(fault.BadRequest, "the body must be application/json")
	}
	data, err := io.ReadAll(r.Body)
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return nil, fault.Errorf(fault.TooLarge, "a body is at most %d bytes", large.Limit)
	}
	if err != nil {
		return nil, fault.Errorf(fault.BadRequest, "the body could not be read")
	}
	return data, nil
}

// nothing is an empty body.
type nothing struct{}

var statuses = map[string]int{
	string(fault.BadRequest):          http.StatusBadRequest,
	string(fault.Unauthorized):        http.StatusUnauthorized,
	string(fault.Forbidden):           http.StatusForbidden,
	string(fault.NotFound):            http.StatusNotFound,
	string(fault.SessionConflict):     http.StatusConflict,
	string(fault.SubmissionConflict):  http.StatusConflict,
	string(fault.AgentBusy):           http.StatusConflict,
	string(fault.LogCorrupt):          http.StatusConflict,
	string(fault.AgentUnavailable):    http.StatusServiceUnavailable,
	string(fault.PluginUnavailable):   http.StatusServiceUnavailable,
	string(fault.Storage):             http.StatusInternalServerError,
	string(fault.TooLarge):            http.StatusRequestEntityTooLarge,
	string(shared.DraftNotFound):      http.StatusNotFound,
	string(shared.DraftStaleRevision): http.StatusConflict,
	string(shared.OperationConflict):  http.StatusConflict,
	string(shared.OperationUnknown):   http.StatusConflict,
	string(shared.DraftInvalidInput):  http.StatusBadRequest,
	string(shared.DraftLimitReached):  http.StatusTooManyRequests,
	string(shared.StorageBusy):        http.StatusServiceUnavailable,
	string(shared.SessionUnavailable): http.StatusServiceUnavailable,
}

// fail answers with an error's code and message.
func (s *Server) fail(w http.ResponseWriter, err error) {
	code, message := "", ""
	var own *fault.Error
	var coded *shared.Error
	switch {
	case errors.As(err, &own):
		code, message = string(own.Code), own.Message
	case errors.As(err, &coded):
		code, message = string(coded.Code), coded.Message
	default:
		code, message = string(shared.CodeOf(err)), "the request could not be finished"
		s.opts.Log.Warn("a request failed", "code", code, "error", err)
	}
	status, known := statuses[code]
	if !known {
		status = http.StatusInternalServerError
	}
	data, err := json.Marshal(map[string]string{"code": code, "message": message}, json.Deterministic(true))
	if err != nil {
		data = []byte(`{"code":"storage","message":"the request could not be finished"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(data) // the client is gone
}
