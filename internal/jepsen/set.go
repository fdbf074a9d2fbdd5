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
func (s set) within(t set) bool { return len(s) <= len(t) && len(s.common(t)) == len(s) }

// common returns what both have, as often as both have it.
func (s set) common(t set) set {
	if s == t {
		return s
	}
	both := s[:0]
	s.meet(t, func(i int, shared bool) {
		if shared {
			both += s[i*digit : (i+1)*digit]
		}
	})
	return both
}

// minus returns what s has beyond t.
func (s set) minus(t set) set {
	if t == "" {
		return s
	}
	left := s[:0]
	s.meet(t, func(i int, shared bool) {
		if !shared {
			left += s[i*digit : (i+1)*digit]
		}
	})
	return left
}

// meet says of each place of s whether t has that number, as often.
func (s set) meet(t set, say func(i int, shared bool)) {
	j := 0
	for i := range s.len() {
		for j < t.len() && t.at(j) < s.at(i) {
			j++
		}
		shared := j < t.len() && t.at(j) == s.at(i)
		if shared {
			j++
		}
		say(i, shared)
	}
}
