package eventlog

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

var castagnoli = sync.OnceValue(func() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) })

// The fixed bytes of a line around the sum and the event.
const (
	lineHead  = `{"sum":"`
	sumDigits = 8
	lineNeck  = `","event":`
	lineTail  = "}\n"
)

func encode(event Event) ([]byte, error) {
	body, err := json.Marshal(event, jsontext.EscapeForHTML(false))
	if err != nil {
		return nil, fmt.Errorf("an event of type %q does not encode as JSON", event.Type) // the cause may quote it
	}
	if len(body) > MaxEventBytes {
		return nil, ErrTooLarge
	}
	line := make([]byte, 0, len(lineHead)+sumDigits+len(lineNeck)+len(body)+len(lineTail))
	line = append(line, lineHead...)
	line = fmt.Appendf(line, "%08x", crc32.Checksum(body, castagnoli()))
	line = append(line, lineNeck...)
	line = append(line, body...)
	return append(line, lineTail...), nil
}

// parse reads whole lines; every line ends with a line feed.
func parse(data []byte) ([]Event, *Damage) {
	events := make([]Event, 0, bytes.Count(data, []byte{'\n'}))
	var offset int64
	for number := int64(1); len(data) > 0; number++ {
		end := bytes.IndexByte(data, '\n') + 1
		event, reason := parseLine(data[:end])
		if reason == "" && event.Seq != number {
			reason = fmt.Sprintf("event %d stands where %d belongs", event.Seq, number)
		}
		if reason != "" {
			return events, &Damage{Line: number, Offset: offset, Reason: reason}
		}
		events = append(events, event)
		data = data[end:]
		offset += int64(end)
	}
	return events, nil
}

func parseLine(line []byte) (event Event, reason string) {
	rest, ok := bytes.CutPrefix(line, []byte(lineHead))
	if !ok || len(rest) < sumDigits {
		return event, "not a line of an event log"
	}
	sum := rest[:sumDigits]
	body, ok := bytes.CutPrefix(rest[sumDigits:], []byte(lineNeck))
	if !ok {
		return event, "not a line of an event log"
	}
	if body, ok = bytes.CutSuffix(body, []byte(lineTail)); !ok {
		return event, "not a line of an event log"
	}
	if fmt.Sprintf("%08x", crc32.Checksum(body, castagnoli())) != string(sum) {
		return event, "its sum is not that of its content"
	}
	if json.Unmarshal(body, &event, json.RejectUnknownMembers(true)) != nil {
		return event, "not an event"
	}
	return event, ""
}
