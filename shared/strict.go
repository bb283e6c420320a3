package shared

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// maxSafeInteger is the largest integer that JavaScript reads back unchanged.
const maxSafeInteger = 1<<53 - 1

// strictDecode reads exactly one JSON value of out's shape. Beyond what package
// json refuses (duplicates, invalid UTF-8, trailing data) it refuses unknown and
// missing members, a null where none belongs, and integers that JavaScript would
// round: a member without omitempty or omitzero in its tag is required.
//
// Its errors name the place and the kind of problem, and never a value, since a
// value is draft text (invariant 11).
func strictDecode(data []byte, out any) error {
	dec := jsontext.NewDecoder(bytes.NewReader(data))
	if err := decodeWhole(dec, out); err != nil {
		return placed(dec, data, err)
	}
	return nil
}

// decodeWhole is strictDecode without the place of an error.
func decodeWhole(dec *jsontext.Decoder, out any) error {
	if err := decodeValue(dec, reflect.ValueOf(out).Elem()); err != nil {
		return err
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return cmp.Or(err, errors.New("data after the document"))
	}
	return nil
}

// member is how a struct field appears in JSON.
type member struct {
	index    int
	required bool
}

// shapes caches the members of each struct type: reflect.Type to map[string]member.
var shapes sync.Map

func shapeOf(t reflect.Type) map[string]member {
	if known, ok := shapes.Load(t); ok {
		return known.(map[string]member)
	}
	shape := make(map[string]member, t.NumField())
	for i := range t.NumField() {
		name, options, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		shape[name] = member{index: i, required: !strings.Contains(options, "omit")}
	}
	shapes.Store(t, shape)
	return shape
}

var rawType = reflect.TypeFor[jsontext.Value]()

func decodeValue(dec *jsontext.Decoder, v reflect.Value) error {
	kind := dec.PeekKind()
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		return decodeValue(dec, v.Elem())
	}
	if v.Type() == rawType {
		if kind == 'n' {
			return wrongKind(dec, "null where a value belongs")
		}
		raw, err := dec.ReadValue()
		v.SetBytes(bytes.Clone(raw))
		return err
	}
	switch v.Kind() {
	case reflect.Struct:
		return decodeStruct(dec, v)
	case reflect.Slice:
		return decodeSlice(dec, v)
	case reflect.String:
		if kind != '"' {
			return wrongKind(dec, "a string belongs here")
		}
		token, err := dec.ReadToken()
		if err == nil {
			v.SetString(token.String())
		}
		return err
	case reflect.Bool:
		if kind != 't' && kind != 'f' {
			return wrongKind(dec, "true or false belongs here")
		}
		token, err := dec.ReadToken()
		if err == nil {
			v.SetBool(token.Bool())
		}
		return err
	case reflect.Int, reflect.Int64:
		if kind != '0' {
			return wrongKind(dec, "an integer belongs here")
		}
		token, err := dec.ReadToken()
		if err != nil {
			return err
		}
		n, err := strconv.ParseInt(token.String(), 10, 64)
		if err != nil || n > maxSafeInteger || n < -maxSafeInteger {
			return errors.New("not an integer within 2^53-1")
		}
		v.SetInt(n)
		return nil
	}
	return fmt.Errorf("no decoding for %s", v.Type())
}

func decodeStruct(dec *jsontext.Decoder, v reflect.Value) error {
	if dec.PeekKind() != '{' {
		return wrongKind(dec, "an object belongs here")
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	shape := shapeOf(v.Type())
	var seen [64]bool
	for dec.PeekKind() != '}' {
		token, err := dec.ReadToken()
		if err != nil {
			return err
		}
		m, known := shape[token.String()]
		if !known {
			return errors.New("unknown member")
		}
		seen[m.index] = true
		field := v.Field(m.index)
		if dec.PeekKind() == 'n' && field.Kind() == reflect.Pointer && m.required {
			if _, err := dec.ReadToken(); err != nil {
				return err
			}
			continue
		}
		if err := decodeValue(dec, field); err != nil {
			return err
		}
	}
	for name, m := range shape {
		if m.required && !seen[m.index] {
			return fmt.Errorf("member %q is missing", name)
		}
	}
	_, err := dec.ReadToken()
	return err
}

func decodeSlice(dec *jsontext.Decoder, v reflect.Value) error {
	if dec.PeekKind() != '[' {
		return wrongKind(dec, "an array belongs here")
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	for dec.PeekKind() != ']' {
		v.Grow(1)
		v.SetLen(v.Len() + 1)
		if err := decodeValue(dec, v.Index(v.Len()-1)); err != nil {
			return err
		}
	}
	_, err := dec.ReadToken()
	return err
}

// wrongKind reads the value that stands in the way, so that a syntax error in
// it is reported rather than its kind, and so that the place is its own.
func wrongKind(dec *jsontext.Decoder, problem string) error {
	if _, err := dec.ReadValue(); err != nil {
		return err
	}
	return errors.New(problem)
}

// placed is err with its line, byte offset and member path. Only members that
// the format knows are named: anything else may be text of a draft.
func placed(dec *jsontext.Decoder, data []byte, err error) error {
	offset, pointer := dec.InputOffset(), dec.StackPointer()
	problem := err.Error()
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) {
		offset, pointer = syntactic.ByteOffset, syntactic.JSONPointer
		problem = syntaxProblem(data, offset, err)
	} else if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		problem = "the document ends too early"
	}
	offset = max(0, min(offset, int64(len(data))))
	line := 1 + bytes.Count(data[:offset], []byte{'\n'})
	return Errorf(StorageInvalid, "line %d, byte %d, at %q: %s", line, offset, safePointer(pointer), problem)
}

func syntaxProblem(data []byte, offset int64, err error) string {
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		return "duplicate member"
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "the document ends too early"
	case strings.Contains(err.Error(), "UTF-8"):
		return "invalid UTF-8"
	case strings.Contains(err.Error(), "surrogate"):
		return "a lone surrogate"
	case offset < int64(len(data)) && data[max(0, offset)] == 0:
		return "a NUL byte"
	}
	return "not well-formed JSON"
}

// deepest is how many steps of a place are told; the format itself has fewer.
const deepest = 12

// safePointer keeps array positions and member names of the format, and
// replaces any other name by "?".
func safePointer(pointer jsontext.Pointer) string {
	var b strings.Builder
	steps := 0
	for token := range pointer.Tokens() {
		if steps++; steps > deepest {
			return b.String() + "/..."
		}
		if n, err := strconv.ParseUint(token, 10, 64); (err != nil || n > math.MaxInt32) && !memberNames()[token] {
			token = "?"
		}
		b.WriteString("/" + token)
	}
	return b.String()
}

// memberNames are the names of all members of both versions.
var memberNames = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{}
	for _, t := range []reflect.Type{
		reflect.TypeFor[Document](), reflect.TypeFor[DraftRecord](), reflect.TypeFor[Conflict](),
		reflect.TypeFor[Content](), reflect.TypeFor[Occurrence](), reflect.TypeFor[Settings](),
		reflect.TypeFor[Operation](), reflect.TypeFor[TrashEntry](), reflect.TypeFor[RestoreTarget](),
		reflect.TypeFor[Receipt](), reflect.TypeFor[Exchange](), reflect.TypeFor[ExchangeDraft](),
	} {
		for name := range shapeOf(t) {
			names[name] = true
		}
	}
	return names
})
