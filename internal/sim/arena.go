package sim

// arena stores values that the queue refers to by index, and reuses their slots.
type arena[T any] struct {
	all  []T
	free []int32
}

// put stores a value and returns its index, which is good until it is taken.
func (s *arena[T]) put(v T) int32 {
	if last := len(s.free) - 1; last >= 0 {
		i := s.free[last]
		s.free = s.free[:last]
		s.all[i] = v
		return i
	}
	s.all = append(s.all, v)
	return int32(len(s.all) - 1)
}

// at returns the value at an index. The pointer is good until the next put.
func (s *arena[T]) at(i int32) *T { return &s.all[i] }

// take returns the value at an index and frees its slot.
func (s *arena[T]) take(i int32) T {
	v := s.all[i]
	var zero T
	s.all[i] = zero
	s.free = append(s.free, i)
	return v
}
