package campaign

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// Spec describes a campaign. A worker gets it from the servers, and trusts nothing in it.
type Spec struct {
	// Name is of up to 60 lower-case letters, digits and hyphens.
	Name string `json:"name"`

	// Command is what is done, as the arguments of this program: sweep restart-delay --runs 1000.
	Command []string `json:"command"`

	// Files are the files that the command reads, by the names that it uses.
	Files map[string][]byte `json:"files,omitempty"`

	// Sum identifies what the shards do. A worker that makes another sum of the command refuses.
	Sum string `json:"sum"`

	// Size is how many runs a shard has at most. At least 1.
	Size int `json:"size"`

	// Shards is their number, and Runs how many runs they have in all; 0: nobody knows.
	Shards int `json:"shards"`
	Runs   int `json:"runs,omitempty"`

	// Draws is from how many others a shard may draw: see [Job].
	Draws int `json:"draws,omitempty"`

	// Want is the number of builds that make all shards, each by itself, so that they can be
	// compared. Builds lists those that take part. The first is that of whoever started the campaign;
	// others join as they come.
	Want   int     `json:"want"`
	Builds []Build `json:"builds"`

	// Bucket is the URL of the bucket for results, as gocloud.dev/blob has it. Empty: the servers
	// keep them.
	Bucket string `json:"bucket,omitempty"`

	Limits Limits `json:"limits"`
}

// Limits bound a shard. A shard that exceeds them has failed.
type Limits struct {
	Time     time.Duration `json:"time"`     // of one attempt; positive
	Memory   int64         `json:"memory"`   // bytes of the process that makes it; positive
	Attempts int           `json:"attempts"` // after so many failed ones it is set aside; at least 1
}

// DefaultLimits are those of a campaign that has no others.
var DefaultLimits = Limits{Time: time.Hour, Memory: 4 << 30, Attempts: 3}

// The bounds of a campaign.
const (
	MaxShards = 100_000
	MaxResult = 64 << 20 // bytes of the result of a shard
	MaxDraws  = 16       // others from which a shard may draw

	maxSpec    = 1 << 20 // bytes of its JSON; within what a server takes as a message
	maxWords   = 200     // of the command
	maxFiles   = 10
	maxBuilds  = 10
	maxName    = 60
	maxMessage = 16 << 10 // bytes of the log of a failure
)

var (
	names = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)
	paths = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`) // of one file in a directory of the worker's
	sums  = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// ValidateName returns an error unless the name fits a campaign.
func ValidateName(name string) error {
	if len(name) > maxName || !names.MatchString(name) {
		return fmt.Errorf("campaign %q: want a name of up to %d lower-case letters, digits and hyphens", name, maxName)
	}
	return nil
}

// Validate returns an error for a spec that no campaign can have.
func (s Spec) Validate() error {
	if err := ValidateName(s.Name); err != nil {
		return err
	}
	err := s.validate()
	if err != nil {
		err = fmt.Errorf("campaign %s: %w", s.Name, err)
	}
	return err
}

func (s Spec) validate() error {
	switch {
	case len(s.Command) == 0 || len(s.Command) > maxWords:
		return fmt.Errorf("a command of %s: want 1 to %d", textfmt.Count(len(s.Command), "word"), maxWords)
	case len(s.Files) > maxFiles:
		return fmt.Errorf("%d files: want at most %d", len(s.Files), maxFiles)
	case s.Shards < 1 || s.Shards > MaxShards:
		return fmt.Errorf("%s: want 1 to %d; make them larger", textfmt.Count(s.Shards, "shard"), MaxShards)
	case s.Size < 1:
		return fmt.Errorf("shards of %d runs: want at least 1", s.Size)
	case s.Runs < 0:
		return fmt.Errorf("%d runs", s.Runs)
	case s.Draws < 0 || s.Draws > MaxDraws:
		return fmt.Errorf("shards that draw from %d others: want 0 to %d", s.Draws, MaxDraws)
	case s.Draws > 0 && s.Want > 1:
		return errors.New("shards that draw from others cannot be compared between builds")
	case !sums.MatchString(s.Sum):
		return fmt.Errorf("the sum %q is no SHA-256 hash", s.Sum)
	case s.Want < 1 || s.Want > maxBuilds:
		return fmt.Errorf("it asks for %s: want 1 to %d", textfmt.Count(s.Want, "build"), maxBuilds)
	case len(s.Builds) < 1 || len(s.Builds) > s.Want:
		return fmt.Errorf("it has %s: want 1 to %d", textfmt.Count(len(s.Builds), "build"), s.Want)
	}
	for name := range s.Files {
		if !paths.MatchString(name) {
			return fmt.Errorf("file %q: want the name of a file, without a directory", name)
		}
	}
	return s.Limits.validate()
}

func (l Limits) validate() error {
	switch {
	case l.Time <= 0:
		return fmt.Errorf("a time limit of %s: want more than 0", l.Time)
	case l.Memory <= 0:
		return fmt.Errorf("a memory limit of %d bytes: want more than 0", l.Memory)
	case l.Attempts < 1:
		return fmt.Errorf("a limit of %d attempts: want at least 1", l.Attempts)
	}
	return nil
}

// Has reports whether a build takes part.
func (s Spec) Has(b Build) bool { return slices.Contains(s.Builds, b) }

// encode returns the JSON of a valid spec.
func (s Spec) encode() ([]byte, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	text, err := json.Marshal(s)
	if err == nil && len(text) > maxSpec {
		err = fmt.Errorf("campaign %s: its command and files have %d bytes: want at most %d", s.Name, len(text), maxSpec)
	}
	return text, err
}

// errSpec says that a stored spec is none of ours.
var errSpec = errors.New("what the servers have stored is no campaign of this program")
