package history

import (
	"bufio"
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxLine is the longest line, in bytes without its end, that a [Reader] accepts.
const MaxLine = 1 << 20

// The largest batch, in events and in bytes of their lines.
const (
	batchSize  = 512
	batchBytes = 1 << 18
)

// decoder decodes the lines of a history. Each is one JSON object whose fields are those of a
// [Header] or an [Event], with exact names and each at most once.
type decoder struct {
	from  *bufio.Reader
	line  int // that was read last
	order order

	text   bytes.Buffer // what json reads: the line
	json   *jsontext.Decoder
	texts  texts
	event  Event // the one that is decoded
	fields []field
}

func newDecoder(from io.Reader) *decoder {
	d := &decoder{from: bufio.NewReaderSize(from, MaxLine+1), json: new(jsontext.Decoder)}
	d.fields = fieldsOf(&d.event)
	return d
}

var byteOrderMarks = []string{"\xef\xbb\xbf", "\xff\xfe", "\xfe\xff"}

// header reads the first line.
func (d *decoder) header() (h Header, err error) {
	line, err := d.next()
	if errors.Is(err, io.EOF) {
		return h, errors.New("the history is empty")
	}
	if err == nil {
		err = d.parseHeader(line, &h)
	}
	if err != nil {
		return h, &LineError{d.line, err}
	}
	d.order.header = h
	return h, nil
}

func (d *decoder) parseHeader(line []byte, h *Header) error {
	for _, mark := range byteOrderMarks {
		if bytes.HasPrefix(line, []byte(mark)) {
			return errors.New("not a history: it begins with a byte order mark; a history is UTF-8 without one")
		}
	}
	switch format, version := formatOf(line); {
	case format != Format:
		return fmt.Errorf("not a history: the first line is not a header with \"format\":%q (docs/your-history.md says how to write one)", Format)
	case version == 0:
		return fmt.Errorf("the header has no version; this program reads version %d", Version)
	case version != Version:
		return fmt.Errorf("this history has format version %d; this program reads version %d", version, Version)
	}
	if err := d.decode(line, fieldsOf(h)); err != nil {
		return err
	}
	return h.validate()
}

// formatOf reads the two fields that every version of every format of ours has.
func formatOf(line []byte) (format string, version int) {
	var h struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
	}
	if json.Unmarshal(line, &h) != nil {
		return "", 0
	}
	return h.Format, h.Version
}

// fill fills a batch with the next events. It does not wait for a source that is slow while it has
// some.
func (d *decoder) fill(b *batch) {
	clear(b.events) // so that what comes in their place keeps nothing of them
	b.events = b.events[:0]
	for size := 0; size < batchBytes && len(b.events) < batchSize && (size == 0 || d.from.Buffered() > 0); {
		line, err := d.next()
		switch {
		case err == nil:
			err = d.parseEvent(line)
		case errors.Is(err, io.EOF):
			if b.err = err; !d.order.ended {
				b.err = ErrTruncated
			}
			return
		}
		if err != nil {
			b.err = &LineError{d.line, err}
			return
		}
		b.events = append(b.events, d.event)
		size += len(line)
	}
}

// next returns the next line with its end, which may be missing at the end of the file.
func (d *decoder) next() ([]byte, error) {
	line, err := d.from.ReadSlice('\n')
	if errors.Is(err, io.EOF) && len(line) == 0 {
		return nil, err
	}
	d.line++
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return nil, errors.New("longer than 1 MiB, which no line of a history is")
	case err != nil && !errors.Is(err, io.EOF):
		return nil, err
	}
	return line, nil
}

// parseEvent decodes the line of an event.
func (d *decoder) parseEvent(line []byte) error {
	d.event = Event{}
	if err := d.decode(line, d.fields); err != nil {
		if format, version := formatOf(line); format == Format {
			return fmt.Errorf("a second header, of version %d: these are two histories, one behind the other", version)
		}
		return err
	}
	return d.order.next(&d.event)
}

