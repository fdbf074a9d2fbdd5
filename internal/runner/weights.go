package runner

import (
	"fmt"
	"hash/fnv"
	"math/big"
	"strconv"
	"strings"

	"github.com/lockstorm/lockstorm/nemesis"
)

// The ends of the first two parts of a code of weights.
const (
	endOfKinds = 2
	endOfHash  = endOfKinds + 3 // 62³ is more than there are hashes
)

// weightCode writes weights in a length that does not depend on the names of the kinds, as in "104Y06LAzh": two
// digits for how many kinds of the list of kinds are meant, three for a hash of their names, and their weights,
// one digit each, as one number. Hash and weights are in base 62. A code stays readable while kinds are only
// added to the end of the list.
func weightCode(w nemesis.Weights) string {
	names, _ := nemesis.Kinds()
	row, n := "0", 0
	for i, k := range names {
		row += strconv.Itoa(w.Of(k))
		if w.Of(k) > 0 {
			n = i + 1
		}
	}
	number, _ := new(big.Int).SetString(row[:1+n], 10)
	h := fnv.New32a()
	for _, k := range names[:n] {
		_, _ = fmt.Fprintln(h, k)
	}
	hash := big.NewInt(int64(uint16(h.Sum32()))).Text(62)
	return fmt.Sprintf("%02d%s%s%s", n, strings.Repeat("0", endOfHash-endOfKinds-len(hash)), hash, number.Text(62))
}

// parseWeights reads the weights of a replay string: a code, or names.
func parseWeights(text string) (nemesis.Weights, error) {
	if text == "" || text[0] < '0' || text[0] > '9' {
		return nemesis.ParseWeights(text)
	}
	names, _ := nemesis.Kinds()
	w := nemesis.Weights{}
	if len(text) > endOfHash {
		n, err := strconv.Atoi(text[:endOfKinds])
		number, ok := new(big.Int).SetString(text[endOfHash:], 62)
		if err == nil && ok {
			row := fmt.Sprintf("%0*d", n, number)
			for i, k := range names[:min(n, len(names))] {
				if weight := int(row[i] - '0'); weight > 0 && weight <= nemesis.MaxWeight {
					w[k] = weight
				}
			}
		}
	}
	if len(w) == 0 || weightCode(w) != text {
		return nil, fmt.Errorf("%q: not the weights of the kinds of faults that this program has", text)
	}
	return w, nil
}
