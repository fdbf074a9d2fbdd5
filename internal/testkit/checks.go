package testkit

import (
	"flag"
	"fmt"
	"testing"
)

// Checks sets the number of random cases on which a test checks each of its laws. Rapid's 100 are many for
// a law whose cases are whole searches, and few for one on short histories.
func Checks(t *testing.T, cases int) {
	t.Helper()
	checks := flag.Lookup("rapid.checks").Value
	before := checks.String()
	t.Cleanup(func() { _ = checks.Set(before) })
	if err := checks.Set(fmt.Sprint(cases)); err != nil {
		t.Fatal(err)
	}
}
