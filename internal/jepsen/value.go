package jepsen

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"olympos.io/encoding/edn"
)

// decode reads one value by the EDN library, whose panics are errors.
func decode(text []byte, line int) (value any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = wrong(line, "the EDN library cannot read %.64q: %v", text, p)
		}
	}()
	if err := edn.Unmarshal(text, &value); err != nil {
		return nil, wrong(line, "%.64q is no EDN: %w", text, err)
	}
	return value, nil
}

// memory remembers what short texts mean: most values of a history are few
// keywords and small numbers.
type memory map[string]any

func (m memory) decode(text []byte, line int) (any, error) {
	if v, known := m[string(text)]; known {
		return v, nil
	}
	v, err := decode(text, line)
	if err == nil && len(text) <= 32 && len(m) < 1<<12 {
		m[string(text)] = v
	}
	return v, err
}

// tuple returns a pair of values, with or without a tag.
func tuple(v any) (first, second any, ok bool) {
	if tag, tagged := v.(edn.Tag); tagged {
		v = tag.Value
	}
	if list, is := v.([]any); is && len(list) == 2 {
		return list[0], list[1], true
	}
	return nil, nil, false
}

// show writes a value so that two values are equal in Clojure if and only if
// they are written alike.
func show(v any) string {
	switch v := v.(type) {
	case nil:
		return "nil"
	case edn.Keyword:
		return ":" + string(v)
	case edn.Symbol:
		return string(v)
	case edn.Tag:
		return "#" + v.Tagname + " " + show(v.Value)
	case string:
		return strconv.Quote(v)
	case rune:
		return "\\" + string(v)
	case *big.Int:
		return v.String()
	case float64:
		return showFloat(v)
	case []any:
		return "[" + strings.Join(showAll(v), " ") + "]"
	case map[any]any:
		return "{" + strings.Join(showMap(v), ", ") + "}"
	case map[any]bool:
		var list []any
		for e := range v {
			list = append(list, e)
		}
		return "#{" + strings.Join(slices.Sorted(slices.Values(showAll(list))), " ") + "}"
	}
	return fmt.Sprint(v)
}

// showFloat tells 1.0 from 1, which Clojure does too.
func showFloat(v float64) string {
	s := strconv.FormatFloat(v, 'g', -1, 64)
	if strings.ContainsAny(s, ".eIN") {
		return s
	}
	return s + ".0"
}

func showAll(list []any) []string {
	shown := make([]string, len(list))
	for i, e := range list {
		shown[i] = show(e)
	}
	return shown
}

func showMap(m map[any]any) []string {
	var list []string
	for k, v := range m {
		list = append(list, show(k)+" "+show(v))
	}
	slices.Sort(list)
	return list
}

// keyed reports whether the value of a history's first invocation is one of
// jepsen.independent: a pair of a key and a value. Such a pair is written as a
// vector, so that it must be told from what a client may ask for.
func keyed(f string, value any) bool {
	_, v, pair := tuple(value)
	if f == "cas" {
		_, _, nested := tuple(v)
		return pair && nested
	}
	return pair
}

// part is what was done to one key.
type part struct {
	key        string // "" where there is but one
	operations []operation
}

// parts divides a history by its keys, in the order in which they appear.
func (r *recording) parts() ([]part, error) {
	if !r.keyed {
		return []part{{operations: r.operations}}, nil
	}
	var list []part
	index := map[string]int{}
	for _, o := range r.operations {
		key, err := o.unkey()
		if err != nil {
			return nil, err
		}
		i, known := index[key]
		if !known {
			i = len(list)
			index[key] = i
			list = append(list, part{key: key})
		}
		list[i].operations = append(list[i].operations, o)
	}
	return list, nil
}

// unkey takes the key off the operation's values and returns it.
func (o *operation) unkey() (string, error) {
	key, asked, pair := tuple(o.asked)
	if !pair {
		return "", wrong(o.line, "the first operation has a key, and this one has none: %.64s", show(o.asked))
	}
	again, value, pair := tuple(o.value)
	if !pair || show(again) != show(key) {
		return "", wrong(o.end, "an operation on key %.64s is completed with %.64s", show(key), show(o.value))
	}
	o.asked, o.value = asked, value
	return show(key), nil
}
