package cli

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/internal/shard"
)

// shardOptions are the flags by which sweep, explore and hunt are divided into shards and joined.
type shardOptions struct {
	shard shardFlag
	merge []string
}

// flags adds the flags.
func (o *shardOptions) flags(cmd *cobra.Command) {
	cmd.Flags().Var(&o.shard, "shard", "make only part `i/n` of the work, such as 2/8, and store it in --out; auto or auto/8: the part of this task of a Slurm array or pod of an Indexed Job")
	cmd.Flags().StringSliceVar(&o.merge, "merge", nil, "join the shards in these files or directories, and run nothing")
	cmd.MarkFlagsMutuallyExclusive("shard", "merge")
}

// shardsHelp is what the three commands say about these flags.
const shardsHelp = `--shard i/n makes the i-th of n parts of the work, anywhere, and stores it in the directory
--out. The same command continues a part that was interrupted; a part that is made again has
the same bytes. A part ends with exit code 0 even if it finds violations. The same command
with --merge in place of --shard prints what one process would have printed, or names what is
missing, damaged or of other work. With --shard auto the scheduler chooses i and n:
docs/slurm-array.sh and docs/indexed-job.yaml work as they stand.`

// shardFlag is the flag --shard. The zero value is no part.
type shardFlag struct{ shard.Shard }

// Set implements pflag.Value.
func (s *shardFlag) Set(text string) (err error) {
	s.Shard, err = shard.Parse(text, os.Getenv)
	return err
}

// String implements pflag.Value.
func (s *shardFlag) String() string {
	if s.Shard == (shard.Shard{}) {
		return ""
	}
	return s.Shard.String()
}

// Type implements pflag.Value.
func (*shardFlag) Type() string { return "string" }

// one reports whether one shard is made.
func (o shardOptions) one() bool { return o.shard.N > 0 }

// log returns the records of some work: those that --merge joins, or those in a directory so far, for which
// out is the value of --out. nil: nothing is kept.
func (o shardOptions) log(kind, out string, of any) (*shard.Log, error) {
	switch {
	case o.one() && out == "":
		return nil, errors.New("--shard: want --out, the directory for its results")
	case out == "" && len(o.merge) == 0:
		return nil, nil
	}
	build, err := buildSum()
	if err != nil {
		return nil, err
	}
	work, s := shard.Work{Kind: kind, Build: build, Of: of}, shard.Whole
	if len(o.merge) > 0 {
		log, err := shard.Join(o.merge, work)
		if err != nil {
			err = fmt.Errorf("--merge: %w", err)
		}
		return log, err
	}
	if o.one() {
		s = o.shard.Shard
	}
	log, err := shard.Open(out, work, s)
	if err != nil {
		err = fmt.Errorf("--out: %w", err)
	}
	return log, err
}

// made says that a shard was made, or that it was interrupted.
func (o shardOptions) made(log *shard.Log, out io.Writer) error {
	if !log.Finished() {
		_, _ = fmt.Fprintf(out, "shard %v: interrupted. The same command continues it.\n", log.Shard())
		return verdictError(exitUndecided)
	}
	_, _ = fmt.Fprintf(out, "shard %v: made, in %s. Join all shards with --merge.\n", log.Shard(), log.Path())
	return nil
}
