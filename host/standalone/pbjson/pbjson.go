// Package pbjson is the JSON form of the plugin's messages in the host's API:
// members in camelCase and all present, 64-bit numbers as numbers (protojson
// writes them as strings, which a page would have to know), empty lists as [].
package pbjson

import (
	"fmt"
	"maps"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Value is a message to be put into JSON; nil is null.
func Value(m proto.Message) any {
	if m == nil || !m.ProtoReflect().IsValid() {
		return nil
	}
	return value{m.ProtoReflect()}
}

type value struct{ m protoreflect.Message }

// MarshalJSONTo implements [json.MarshalerTo].
func (v value) MarshalJSONTo(out *jsontext.Encoder) error { return object(out, v.m) }

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

func object(out *jsontext.Encoder, m protoreflect.Message) error {
	if err := out.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		has := m.Has(f)
		if !has && f.HasPresence() && (f.ContainingOneof() != nil || f.Message() == nil) {
			continue // an optional member, or another one of a choice
		}
		if err := out.WriteToken(jsontext.String(f.JSONName())); err != nil {
			return err
		}
		if err := member(out, f, m.Get(f), has); err != nil {
			return err
		}
	}
	return out.WriteToken(jsontext.EndObject)
}

func member(out *jsontext.Encoder, f protoreflect.FieldDescriptor, v protoreflect.Value, has bool) error {
	switch {
	case f.IsMap():
		return entries(out, f.MapValue(), v.Map())
	case f.IsList():
		if err := out.WriteToken(jsontext.BeginArray); err != nil {
			return err
		}
		for list, i := v.List(), 0; i < list.Len(); i++ {
			if err := single(out, f, list.Get(i)); err != nil {
				return err
			}
		}
		return out.WriteToken(jsontext.EndArray)
	case f.Message() != nil && !has:
		return out.WriteToken(jsontext.Null)
	}
	return single(out, f, v)
}

// entries writes a map, in the order of its keys.
func entries(out *jsontext.Encoder, f protoreflect.FieldDescriptor, m protoreflect.Map) error {
	values := map[string]protoreflect.Value{}
	m.Range(func(k protoreflect.MapKey, v protoreflect.Value) bool {
		values[k.String()] = v
		return true
	})
	if err := out.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if err := out.WriteToken(jsontext.String(key)); err != nil {
			return err
		}
		if err := single(out, f, values[key]); err != nil {
			return err
		}
	}
	return out.WriteToken(jsontext.EndObject)
}

func single(out *jsontext.Encoder, f protoreflect.FieldDescriptor, v protoreflect.Value) error {
	switch f.Kind() {
	case protoreflect.MessageKind:
		return object(out, v.Message())
	case protoreflect.EnumKind:
		return out.WriteToken(jsontext.String(string(f.Enum().Values().ByNumber(v.Enum()).Name())))
	case protoreflect.StringKind:
		return out.WriteToken(jsontext.String(v.String()))
	case protoreflect.BoolKind:
		return out.WriteToken(jsontext.Bool(v.Bool()))
	case protoreflect.Int32Kind, protoreflect.Int64Kind:
		return out.WriteToken(jsontext.Int(v.Int()))
	}
	return json.MarshalEncode(out, v.Interface())
}
