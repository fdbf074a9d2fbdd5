package sim

import "github.com/lockstorm/lockstorm/history"

// trace is a hash of everything that has happened in a world, in its order: the events of
// its history, the steps that clients reached, and what nodes and the store answered and
// when. How the simulator does that, with which timers and in which slots, is no part of it,
// so that a faster simulator has the same traces.
type trace uint64

// Odd multipliers of 64 random-looking bits: to multiply by one loses nothing.
const (
	prime = 0x100000001b3 // of FNV
	mul1  = 0x9e3779b97f4a7c15
	mul2  = 0xbf58476d1ce4e5b9
	mul3  = 0x94d049bb133111eb
	mul4  = 0xd6e8feb86659fd93
	mul5  = 0xa0761d6478bd642f
	mul6  = 0xe7037ed1a0b428db
	mul7  = 0x8ebc6af09c88c6e3
	mul8  = 0x589965cc75374cc3
	mul9  = 0x1d8e4e27c47d124f
	mul10 = 0xd2b74407b1ce6e93
)

// add mixes one number in (the step of FNV-1a, on words).
func (t *trace) add(x uint64) {
	h := (uint64(*t) ^ x) * prime
	*t = trace(h ^ h>>29)
}

// words mixes three numbers in.
func (t *trace) words(a, b, c uint64) { t.add(a*mul1 + b*mul2 + c*mul3) }

// event mixes every field of an event in, but Ends, which follows from the clocks. Sums of products, which do not wait
// for each other, cost less than a step of the hash for every field; since
// each factor is odd, a change of one field changes the sum.
func (t *trace) event(e *history.Event) {
	t.add(uint64(e.Time)*mul1 + uint64(e.Kind)*mul2 + uint64(e.Client)*mul3 + uint64(e.Node)*mul4 +
		uint64(e.TTL)*mul5 + uint64(e.Until)*mul6 + uint64(e.Validity)*mul7 + e.Fence*mul8 + uint64(e.Since)*mul9)
	t.add(uint64(e.Value)*mul1 + uint64(e.Outcome)*mul2 + uint64(e.K)*mul3 + uint64(e.Fault)*mul4 +
		uint64(e.Sent)*mul9 + text(e.Resource)*mul5 + text(e.Token)*mul6 + text(e.Name)*mul7 + text(e.Reason)*mul8 + text(e.Detail)*prime +
		uint64(e.Now)*mul10)
}

// text hashes a string. Most are empty, and that is found out without a call.
func text(s string) uint64 {
	if s == "" {
		return 0
	}
	return longText(s)
}

// longText takes a string 32 bytes at a time, then eight; the last eight may
// overlap with those before.
func longText(s string) uint64 {
	t := trace(len(s)) * mul8 // spread, or it could make up for a byte
	if len(s) < 8 {
		t.add(short(s))
		return uint64(t)
	}
	last := word(s[len(s)-8:])
	for ; len(s) >= 32; s = s[32:] {
		t.add(word(s)*mul1 + word(s[8:])*mul2 + word(s[16:])*mul3 + word(s[24:])*mul4)
	}
	for ; len(s) > 8; s = s[8:] {
		t.add(word(s))
	}
	t.add(last)
	return uint64(t)
}

// short returns a string of one to seven bytes as a number. Loads that overlap take the place of a loop.
func short(s string) uint64 {
	last := len(s) - 1
	if last >= 3 {
		return uint64(half(s)) | uint64(half(s[last-3:]))<<(8*(last-3))
	}
	middle := len(s) / 2
	return uint64(s[0]) | uint64(s[middle])<<(8*middle) | uint64(s[last])<<(8*last)
}

// half reads the first four bytes of a string.
func half(s string) uint32 {
	_ = s[3]
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

// word reads the first eight bytes of a string; the compiler makes one load of
// it.
func word(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// flags packs truth values into bits.
func flags(all ...bool) (bits uint64) {
	for i, b := range all {
		if b {
			bits |= 1 << i
		}
	}
	return bits
}

// digest is a hash of 128 bits, as two of 64 that are mixed in different ways.
type digest struct{ a, b uint64 }

// add mixes one number in, after all others.
func (d *digest) add(x uint64) {
	a := (d.a ^ x) * mul1
	d.a = a ^ a>>29
	b := (d.b + x) * mul6
	d.b = b ^ b>>32
}

// mix mixes another digest in, after all others.
func (d *digest) mix(o digest) {
	d.add(o.a)
	d.add(o.b)
}

// join adds another digest, in any order with others.
func (d *digest) join(o digest) {
	d.a += o.a * mul4
	d.b += o.b * mul5
}
