package history

import (
	"fmt"
	"reflect"
	"strings"
	"time"
	"unsafe"
)

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
