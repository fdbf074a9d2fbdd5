package checker

import (
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/lockstorm/lockstorm/model"
)

// result is what can be said of an order of sections.
type result uint8

const (
	legal result = iota + 1
	illegal
	undecided
)

// searchLimit is the longest search for an order of one segment.
const searchLimit = 2 * time.Second

// ordered reports whether the sections, in the order of their returns, can
// have run one after another from a value on.
func ordered(value int64, sections []*section) result {
	if sequential(sections) {
		return replay(value, sections)
	}
	if _, crowded := imbalance(value, sections, nil); crowded != nil {
		return illegal
	}
	return search(value, sections)
}

// sequential reports whether no two sections overlap or touch.
func sequential(sections []*section) bool {
	for i := 1; i < len(sections); i++ {
		if sections[i].call <= sections[i-1].ret {
			return false
		}
	}
	return true
}

func replay(value int64, sections []*section) result {
	for _, s := range sections {
		if !s.blind && s.read != value {
			return illegal
		}
		value = s.wrote
	}
	return legal
}

// imbalance looks for a value that more sections have read than can have found
// it: each time that the resource has a value, only one section can read and
// replace it. It returns the readers of the first such value. The sections of
// perhaps may have taken effect or not.
func imbalance(value int64, sections, perhaps []*section) (int64, []*section) {
	visits := map[int64]int{value: 1}
	for _, list := range [][]*section{sections, perhaps} {
		for _, s := range list {
			visits[s.wrote]++
		}
	}
	readers := map[int64]int{}
	for _, s := range sections {
		if s.blind {
			continue
		}
		readers[s.read]++
		if readers[s.read] > visits[s.read] {
			return s.read, readersOf(s.read, sections)
		}
	}
	return 0, nil
}

func readersOf(value int64, sections []*section) []*section {
	var readers []*section
	for _, s := range sections {
		if !s.blind && s.read == value {
			readers = append(readers, s)
		}
	}
	return readers
}

func search(value int64, sections []*section) result {
	ops := make([]porcupine.Operation, len(sections))
	for i, s := range sections {
		ops[i] = porcupine.Operation{
			ClientId: s.client - 1,
			Call:     int64(s.call), Return: int64(s.ret),
			Input: model.SectionInput{Resource: s.resource.name, Blind: s.blind, Read: s.read, Wrote: s.wrote},
		}
	}
	switch porcupine.CheckOperationsTimeout(model.RegisterFrom(value), ops, searchLimit) {
	case porcupine.Ok:
		return legal
	case porcupine.Illegal:
		return illegal
	}
	return undecided
}
