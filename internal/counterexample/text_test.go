package counterexample

import (
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/history"
)

func TestInstantsAreDistinct(t *testing.T) {
	got := instants([]history.Time{0, 1371803, 165886788, 450000001000, 450000001600, 450000001700, 450300000000})
	want := []string{"0s", "1.372ms", "165.9ms", "7m30.000001s", "7m30.0000016s", "7m30.0000017s", "7m30.3s"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestRowsAreInTheOrderOfTheirNumbers(t *testing.T) {
	rows := []string{"nodes", "client 10 lease", "client 2 section", "client 2 lease", "node 3 keeps", "faults"}
	slices.SortFunc(rows, inOrder)
	if got := strings.Join(rows, ", "); got != "client 2 lease, client 2 section, client 10 lease, faults, node 3 keeps, nodes" {
		t.Error(got)
	}
}

func TestCountsAndNames(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{count(224995, "earlier", "hold"), "224,995 earlier holds"}, {count(1, "", "call"), "1 call"}, {count(1000000, "later", "access"), "1,000,000 later accesses"},
		{quoted("warehouse/eu-west-1/stock"), `"warehouse/eu-wes…"`},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}
