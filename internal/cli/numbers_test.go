package cli

import (
	"fmt"
	"testing"
)

// Numbers and ranges may be mixed, repeated and overlapping.
func TestNumbers(t *testing.T) {
	var n numbers
	for _, text := range []string{"7,1-3", "12", "3-4"} {
		if err := n.Set(text); err != nil {
			t.Fatal(err)
		}
	}
	want(t, "as a flag", n.String(), "7,1,2,3,12,3,4")
	want(t, "numbers", fmt.Sprint(n.sorted()), "[1 2 3 4 7 12]")
}
