package jepsen

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"olympos.io/encoding/edn"
)

// decode parses one value with the EDN library, and turns its panics into errors.
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

// memory caches the values of short texts: most values of a history are a few keywords and small
// numbers.
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

// show prints a value so that two values are equal in Clojure if and only if they print the same.
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

// showFloat distinguishes 1.0 from 1, as Clojure does.
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

// keyed reports whether the first invocation's value is one of jepsen.independent: a pair of key
// and value. It is written as a vector, and must be distinguished from a client's own vector.
func keyed(f string, value any) bool {
	_, v, pair := tuple(value)
	if f == "cas" {
		_, _, nested := tuple(v)
		return pair && nested
	}
	return pair
}

// part is the operations on one key.
type part struct {
	key        string // "" where there is but one
	operations []operation
}

// parts splits a history by keys, in the order of their first use.
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

// unkey removes the key from the operation's values and returns it.
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
