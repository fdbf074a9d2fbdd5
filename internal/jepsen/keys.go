package jepsen

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
