package history

import (
	"bytes"
	"hash/maphash"
	"unicode/utf8"
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
