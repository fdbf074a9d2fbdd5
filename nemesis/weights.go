package nemesis

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Weights say how often each kind of fault is drawn, compared with the others:
// 0 means never. A kind that is not named has the weight of [AllKinds], or 0
// if that is not named either. No weights at all mean 1 for every kind.
type Weights map[Kind]int

// AllKinds stands, among [Weights], for the kinds that are not named.
const AllKinds Kind = "all"

// MaxWeight is the largest weight. It is one digit, so that weights fit into a
// short string.
const MaxWeight = 9

// Of returns the weight of a kind.
func (w Weights) Of(k Kind) int {
	if weight, named := w[k]; named || len(w) > 0 {
		if !named {
			weight = w[AllKinds]
		}
		return weight
	}
	return 1
}

// Validate returns a [FieldError] for the first weight that cannot be.
func (w Weights) Validate() error {
	drawn := false
	for _, k := range w.named() {
		if k != AllKinds && !k.Known() {
			return field(string(k), UnknownKind(k))
		}
		if w[k] < 0 || w[k] > MaxWeight {
			return field(string(k), fmt.Errorf("weight %d: want 0 to %d", w[k], MaxWeight))
		}
		drawn = drawn || w[k] > 0
	}
	if len(w) > 0 && !drawn {
		return errors.New("every weight is 0: nothing is left to draw")
	}
	return nil
}

// named lists the names with a weight: "all", then the kinds in their order, then other names in
// alphabetical order.
func (w Weights) named() []Kind {
	names, _ := Kinds()
	names = append([]Kind{AllKinds}, names...)
	var list, rest []Kind
	for _, k := range names {
		if _, ok := w[k]; ok {
			list = append(list, k)
		}
	}
	for k := range w {
		if !slices.Contains(names, k) {
			rest = append(rest, k)
		}
	}
	slices.Sort(rest)
	return append(list, rest...)
}

// String writes the weights as [ParseWeights] reads them, as in
// "crash,partition:3" or "all,kill:0".
func (w Weights) String() string {
	if len(w) == 0 {
		return string(AllKinds)
	}
	var parts []string
	_, all := w[AllKinds]
	for _, k := range w.named() {
		switch {
		case w[k] == 1:
			parts = append(parts, string(k))
		case w[k] != 0 || all:
			parts = append(parts, fmt.Sprintf("%s:%d", k, w[k]))
		}
	}
	return strings.Join(parts, ",")
}

// ParseWeights reads kinds of faults between commas, each with a colon and its
// weight unless that is 1. The weights are valid.
func ParseWeights(text string) (Weights, error) {
	if text == "" {
		return nil, errors.New("no kind of fault is named: want all, or kinds as in crash,partition:3")
	}
	w := Weights{}
	for _, part := range strings.Split(text, ",") {
		name, number, weighted := strings.Cut(part, ":")
		weight := 1
		if weighted {
			var err error
			if weight, err = strconv.Atoi(number); err != nil {
				return nil, fmt.Errorf("%q: want a kind of fault, a colon and a number", part)
			}
		}
		kind := Kind(name)
		if _, twice := w[kind]; twice {
			return nil, fmt.Errorf("%s is named twice", name)
		}
		if !kind.Known() && kind != AllKinds {
			return nil, UnknownKind(kind)
		}
		w[kind] = weight
	}
	return w, w.Validate()
}

// Among returns the weights without the kinds that are impossible in a setting, or on a
// backend that can do no more than it is able to; all of them if none is possible, so
// that [Weights.Only] says why.
func (w Weights) Among(s Setting, able Ability) Weights {
	possible := Weights{}
	for _, a := range Actions() {
		if weight := w.Of(a.Kind()); weight > 0 && able.whyImpossible(a, s) == nil {
			possible[a.Kind()] = weight
		}
	}
	if len(possible) == 0 {
		return w
	}
	return possible
}

// Only returns the weight of each kind that is drawn in a setting, on a backend with some
// abilities. It is an error if the weights name a kind that is impossible there, or if no kind is
// left: runs without a fault would show nothing.
func (w Weights) Only(s Setting, able Ability) (Weights, error) {
	only := Weights{}
	for _, a := range Actions() {
		k := a.Kind()
		if w.Of(k) == 0 {
			continue
		}
		err := able.whyImpossible(a, s)
		if _, named := w[k]; named && err != nil {
			return nil, field(string(k), err)
		}
		if err == nil {
			only[k] = w.Of(k)
		}
	}
	if len(only) == 0 {
		return nil, fmt.Errorf("nothing is left to draw: the %s backend can carry out none of these kinds of faults in this setting", able.Name)
	}
	return only, nil
}
