package nemesis

import (
	"fmt"
	"hash/fnv"
	"math/big"
	"strconv"
	"strings"
)

// Code writes the weights in a length that does not depend on the names of the
// kinds, as in "7-a18c-4F39": how many kinds of the list of kinds are meant, a
// hash of their names, and their weights, one digit each, as one number in base
// 62. It stays readable while kinds are only added to the end of the list.
func (w Weights) Code() string {
	names, _ := Kinds()
	row, n := "", 0
	for i, k := range names {
		row += fmt.Sprint(w.of(k))
		if w.of(k) > 0 {
			n = i + 1
		}
	}
	number, _ := new(big.Int).SetString("0"+row[:n], 10)
	return fmt.Sprintf("%d-%s-%s", n, hashOfKinds(names[:n]), number.Text(62))
}

// decodeWeights reads what Code writes, and nothing else.
func decodeWeights(text string) (Weights, error) {
	parts := strings.Split(text, "-")
	names, _ := Kinds()
	n, err := strconv.Atoi(parts[0])
	if err != nil || len(parts) != 3 {
		return nil, fmt.Errorf("%q: want a number of kinds, a hash of their names and their weights, with hyphens between", text)
	}
	if n < 1 || n > len(names) || parts[1] != hashOfKinds(names[:n]) {
		return nil, fmt.Errorf("%q was written by a version with other kinds of faults", text)
	}
	w := Weights{}
	if number, ok := new(big.Int).SetString(parts[2], 62); ok {
		row := fmt.Sprintf("%0*d", n, number)
		for i, k := range names[:n] {
			if row[i] != '0' {
				w[k] = int(row[i] - '0')
			}
		}
	}
	if len(w) == 0 || w.Code() != text {
		return nil, fmt.Errorf("%q: its last part is not the weights of %d kinds", text, n)
	}
	return w, nil
}

// hashOfKinds tells lists of kinds apart.
func hashOfKinds(names []Kind) string {
	h := fnv.New32a()
	for _, k := range names {
		_, _ = fmt.Fprintln(h, k)
	}
	return fmt.Sprintf("%04x", uint16(h.Sum32()))
}
