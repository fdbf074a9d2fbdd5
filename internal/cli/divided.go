//go:build !simulated

package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/internal/campaign"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/scenarios"
)

// divided is work that a campaign divides into shards.
type divided interface {
	campaign.Job

	// join puts the results of all shards together, stores them in a directory, unless its name is
	// empty, and prints them, as one process would have done. It calls read with the number of a shard.
	join(ctx context.Context, read func(shard int) ([]byte, error), dir string, out, problems io.Writer) error

	// file returns the scenario file that the command reads: its name and the scenario. The name is
	// empty if there is none.
	file() (string, scenarios.Scenario)
}

// dividedKind is a command that campaigns can divide.
type dividedKind struct {
	name string

	// command returns the command with the flags that say what is done, and a function that makes
	// the work of the arguments that are left when these are parsed.
	command func(division) (*cobra.Command, func(ctx context.Context, args []string) (divided, error))
}

// division says how work is divided.
type division struct {
	size int    // most runs of a shard
	find finder // of scenarios
}

// dividedKinds lists them.
var dividedKinds = []dividedKind{
	{"sweep", divideSweep},
	{"explore", divideExplore},
	{"hunt", divideHunt},
}

// dividedNames returns their names.
func dividedNames() []string {
	return names(dividedKinds, func(k dividedKind) string { return k.name })
}

// openDivided makes the work of a command line, such as sweep drift --runs 1000.
func openDivided(ctx context.Context, words []string, how division) (divided, error) {
	if len(words) == 0 {
		return nil, fmt.Errorf("name the command that is to be divided: %s", strings.Join(dividedNames(), ", "))
	}
	i := slices.IndexFunc(dividedKinds, func(k dividedKind) bool { return k.name == words[0] })
	if i < 0 {
		return nil, &textfmt.UnknownError{What: "command of a campaign", Name: words[0], Known: dividedNames()}
	}
	cmd, open := dividedKinds[i].command(how)
	cmd.Flags().BoolP("help", "h", false, "") // which is no request for help, but a word that campaigns do not have
	if err := cmd.ParseFlags(words[1:]); err != nil {
		return nil, fmt.Errorf("%s: %w; flags of a campaign come before its command", words[0], err)
	}
	s, err := open(ctx, cmd.Flags().Args())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", words[0], err)
	}
	if n := s.Shards(); n > campaign.MaxShards {
		return nil, fmt.Errorf("%s shards of up to %s: want at most %s; make them larger", textfmt.Grouped(n), textfmt.Count(how.size, "run"), textfmt.Grouped(campaign.MaxShards))
	}
	return s, nil
}

// broughtAlong returns a finder of named scenarios, and of those that a campaign brings along. It reads
// no file: a campaign comes from servers, which must not make this machine read others.
func broughtAlong(files map[string][]byte) finder {
	return func(name string, check func(scenarios.Scenario) error) (scenarios.Scenario, error) {
		if !isFile(name) {
			return nameAnd(name, check)
		}
		text, ok := files[name]
		if !ok {
			return scenarios.Scenario{}, fmt.Errorf("%s: the campaign does not bring it along", name)
		}
		s, err := scenarios.Parse(text)
		if err == nil {
			err = check(s)
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", name, err)
		}
		return s, err
	}
}
