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

// scanner reads the lines of events. It understands what a [Writer] writes, with fields in any
// order and spaces between them, ten times as fast as encoding/json. Every other line, and so every
// malformed line, is left to encoding/json (see strict). A test holds both to the same result.
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

// fieldNamed returns the index of a field by name, or -1. It looks from next on, where the field is
// in the output of a [Writer].
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

// next returns the next byte that is not a space, or 0.
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

// separator returns the byte after a value.
func (s *scanner) separator() byte {
	c := s.next()
	if c != ',' && c != '}' {
		s.strange = true
		return 0
	}
	s.at++
	return c
}

// quoted reads up to the next quotation mark. Without a backslash that is the whole text.
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

// digits reads a whole number of at most 19 digits, which always fits into 64 bits.
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

// texts caches recently read texts, so that a repeated text costs no memory: at most 4096 texts of
// at most 256 bytes.
type texts struct {
	seed maphash.Seed
	kept [1 << 12]string
}

const longestKept = 1 << 8

func newTexts() texts { return texts{seed: maphash.MakeSeed()} }

// of returns a text, and whether it is valid as it stands: UTF-8 without escapes.
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

// blockSize is the number of bytes read at a time.
const blockSize = 1 << 18

var errLongLine = errors.New("longer than 1 MiB, which no line of a history is")

// blocks cuts a stream into blocks of whole lines, so that many lines can be decoded at a time and
// a line is copied at most once.
type blocks struct {
	from io.Reader
	rest []byte // the start of a line whose end has not been read
	err  error  // why there is no more to read
}

// next returns the next lines in buf: at least one, each with its line break, except possibly the
// last line of the file. Then it returns [io.EOF], or the error at the next line. The size of what
// it returns and keeps is bounded by [MaxLine].
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

// patience is the number of consecutive reads that may return nothing.
const patience = 100

// read appends the result of one read.
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

// field is one field of an [Event] on a line. Its name, and whether it is omitted when empty, come
// from the tag of the struct's field, as for encoding/json. Writer and scanner both use this list,
// so that a field is added in one place.
type field struct {
	name   string
	holds  scalar
	always bool // it is written even if it is empty
	offset uintptr

	// key is written before the value, such as `,"client":`. Its size is known to the
	// compiler, so that it is copied without a call, which saves a fifth of the time of a line.
	key    [16]byte
	keyLen int
}

// scalar is the type of a field.
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

// fields lists the fields of an event in the order in which they are written.
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

// maxFields is the number of fields that the scanner can track: see [scanner.event].
const maxFields = 32

// at returns the address of an event's field, whose type the caller knows from its scalar.
func at[T any](e *Event, f *field) *T { return (*T)(unsafe.Add(unsafe.Pointer(e), f.offset)) }
