package sim

// trace is a hash of everything that has happened in a world, in its order.
type trace uint64

// add mixes one number in (the step of FNV-1a, on words).
func (t *trace) add(x uint64) {
	h := (uint64(*t) ^ x) * 0x100000001b3
	*t = trace(h ^ h>>29)
}
