package checker_test

import (
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
)

// No statement prints a name in full that has no room on a line.
func TestLongNamesAreCut(t *testing.T) {
	name := strings.Repeat("a", 10_000)
	for _, kind := range []checker.StatementKind{checker.HoldBegan, checker.FencedGrant, checker.LostUpdate, checker.StaleRead, checker.NoOrder, checker.WaitedLong, checker.RefusedInRow, checker.KeyLeft, checker.CallSlow, checker.HeldBeyond} {
		text := checker.Statement{Kind: kind, Resource: name, Token: name, Client: 1, Node: 2, Share: &checker.Share{}}.String()
		if !strings.Contains(text, "aaa…aaa") || len(text) > 600 {
			t.Errorf("%s: %.200q, of %d bytes", kind, text, len(text))
		}
	}
}