// decode decodes a line into the fields.
func (d *decoder) decode(line []byte, fields []field) error {
	d.text = *bytes.NewBuffer(line)
	d.json.Reset(&d.text, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)) // object rejects them
	if err := d.object(fields); err != nil {
		return malformed(line, err)
	}
	if rest := line[d.json.InputOffset():]; len(bytes.TrimLeft(rest, " \t\r\n")) > 0 {
		return errors.New("malformed: more than one value on the line")
	}
	return nil
}

// cutLineError is an [ErrTruncated] within a line.
type cutLineError struct{}

func (cutLineError) Error() string {
	return `the history is cut off within this line: copy the whole file, or delete the line and append {"t":T,"kind":"end"} with the last time T`
}

func (cutLineError) Is(target error) bool { return target == ErrTruncated }

// malformed returns the error of a line that [decoder.object] has rejected.
func malformed(line []byte, err error) error {
	var syntax *jsontext.SyntacticError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF) && !bytes.HasSuffix(line, []byte("\n")):
		return cutLineError{}
	case errors.Is(err, io.EOF):
		return errors.New("malformed: an empty line")
	case errors.As(err, &syntax):
		return fmt.Errorf("malformed: %w", syntax.Err)
	}
	return fmt.Errorf("malformed: %w", err)
}

// object decodes the next object into the fields.
func (d *decoder) object(fields []field) error {
	open, err := d.json.ReadToken()
	if err != nil {
		return err
	}
	if open.Kind() != '{' {
		return errors.New("not an object")
	}
	seen := uint64(0) // one bit a field
	for i := 0; d.json.PeekKind() != '}'; i++ {
		name, err := d.json.ReadValue()
		if err != nil {
			return err
		}
		if i = named(fields, name[1:len(name)-1], i); i < 0 {
			if i = named(fields, unquoted(name), 0); i < 0 {
				return fmt.Errorf("unknown field %s", shortened(name))
			}
		}
		if seen&(1<<i) != 0 {
			return fmt.Errorf("field %q stands twice", fields[i].name)
		}
		seen |= 1 << i
		if of, ok := fields[i].at.(*Bounds); ok {
			if err := d.object(fieldsOf(of)); err != nil {
				return err
			}
			continue
		}
		value, err := d.json.ReadValue()
		if err != nil {
			return err
		}
		if err := d.set(&fields[i], value); err != nil {
			return err
		}
	}
	_, err = d.json.ReadToken()
	return err
}

// set sets a field to a value. A null changes nothing.
func (d *decoder) set(f *field, value jsontext.Value) (err error) {
	wanted, isText := "a whole number, of 64 bits", value.Kind() == '"'
	switch at := f.at.(type) {
	case *Time:
		err = number(value, at)
	case *time.Duration:
		err = number(value, at)
	case *int64:
		err = number(value, at)
	case *int:
		*at, err = strconv.Atoi(string(value))
	case *uint64:
		wanted = "a whole number from 0 on, of 64 bits"
		*at, err = strconv.ParseUint(string(value), 10, 64)
	case *string:
		if isText {
			*at = d.texts.of(value)
			return nil
		}
		wanted, err = "text", errMistyped
	case encoding.TextUnmarshaler:
		if isText {
			return at.UnmarshalText(unquoted(value))
		}
		wanted, err = "text", errMistyped
	case *UntilClock:
		wanted, err = "text", json.Unmarshal(value, at)
	case *bool:
		wanted, err = "true or false", json.Unmarshal(value, at)
	case *[]int:
		wanted, err = "a list of whole numbers", json.Unmarshal(value, at)
	default:
		panic(fmt.Sprintf("history: a field of type %T", at))
	}
	if err != nil && value.Kind() != 'n' {
		return fmt.Errorf("field %q is %s: want %s", f.name, shortened(value), wanted)
	}
	return nil
}

var errMistyped = errors.New("mistyped")

func number[T ~int64](value jsontext.Value, at *T) error {
	n, err := strconv.ParseInt(string(value), 10, 64)
	*at = T(n)
	return err
}

// unquoted returns a text without its quotation marks and escapes. What is no UTF-8 becomes U+FFFD.
func unquoted(text jsontext.Value) []byte {
	if bytes.IndexByte(text, '\\') < 0 && utf8.Valid(text) {
		return text[1 : len(text)-1]
	}
	plain, _ := jsontext.AppendUnquote(nil, text) // it has been read
	return plain
}

