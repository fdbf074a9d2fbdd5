package runner

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// samples is a multiset of values: what a median needs. Adding a value is an append; values are
// sorted and counted when many have come together.
type samples struct {
	sorted []sample // by value, each value once
	recent []sample // in any order
}

// sample is a value, and how often it occurred: at least once.
type sample struct {
	value int64
	count int
}

// minRecent is how many values are kept unsorted at least.
const minRecent = 1 << 10

// add adds a value that occurred so many times.
func (s *samples) add(v sample) {
	if len(s.recent) >= max(minRecent, len(s.sorted)/4) {
		s.sort()
	}
	s.recent = append(s.recent, v)
}

// plus adds all values of another multiset, and does not change it.
func (s *samples) plus(more *samples) {
	for _, list := range [][]sample{more.sorted, more.recent} {
		for _, v := range list {
			s.add(v)
		}
	}
}

// sort merges the recent values into the sorted ones.
func (s *samples) sort() {
	if len(s.recent) == 0 {
		return
	}
	slices.SortFunc(s.recent, func(a, b sample) int { return cmp.Compare(a.value, b.value) })
	recent := counted(s.recent)
	i, j := len(s.sorted)-1, len(recent)-1
	all := append(s.sorted, recent...)
	for k := len(all) - 1; j >= 0; k-- { // from the end, so that no value is overwritten
		if i >= 0 && all[i].value > recent[j].value {
			all[k], i = all[i], i-1
		} else {
			all[k], j = recent[j], j-1
		}
	}
	s.sorted, s.recent = counted(all), s.recent[:0]
}

// counted adds up the counts of equal values of a sorted list, in place.
func counted(list []sample) []sample {
	last := 0
	for _, v := range list[1:] {
		if v.value == list[last].value {
			list[last].count += v.count
			continue
		}
		last++
		list[last] = v
	}
	return list[:last+1]
}

// len returns the number of values.
func (s *samples) len() (n int) {
	for _, list := range [][]sample{s.sorted, s.recent} {
		for _, v := range list {
			n += v.count
		}
	}
	return n
}

// at returns the value of a rank, from 0 to the number of values less one.
func (s *samples) at(rank int) int64 {
	s.sort()
	for _, v := range s.sorted {
		if rank -= v.count; rank < 0 {
			return v.value
		}
	}
	panic("runner: no value has this rank")
}

// median returns the median, of two middle values the lower; 0 without values.
func (s *samples) median() int64 {
	n := s.len()
	if n == 0 {
		return 0
	}
	return s.at((n - 1) / 2)
}

// interval returns the distribution-free 95 % interval of the median: the order statistics
// between which it lies with that probability, by the binomial distribution (David and Nagaraja,
// Order Statistics, 2003, section 7.1). Less than six values have none.
func (s *samples) interval() (low, high float64, known bool) {
	n := s.len()
	rank := medianRank(n)
	if rank == 0 {
		return 0, 0, false
	}
	return float64(s.at(rank - 1)), float64(s.at(n - rank)), true
}

// medianRank returns the rank of the lower end of the interval among n values; 0: there is none.
func medianRank(n int) (rank int) {
	if n > 1000 { // 2^-n vanishes, and the normal distribution is close enough
		return int(float64(n)/2 - z*math.Sqrt(float64(n))/2)
	}
	for tail, term := 0.0, math.Pow(0.5, float64(n)); rank < n/2; rank++ {
		if tail += term; tail > 0.025 {
			break
		}
		term *= float64(n-rank) / float64(rank+1)
	}
	return rank
}

// stored returns the values in ascending order: for each its difference from the one before (the
// first: from 0), and then, if it occurred more than once, minus how often.
func (s *samples) stored() []int64 {
	s.sort()
	list, last := make([]int64, 0, len(s.sorted)), int64(0)
	for _, v := range s.sorted {
		list = append(list, v.value-last)
		if v.count > 1 {
			list = append(list, -int64(v.count))
		}
		last = v.value
	}
	return list
}

// restored reads what stored returns: values of at least least, at most so many.
func restored(list []int64, least int64, most int) (*samples, error) {
	s, left := &samples{}, int64(most)
	for i, number := range list {
		end := len(s.sorted) - 1
		switch {
		case number < 0 && (end < 0 || s.sorted[end].count > 1):
			return nil, fmt.Errorf("number %d: a count without a value", i+1)
		case number < 0 && (number == -1 || number < -1-left):
			return nil, fmt.Errorf("number %d: the count %d with %d runs left", i+1, -number, left+1)
		case number < 0:
			s.sorted[end].count = int(-number)
			left += 1 + number
			continue
		}
		value := number
		if end >= 0 {
			value += s.sorted[end].value
		}
		switch {
		case number == 0 && end >= 0, value < least:
			return nil, fmt.Errorf("number %d: the value is out of order or range", i+1)
		case left == 0:
			return nil, fmt.Errorf("number %d: more values than the %d runs", i+1, most)
		}
		s.sorted = append(s.sorted, sample{value, 1})
		left--
	}
	return s, nil
}
