package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/nemesis"
)

// givenFaults are the flags that ask for generated faults.
type givenFaults struct {
	kinds string
	most  int
}

func (g *givenFaults) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&g.kinds, "faults", "", "add generated faults: all, or kinds with weights up to 9, such as crash,partition:3 or all,kill:0")
	cmd.Flags().IntVar(&g.most, "most", 4, "with --faults: maximum number of faults in a run")
}

// generator returns the generator that the flags select for a setting on a backend, or nil. It
// names all kinds that it draws, so that a later program with more kinds can repeat the run.
func (g *givenFaults) generator(cmd *cobra.Command, s nemesis.Setting, b runner.Backend) (*nemesis.Generator, error) {
	if !cmd.Flags().Changed("faults") {
		if cmd.Flags().Changed("most") {
			return nil, errors.New("--most needs --faults")
		}
		return nil, nil
	}
	weights, err := nemesis.ParseWeights(g.kinds)
	if err == nil {
		weights, err = weights.Only(s, b.Ability)
	}
	if err != nil {
		return nil, fmt.Errorf("--faults %q: %w", g.kinds, err)
	}
	if g.most < 1 || g.most > nemesis.MostFaults {
		return nil, fmt.Errorf("--most %d: want 1 to %d", g.most, nemesis.MostFaults)
	}
	return &nemesis.Generator{Faults: weights, Most: g.most}, nil
}
