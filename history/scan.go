package history

import (
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
	"unsafe"
)

// scanner reads the lines of events. It reads what a [Writer] writes, with fields in any
// order and spaces between them, ten times as fast as encoding/json; a line that has
// anything else in it, and so every line that is wrong, it leaves to that (see strict).
// A law holds it to reading nothing in another way.
type scanner struct {
	texts texts

	line    []byte
	at      int
	strange bool // it is for strict to read
}

// event reads a line into an empty event, and reports whether it could.
func (s *scanner) event(line []byte, e *Event) bool {
	s.line, s.at, s.strange = line, 0, false
	s.expect('{')
	var seen uint32 // one bit a field
	i := 0
	for separator := byte(','); separator == ',' && !s.strange; i++ {
		i = fieldNamed(s.quoted(), i)
		if i < 0 || seen&(1<<i) != 0 {
			return false
		}
		seen |= 1 << i
		s.expect(':')
		s.next()
		s.value(e, &fields[i])
		separator = s.separator()
	}
	return !s.strange && s.next() == 0 && s.at == len(line)
}

// fieldNamed returns which field has a name, or -1. It looks from next on: that is where
// it stands in what a [Writer] writes.
func fieldNamed(name []byte, next int) int {
	for i := next; i < len(fields); i++ {
		if fields[i].name == string(name) {
			return i
		}
	}
	for i := range fields[:next] {
		if fields[i].name == string(name) {
			return i
		}
	}
	return -1
}

func (s *scanner) value(e *Event, f *field) {
	switch f.holds {
	case isInt64:
		*at[int64](e, f) = s.number()
	case isInt:
		*at[int](e, f) = s.small()
	case isUint64:
		*at[uint64](e, f) = s.digits()
	case isText:
		*at[string](e, f) = s.text()
	case isKind:
		*at[Kind](e, f) = s.kind()
	case isOutcome:
		*at[Outcome](e, f) = s.outcome()
	}
}

// next is the next byte that is no space, or 0.
func (s *scanner) next() byte {
	for s.at < len(s.line) {
		c := s.line[s.at]
		if c > ' ' {
			return c
		}
		if c != ' ' && c != '\t' && c != '\r' {
			break
		}
		s.at++
	}
	return 0
}

func (s *scanner) expect(c byte) {
	if s.next() != c {
		s.strange = true
		return
	}
	s.at++
}

// separator is what stands behind a value.
func (s *scanner) separator() byte {
	c := s.next()
	if c != ',' && c != '}' {
		s.strange = true
		return 0
	}
	s.at++
	return c
}

// quoted reads up to the next quotation mark: what a text is if there is no backslash
// in it.
func (s *scanner) quoted() []byte {
	s.expect('"')
	end := bytes.IndexByte(s.line[s.at:], '"')
	if s.strange || end < 0 {
		s.strange = true
		return nil
	}
	text := s.line[s.at : s.at+end]
	s.at += end + 1
	return text
}

func (s *scanner) text() string {
	quoted := s.quoted()
	if s.strange {
		return ""
	}
	text, ok := s.texts.of(quoted)
	s.strange = !ok
	return text
}

func (s *scanner) kind() Kind {
	k, ok := kindsByName[string(s.quoted())]
	s.strange = s.strange || !ok
	return k
}

func (s *scanner) outcome() Outcome {
	var o Outcome
	s.strange = s.strange || o.UnmarshalText(s.quoted()) != nil
	return o
}

// digits reads a whole number of at most 19 digits, which 64 bits always hold.
func (s *scanner) digits() (n uint64) {
	rest := s.line[s.at:]
	length := 0
	for length < len(rest) && rest[length]-'0' <= 9 {
		n = n*10 + uint64(rest[length]-'0')
		length++
	}
	s.at += length
	s.strange = s.strange || length == 0 || length > 19 || length > 1 && rest[0] == '0'
	return n
}

func (s *scanner) number() int64 {
	negative := s.at < len(s.line) && s.line[s.at] == '-'
	if negative {
		s.at++
	}
	n := int64(s.digits())
	s.strange = s.strange || n < 0
	if negative {
		return -n
	}
	return n
}

func (s *scanner) small() int {
	n := s.number()
	s.strange = s.strange || int64(int(n)) != n
	return int(n)
}

// texts keeps the texts that were read lately, so that one that comes again costs no
// memory: up to 4096 of up to 256 bytes, whatever comes.
type texts struct {
	seed maphash.Seed
	kept [1 << 12]string
}

const longestKept = 1 << 8

func newTexts() texts { return texts{seed: maphash.MakeSeed()} }