// shortened returns a value, or as much of it as a message can show.
func shortened(value jsontext.Value) string {
	if len(value) > 40 {
		return string(value[:40]) + "…"
	}
	return string(value)
}

// texts holds recently read texts of at most 256 bytes, so that a repeated text costs no memory.
type texts [1 << 12]struct{ quoted, plain string }

const longestText = 1 << 8

var textsSeed = maphash.MakeSeed()

func (t *texts) of(value jsontext.Value) string {
	at := &t[maphash.Bytes(textsSeed, value)%uint64(len(t))]
	if at.quoted == string(value) {
		return at.plain
	}
	quoted := string(value)
	text := quoted[1 : len(quoted)-1]
	if !plain(text) {
		text = string(unquoted(value))
	}
	if len(quoted) <= longestText {
		at.quoted, at.plain = quoted, text
	}
	return text
}

// field is a field of a [Header] or an [Event] on a line. Writer and Reader both use it, so that a
// field is added in one place: its name, and whether it is omitted when empty, come from its tag.
type field struct {
	name   string
	key    string // such as `,"client":`
	always bool   // it is written even if it is empty
	at     any    // a pointer to it
}

// fieldsOf lists the fields of a struct, given a pointer to it.
func fieldsOf(of any) []field {
	v := reflect.ValueOf(of).Elem()
	all := make([]field, v.NumField())
	for i := range all {
		name, options, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		all[i] = field{name: name, key: `,"` + name + `":`, always: options != "omitempty", at: v.Field(i).Addr().Interface()}
	}
	return all
}

// named returns the index of a field by name, or -1. It looks from next on, where the field is in
// the output of a [Writer].
func named(fields []field, name []byte, next int) int {
	for i := next; i < len(fields); i++ {
		if fields[i].name == string(name) {
			return i
		}
	}
	if next > 0 {
		return named(fields[:next], name, 0)
	}
	return -1
}

// order checks what every history must satisfy.
type order struct {
	header Header
	last   Time
	ended  bool
}

func (o *order) next(e *Event) error {
	switch {
	case o.ended:
		return errors.New("an event after the end")
	case e.Kind == 0:
		return errors.New("an event without a kind")
	case e.Time < o.last:
		return fmt.Errorf("%s at %v comes after an event at %v: histories are in the order of time", e.Kind, e.Time, o.last)
	case e.Client < 0 || e.Client > o.header.Clients:
		return fmt.Errorf("client %d of %d", e.Client, o.header.Clients)
	case e.Node < 0 || e.Node > o.header.Nodes:
		return fmt.Errorf("node %d of %d", e.Node, o.header.Nodes)
	case e.Weight < 0 || e.Weight > o.header.Permits():
		return fmt.Errorf("weight %d of a capacity of %d", e.Weight, o.header.Permits())
	}
	o.last, o.ended = e.Time, e.Kind == End
	return e.whole()
}

// whole returns an error if the event lacks what its kind requires: client, node, resource and token.
func (e *Event) whole() error {
	switch {
	case e.Client == 0 && e.Kind.ofClient():
		return fmt.Errorf("%s without a client", e.Kind)
	case e.Node == 0 && e.Kind.ofNode():
		return fmt.Errorf("%s without a node", e.Kind)
	case !e.Kind.ofHold():
		return nil
	case e.Resource == "":
		return fmt.Errorf("%s without a resource", e.Kind)
	case e.Token == "":
		return fmt.Errorf("%s without a token", e.Kind)
	}
	return nil
}

// ofHold reports whether events of the kind belong to one try, or to its hold.
func (k Kind) ofHold() bool { return k >= Acquire && k <= WriteDone }

// ofNode reports whether events of the kind belong to one node.
func (k Kind) ofNode() bool { return k >= NodeDown && k <= KeyGone }

// ofClient reports whether events of the kind belong to one client.
func (k Kind) ofClient() bool { return k.ofHold() || k >= Pause && k <= Cancel }
