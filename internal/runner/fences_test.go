package runner_test

import (
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
)

// The story names the pair of grants: those whose quorums had counted to the same
// number, and those before and after the loss.
func TestStoryOfFencesThatDoNotGrow(t *testing.T) {
	for name, wants := range map[string][]string{
		"fence-increment":     {"client 2", "client 3", "fence 2"},
		"fence-one-node-lost": {"client 1", "client 2", "fence 1"},
		"fence-after-loss":    {"client 1", "client 2", "fence 1"},
	} {
		got := runs(t, find(t, name), 1).First[checker.Fence].Report.Finding(checker.Fence).Story()
		for _, want := range wants {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in %q", name, want, got)
			}
		}
	}
}
