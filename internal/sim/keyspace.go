package sim

import (
	"slices"
	"strings"
)

// keyNames numbers the names of keys for all nodes of a world, so that a command looks its key
// up once and not on every node.
type keyNames struct {
	numbers map[string]int32
	list    []string
}

// number returns the number of a name.
func (k *keyNames) number(name string) int32 {
	number, known := k.numbers[name]
	if !known {
		number = int32(len(k.list))
		k.numbers[name], k.list = number, append(k.list, name)
	}
	return number
}

// keyspace is the keys of a node, by the numbers of their names.
type keyspace struct {
	names *keyNames
	slots []keySlot
	count int // of the keys that exist
}

type keySlot struct {
	key
	exists bool
}

func (s *keyspace) get(number int32) (k key, exists bool) {
	if int(number) >= len(s.slots) {
		return key{}, false
	}
	slot := &s.slots[number]
	return slot.key, slot.exists
}

func (s *keyspace) put(number int32, k key) {
	for int(number) >= len(s.slots) {
		s.slots = append(s.slots, keySlot{})
	}
	slot := &s.slots[number]
	if !slot.exists {
		s.count++
	}
	*slot = keySlot{k, true}
}

func (s *keyspace) drop(number int32) {
	if _, exists := s.get(number); exists {
		s.slots[number] = keySlot{}
		s.count--
	}
}

// keep drops every key for which so is false.
func (s *keyspace) keep(so func(k key) bool) {
	for number := range s.slots {
		if slot := &s.slots[number]; slot.exists && !so(slot.key) {
			s.drop(int32(number))
		}
	}
}

// inOrder returns the keys that exist, in the order of their names.
func (s *keyspace) inOrder() []int32 {
	list := make([]int32, 0, s.count)
	for number := range s.slots {
		if s.slots[number].exists {
			list = append(list, int32(number))
		}
	}
	s.names.sort(list)
	return list
}

func (s *keyspace) clone() keyspace {
	return keyspace{names: s.names, slots: slices.Clone(s.slots), count: s.count}
}

// sort sorts keys by their names.
func (k *keyNames) sort(list []int32) {
	slices.SortFunc(list, func(a, b int32) int { return strings.Compare(k.list[a], k.list[b]) })
}
