// Package pbjson is the JSON form of the plugin's messages in the host's API:
// members in camelCase and all present, 64-bit numbers as numbers (protojson
// writes them as strings, which a page would have to know), empty lists as [].
package pbjson

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Value is a message as maps, slices and plain values, to be put into JSON. nil
// is null.
func Value(m proto.Message) any {
	if m == nil || !m.ProtoReflect().IsValid() {
		return nil
	}
	return object(m.ProtoReflect())
}

// Marshal is a message as JSON.
func Marshal(m proto.Message) ([]byte, error) {
	data, err := json.Marshal(Value(m))
	if err != nil {
		return nil, fmt.Errorf("encoding %s: not well-formed", m.ProtoReflect().Descriptor().Name())
	}
	return data, nil
}

// Unmarshal reads JSON strictly into a message; members may be left out. Its
// error quotes no value.
func Unmarshal(data []byte, into proto.Message) error {
	if err := protojson.Unmarshal(data, into); err != nil {
		return fmt.Errorf("not a %s", into.ProtoReflect().Descriptor().Name()) // the cause may quote the text
	}
	return nil
}

func object(m protoreflect.Message) map[string]any {
	fields := m.Descriptor().Fields()
	out := make(map[string]any, fields.Len())
	for i := range fields.Len() {
		f := fields.Get(i)
		if f.HasPresence() && !m.Has(f) && (f.ContainingOneof() != nil || f.Message() == nil) {
			continue // an optional member, or another one of a choice
		}
		out[f.JSONName()] = field(f, m.Get(f), m.Has(f))
	}
	return out
}

func field(f protoreflect.FieldDescriptor, v protoreflect.Value, has bool) any {
	switch {
	case f.IsMap():
		out := map[string]any{}
		v.Map().Range(func(k protoreflect.MapKey, v protoreflect.Value) bool {
			out[k.String()] = single(f.MapValue(), v)
			return true
		})
		return out
	case f.IsList():
		list := v.List()
		out := make([]any, list.Len())
		for i := range out {
			out[i] = single(f, list.Get(i))
		}
		return out
	case f.Message() != nil && !has:
		return nil
	}
	return single(f, v)
}

func single(f protoreflect.FieldDescriptor, v protoreflect.Value) any {
	switch f.Kind() {
	case protoreflect.MessageKind:
		return object(v.Message())
	case protoreflect.EnumKind:
		return string(f.Enum().Values().ByNumber(v.Enum()).Name())
	}
	return v.Interface()
}
