package sim

import (
	"math"
	"slices"
	"strconv"
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

// key is the value of a key: the token of a lock, or a counter.
type key struct {
	token   string // in a counter, its digits
	expiry  int64  // the last millisecond of the node's wall clock in which it lives, or unending
	counter bool   // it is one
}

// unending is the expiry of a key without a TTL.
const unending int64 = math.MaxInt64

// volatile reports whether the key has a TTL.
func (k key) volatile() bool { return k.expiry != unending }

func anyKey(string, key) bool { return true }

// A counter is a key whose value is a number in digits, as in Redis. So it is
// lost, and comes back, with the node's other keys. The history, which has keys of
// locks, does not tell of it.

// isLock reports whether the key exists and is not a counter.
func (k key) isLock() bool { return k.token != "" && !k.counter }

// count returns the value of a counter, or 0 if there is none.
func (k key) count() uint64 {
	n, _ := strconv.ParseUint(k.token, 10, 64) // put writes digits only
	return n
}

func counter(n uint64, expiry int64) key {
	return key{token: strconv.FormatUint(n, 10), expiry: expiry, counter: true}
}