// of returns a text, and whether that is what it says: UTF-8 in which nothing is
// escaped, and nothing had to be.
func (t *texts) of(quoted []byte) (string, bool) {
	if len(quoted) > longestKept {
		return string(quoted), literal(quoted)
	}
	at := &t.kept[maphash.Bytes(t.seed, quoted)%uint64(len(t.kept))]
	if *at == string(quoted) {
		return *at, true // it has been looked at when it came first
	}
	if !literal(quoted) {
		return "", false
	}
	*at = string(quoted)
	return *at, true
}

func literal(quoted []byte) bool {
	for _, c := range quoted {
		if c < ' ' || c == '\\' {
			return false
		}
		if c >= utf8.RuneSelf {
			return utf8.Valid(quoted) && bytes.IndexByte(quoted, '\\') < 0 && !bytes.ContainsFunc(quoted, func(r rune) bool { return r < ' ' })
		}
	}
	return true
}

// MaxLine is the longest line, in bytes without its end, that a [Reader] accepts.
const MaxLine = 1 << 20

// blockSize is how much is read at a time.
const blockSize = 1 << 18

var errLongLine = errors.New("longer than 1 MiB, which no line of a history is")

// blocks cuts a stream into blocks of whole lines, so that lines can be decoded many
// at a time and a line is copied at most once.
type blocks struct {
	from io.Reader
	rest []byte // the begin of a line whose end has not been read
	err  error  // why there is no more to read
}

// next returns the next lines, written over buf: at least one, each with its line break,
// which only the last line of all may lack. Then [io.EOF], or what else stops the
// reading at the line that would be next. What it returns and keeps is bounded by
// [MaxLine].
func (b *blocks) next(buf []byte) ([]byte, error) {
	buf = append(buf[:0], b.rest...)
	b.rest = b.rest[:0]
	for looked := 0; ; {
		if end := bytes.LastIndexByte(buf[looked:], '\n'); end >= 0 {
			end += looked + 1
			b.rest = append(b.rest, buf[end:]...)
			return buf[:end], nil
		}
		looked = len(buf)
		switch {
		case len(buf) > MaxLine:
			return buf[:0], errLongLine
		case errors.Is(b.err, io.EOF) && len(buf) > 0:
			return buf, nil
		case b.err != nil:
			return buf[:0], b.err
		}
		buf = b.read(buf)
	}
}

// patience is how many reads in a row may bring nothing.
const patience = 100

// read appends what one read brings.
func (b *blocks) read(buf []byte) []byte {
	if cap(buf)-len(buf) < blockSize/4 {
		buf = slices.Grow(buf, blockSize)
	}
	for range patience {
		n, err := b.from.Read(buf[len(buf):cap(buf)])
		buf, b.err = buf[:len(buf)+n], err
		if n > 0 || err != nil {
			return buf
		}
	}
	b.err = io.ErrNoProgress
	return buf
}

// field is one field of an [Event] as it stands on a line. What it is called, and whether
// it is left out when it is empty, the tag of the struct's field says, as for
// encoding/json; writer and scanner go by this list, so that a field is added in one place.
type field struct {
	name   string
	holds  scalar
	always bool // it is written even if it is empty
	offset uintptr

	// key is what is written before the value, as in `,"client":`. Of a size that the
	// compiler knows, it is copied without a call, which is a fifth of the time of a line.
	key    [16]byte
	keyLen int
}

// scalar is what a field holds.
type scalar uint8

const (
	isInt64 scalar = iota + 1 // a time, too
	isInt
	isUint64
	isText
	isKind
	isOutcome
)

var scalars = map[reflect.Type]scalar{
	reflect.TypeFor[Time]():          isInt64,
	reflect.TypeFor[time.Duration](): isInt64,
	reflect.TypeFor[int64]():         isInt64,
	reflect.TypeFor[int]():           isInt,
	reflect.TypeFor[uint64]():        isUint64,
	reflect.TypeFor[string]():        isText,
	reflect.TypeFor[Kind]():          isKind,
	reflect.TypeFor[Outcome]():       isOutcome,
}

// fields are those of an event in the order in which they are written.
var fields = eventFields()

func eventFields() []field {
	t := reflect.TypeFor[Event]()
	all := make([]field, t.NumField())
	for i := range all {
		f, of := &all[i], t.Field(i)
		name, options, _ := strings.Cut(of.Tag.Get("json"), ",")
		*f = field{name: name, holds: scalars[of.Type], always: options != "omitempty", offset: of.Offset}
		f.keyLen = copy(f.key[:], `,"`+name+`":`)
		if f.holds == 0 || f.key[f.keyLen-1] != ':' || i >= maxFields {
			panic(fmt.Sprintf("history: the codec has no place for the field %s", of.Name))
		}
	}
	return all
}

// maxFields is how many the scanner can tell apart: see [scanner.event].
const maxFields = 32

// at is where an event has a field, whose type the caller knows by what it holds.
func at[T any](e *Event, f *field) *T { return (*T)(unsafe.Add(unsafe.Pointer(e), f.offset)) }
