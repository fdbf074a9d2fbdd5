package runner

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/bits"

	"github.com/lockstorm/lockstorm/checker"
)

// shares lists the measurements that are shares: ratios of two sums over all runs. The part and
// the whole are not negative.
var shares = []struct {
	name string
	of   func(m checker.Measurements) (part, whole int64)
}{
	{"availability", func(m checker.Measurements) (part, whole int64) {
		return int64(m.Wanted - m.TotalOutage), int64(m.Wanted)
	}},
	{"lost_update_share", func(m checker.Measurements) (part, whole int64) {
		return int64(m.LostUpdates), int64(m.Updates)
	}},
	{"forgotten_grant_share", func(m checker.Measurements) (part, whole int64) {
		return int64(m.ForgottenGrants), int64(m.StoredGrants)
	}},
}

// Squares are what the interval of a share needs besides the sums: the sums, over all runs, of
// the squares of the part and of the whole, and of their product. They are exact, so that they
// do not depend on the order of the runs.
type Squares struct {
	Part  Wide `json:"part"`
	Whole Wide `json:"whole"`
	Mixed Wide `json:"mixed"`
}

// add adds one run.
func (s *Squares) add(part, whole int64) {
	p, w := uint64(max(part, 0)), uint64(max(whole, 0))
	s.Part.addProduct(p, p)
	s.Whole.addProduct(w, w)
	s.Mixed.addProduct(p, w)
}

// plus adds the runs of another.
func (s *Squares) plus(more Squares) {
	s.Part.add(more.Part)
	s.Whole.add(more.Whole)
	s.Mixed.add(more.Mixed)
}

// interval returns the 95 % interval of the sum of the parts over that of the wholes of n runs, by
// linearization (Cochran, Sampling Techniques, 1977, section 6.4). Less than six runs have none.
func (s *Squares) interval(runs int, part, whole int64) (low, high float64, known bool) {
	if runs < 6 || whole == 0 {
		return 0, 0, false
	}
	n, sum := float64(runs), float64(whole)
	share := float64(part) / sum
	squares := s.Part.float() - 2*share*s.Mixed.float() + share*share*s.Whole.float()
	half := z * math.Sqrt(max(squares, 0)*n/(n-1)) / sum
	return max(share-half, 0), min(share+half, 1), true
}

// Wide is a whole number from 0 to 2^192-1, the lowest 64 bits first: a sum of up to 2^64 products
// of durations. Its text is 48 hexadecimal digits.
type Wide [3]uint64

func (w *Wide) addProduct(a, b uint64) {
	high, low := bits.Mul64(a, b)
	w.add(Wide{low, high})
}

// add adds a number. The sum is taken modulo 2^192.
func (w *Wide) add(v Wide) {
	carry := uint64(0)
	for i := range w {
		w[i], carry = bits.Add64(w[i], v[i], carry)
	}
}

func (w Wide) float() float64 {
	return float64(w[2])*0x1p128 + float64(w[1])*0x1p64 + float64(w[0])
}

// MarshalText implements [encoding.TextMarshaler].
func (w Wide) MarshalText() ([]byte, error) {
	return fmt.Appendf(nil, "%016x%016x%016x", w[2], w[1], w[0]), nil
}

// UnmarshalText implements [encoding.TextUnmarshaler].
func (w *Wide) UnmarshalText(text []byte) error {
	var b [24]byte
	if len(text) != 2*len(b) {
		return fmt.Errorf("a number of %d digits: want %d hexadecimal digits", len(text), 2*len(b))
	}
	if _, err := hex.Decode(b[:], text); err != nil {
		return fmt.Errorf("the number %q: want hexadecimal digits", text)
	}
	for i := range w {
		w[i] = binary.BigEndian.Uint64(b[16-8*i:])
	}
	return nil
}
