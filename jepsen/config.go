package jepsen

import "encoding/binary"

// set is a sorted list of small numbers, some perhaps more than once, in a form
// that can be the key of a map.
type set string

const digit = 4 // bytes a number

func (s set) len() int { return len(s) / digit }

func (s set) at(i int) int {
	return int(binary.BigEndian.Uint32([]byte(s[i*digit : (i+1)*digit])))
}

// search returns where n stands, or would.
func (s set) search(n int) int {
	i := s.len()
	for i > 0 && s.at(i-1) >= n {
		i--
	}
	return i
}

func (s set) has(n int) bool {
	i := s.search(n)
	return i < s.len() && s.at(i) == n
}

// count returns how often n is in it.
func (s set) count(n int) int {
	from, c := s.search(n), 0
	for from+c < s.len() && s.at(from+c) == n {
		c++
	}
	return c
}

func (s set) with(n int) set {
	i := s.search(n) * digit
	var b [digit]byte
	binary.BigEndian.PutUint32(b[:], uint32(n))
	return s[:i] + set(b[:]) + s[i:]
}

// without takes n out, as often as it is in it.
func (s set) without(n int) set {
	from, c := s.search(n), s.count(n)
	return s[:from*digit] + s[(from+c)*digit:]
}

// within reports whether t has all that s has, as often.
func (s set) within(t set) bool {
	if len(s) > len(t) {
		return false
	}
	i := 0
	for j := 0; i < s.len() && j < t.len(); j++ {
		if s.at(i) == t.at(j) {
			i++
		}
	}
	return i == s.len()
}

// config is one way in which a history can have gone so far.
type config struct {
	place
	used set // operations of unknown outcome that have taken effect, by kind
}

// place is a config but for what it has used up.
type place struct {
	state any // of the model
	done  set // operations in progress that have already taken effect
}

// frontier is a set of configs of which none makes another superfluous: of two
// that differ only in what they have used, the one that has used less can do
// all that the other can.
type frontier struct {
	used  map[place][]set
	order []config // as they came, with some that have become superfluous
}

func newFrontier() *frontier { return &frontier{used: map[place][]set{}} }

// add reports whether c was not superfluous.
func (f *frontier) add(c config) bool {
	list := f.used[c.place]
	for _, u := range list {
		if u.within(c.used) {
			return false
		}
	}
	var kept []set
	for _, u := range list {
		if !c.used.within(u) {
			kept = append(kept, u)
		}
	}
	f.used[c.place] = append(kept, c.used)
	f.order = append(f.order, c)
	return true
}

// holds reports whether c has not become superfluous.
func (f *frontier) holds(c config) bool {
	for _, u := range f.used[c.place] {
		if u == c.used {
			return true
		}
	}
	return false
}

// configs returns what is left, in the order in which it came.
func (f *frontier) configs() []config {
	var list []config
	for _, c := range f.order {
		if f.holds(c) {
			list = append(list, c)
		}
	}
	return list
}
