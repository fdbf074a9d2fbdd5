package nemesis

import (
	"fmt"
	"hash/fnv"
	"math/big"
	"strconv"
	"strings"
)

// Code writes the weights in a length that does not depend on the names of the
// kinds, as in "104Y06LAzh": two digits for how many kinds of the list of kinds are
// meant, three for a hash of their names, and their weights, one digit each, as one
// number. Hash and weights are in base 62. It stays readable while kinds are only added
// to the end of the list.
func (w Weights) Code() string {
	c := w.code()
	return fmt.Sprintf("%02d%s%s", c.kinds, hashText(c.hash), c.digits)
}

// hyphened writes the code as it was written before it had to be shorter.
func (w Weights) hyphened() string {
	c := w.code()
	return fmt.Sprintf("%d-%04x-%s", c.kinds, c.hash, c.digits)
}

// weightCode is what a code is made of.
type weightCode struct {
	kinds  int
	hash   uint16
	digits string // the weights
}

// Where the parts of a code end.
const (
	endOfKinds = 2
	endOfHash  = endOfKinds + 3 // 62³ is more than there are hashes
)

func (w Weights) code() weightCode {
	names, _ := Kinds()
	row, n := "", 0
	for i, k := range names {
		row += fmt.Sprint(w.of(k))
		if w.of(k) > 0 {
			n = i + 1
		}
	}
	number, _ := new(big.Int).SetString("0"+row[:n], 10)
	return weightCode{n, hashOfKinds(names[:n]), number.Text(62)}
}

// decodeWeights reads what Code writes, or wrote before, and nothing else.
func decodeWeights(text string) (Weights, error) {
	c, ok := splitCode(text)
	write := Weights.Code
	if strings.Contains(text, "-") {
		c, ok = splitHyphened(text)
		write = Weights.hyphened
	}
	if !ok {
		return nil, fmt.Errorf("%q: want a number of kinds, a hash of their names and their weights, as a replay string has them", text)
	}
	names, _ := Kinds()
	if c.kinds < 1 || c.kinds > len(names) || c.hash != hashOfKinds(names[:c.kinds]) {
		return nil, fmt.Errorf("%q was written by a version with other kinds of faults", text)
	}
	w := c.weights(names)
	if len(w) == 0 || write(w) != text {
		return nil, fmt.Errorf("%q: its last part is not the weights of %d kinds", text, c.kinds)
	}
	return w, nil
}

// splitCode takes apart what Code writes.
func splitCode(text string) (c weightCode, ok bool) {
	if len(text) < endOfHash {
		return c, false
	}
	n, err := strconv.Atoi(text[:endOfKinds])
	hash, isNumber := new(big.Int).SetString(text[endOfKinds:endOfHash], 62)
	if err != nil || !isNumber {
		return c, false
	}
	return weightCode{n, uint16(hash.Uint64()), text[endOfHash:]}, true
}

// splitHyphened takes apart what hyphened writes.
func splitHyphened(text string) (c weightCode, ok bool) {
	parts := strings.Split(text, "-")
	if len(parts) != 3 {
		return c, false
	}
	n, err := strconv.Atoi(parts[0])
	hash, notHex := strconv.ParseUint(parts[1], 16, 16)
	return weightCode{n, uint16(hash), parts[2]}, err == nil && notHex == nil
}

// weights are those of the first kinds of a list; none if the digits are no number.
func (c weightCode) weights(names []Kind) Weights {
	w := Weights{}
	number, ok := new(big.Int).SetString(c.digits, 62)
	if !ok {
		return w
	}
	row := fmt.Sprintf("%0*d", c.kinds, number)
	for i, k := range names[:c.kinds] {
		if weight := int(row[i] - '0'); weight > 0 && weight <= MaxWeight {
			w[k] = weight
		}
	}
	return w
}

// hashOfKinds tells lists of kinds apart.
func hashOfKinds(names []Kind) uint16 {
	h := fnv.New32a()
	for _, k := range names {
		_, _ = fmt.Fprintln(h, k)
	}
	return uint16(h.Sum32())
}

// hashText writes a hash in three digits.
func hashText(hash uint16) string {
	digits := big.NewInt(int64(hash)).Text(62)
	return strings.Repeat("0", endOfHash-endOfKinds-len(digits)) + digits
}
