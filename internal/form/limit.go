package form

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// Limit is the restriction on the value of a field, from its tag want:
//
//	want:"1..64"       a number from 1 to 64
//	want:"0s.."        a duration that is not negative; for a list, each item
//	want:">0..10"      a number above 0, at most 10
//	want:"1.. or all"  a number from 1, or the word all, for which the number in Go is [WordValue]
//	want:"2.. items"   a list of at least two
//	want:"a|b"         one of two words, or empty
//	want:"/^[a-z]+$/"  text of this form, which is not checked here
type Limit struct {
	Min, Max string // as in the tag; empty: there is none
	Above    bool   // Min itself is not allowed
	Items    bool   // limits the length of a list
	Word     string // may stand in place of a number; empty: none
	OneOf    []string
	Pattern  string

	min, max float64
}

// WordValue is the number of a field that has the word of its [Limit] in place of a number. No computation
// comes to it by mistake.
const WordValue = math.MinInt32

// limitOf returns the limit in the tag of a field; nil: it has none. It panics if the tag is malformed.
func limitOf(f reflect.StructField) *Limit {
	tag, ok := f.Tag.Lookup("want")
	if !ok {
		return nil
	}
	if strings.HasPrefix(tag, "/") {
		return &Limit{Pattern: strings.Trim(tag, "/")}
	}
	tag, word, _ := strings.Cut(tag, " or ")
	text, items := strings.CutSuffix(tag, " items")
	low, high, isRange := strings.Cut(text, "..")
	if !isRange {
		return &Limit{OneOf: strings.Split(tag, "|")}
	}
	low, above := strings.CutPrefix(low, ">")
	return &Limit{Min: low, Max: high, Above: above, Items: items, Word: word, min: number(low), max: number(high)}
}

// number reads an end of a range.
func number(text string) float64 {
	if text == "" {
		return 0
	}
	if d, err := time.ParseDuration(text); err == nil {
		return float64(d)
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(fmt.Sprintf("form: no limit: %q", text))
	}
	return v
}

// Required reports whether a field with this limit must be present, because its zero value is not allowed.
func (l *Limit) Required() bool {
	return l != nil && (l.Pattern != "" || l.Min != "" && !l.holds(0))
}

// holds reports whether a number is in the range. NaN is in no range.
func (l *Limit) holds(v float64) bool {
	switch {
	case l.Min != "" && !(v > l.min || v == l.min && !l.Above):
		return false
	case l.Max != "" && !(v <= l.max):
		return false
	}
	return true
}

// check returns an error if the value of a field breaks the limit.
func (l *Limit) check(v reflect.Value) error {
	switch {
	case l.Items:
		n := v.Len()
		if n == 0 && !l.holds(0) {
			return fmt.Errorf("none in the list: want %s", l)
		}
		if !l.holds(float64(n)) {
			return fmt.Errorf("%d in the list: want %s", n, l)
		}
	case l.OneOf != nil:
		return l.checkWord(v.String())
	case l.Min == "" && l.Max == "":
	case v.Kind() == reflect.Slice:
		return l.checkEach(v)
	default:
		return l.checkNumber(v)
	}
	return nil
}

func (l *Limit) checkWord(word string) error {
	for _, w := range l.OneOf {
		if word == "" || word == w {
			return nil
		}
	}
	last := len(l.OneOf) - 1
	return fmt.Errorf("unknown value %q: want %s or %s", word, strings.Join(l.OneOf[:last], ", "), l.OneOf[last])
}

func (l *Limit) checkEach(v reflect.Value) error {
	if list, ok := v.Interface().([]time.Duration); ok { // reflection is slow, and there may be a million
		for i, d := range list {
			if !l.holds(float64(d)) {
				return In(fmt.Sprintf("[%d]", i), l.refuse(d, float64(d)))
			}
		}
		return nil
	}
	for i := range v.Len() {
		if err := l.checkNumber(v.Index(i)); err != nil {
			return In(fmt.Sprintf("[%d]", i), err)
		}
	}
	return nil
}

func (l *Limit) checkNumber(v reflect.Value) error {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil
		}
		v = v.Elem()
	}
	var n float64
	if v.CanFloat() {
		n = v.Float()
	} else {
		n = float64(v.Int())
	}
	if l.holds(n) || l.Word != "" && n == WordValue {
		return nil
	}
	return l.refuse(v.Interface(), n)
}

func (l *Limit) refuse(shown any, v float64) error {
	if v < 0 && l.min == 0 && l.Max == "" && !l.Above {
		return fmt.Errorf("%v is negative", shown)
	}
	return &outOfRange{shown, l}
}

// outOfRange is the error of a number that is not in the range of its limit.
type outOfRange struct {
	shown any // the number
	want  *Limit
}

func (e *outOfRange) Error() string { return fmt.Sprintf("%v: want %s", e.shown, e.want) }

// String says in words what a range allows.
func (l *Limit) String() string {
	switch {
	case l.Word != "":
		return l.Numbers().String() + ", or " + l.Word
	case l.Min != "" && l.Max != "" && !l.Above:
		return l.Min + " to " + l.Max
	case l.Min != "" && l.Max != "":
		return "more than " + l.Min + ", at most " + l.Max
	case l.Above:
		return "more than " + l.Min
	case l.Min != "":
		return "at least " + l.Min
	}
	return "at most " + l.Max
}

// Numbers returns the limit without its word.
func (l Limit) Numbers() *Limit {
	l.Word = ""
	return &l
}

// MaxDuration is the longest duration, positive or negative, in a file: 30 years. Nine of them add up
// without overflow.
const MaxDuration = 30 * 365 * 24 * time.Hour

// Rule is a struct that checks whether its values, each of which is valid, are valid together.
type Rule interface{ Consistent() error }

var errMissing = errors.New("missing")

// Check returns a [FieldError] for the first value, anywhere in what value points to, that is missing,
// out of the [Limit] of its field, longer than [MaxDuration] or against a [Rule].
func Check(value any) error {
	return Walk(value, func(_ string, v reflect.Value) (bool, error) {
		switch v.Type() {
		case reflect.TypeFor[time.Duration]():
			return true, tooLong(time.Duration(v.Int()))
		case reflect.TypeFor[[]time.Duration](): // reflection is slow, and there may be a million
			for i, d := range v.Interface().([]time.Duration) {
				if err := tooLong(d); err != nil {
					return true, In(fmt.Sprintf("[%d]", i), err)
				}
			}
			return true, nil
		}
		if v.Kind() != reflect.Struct {
			return false, nil
		}
		return false, tableOf(v.Type()).check(v)
	})
}

// check checks a struct's own fields.
func (t *table) check(v reflect.Value) error {
	for _, row := range t.fields {
		if len(row.Index) > 1 || row.variant { // it is in another struct
			continue
		}
		field := v.FieldByIndex(row.Index)
		switch {
		case row.needed && field.IsZero():
			return In(row.Name, errMissing)
		case row.Limit != nil:
			if err := row.Limit.check(field); err != nil {
				return In(row.Name, err)
			}
		}
	}
	if t.rule {
		return v.Interface().(Rule).Consistent()
	}
	return nil
}

func tooLong(d time.Duration) error {
	if d < -MaxDuration || d > MaxDuration {
		return fmt.Errorf("%v: want at most %v, which is 30 years", d, MaxDuration)
	}
	return nil
}
