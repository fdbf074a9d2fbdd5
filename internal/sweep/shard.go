package sweep

import (
	"fmt"
	"strconv"
	"strings"
)

// Shard is the units i, i+n, i+2n, … of those that a campaign is about: part I of Of, 1 ≤
// I ≤ Of. The zero value is all of them.
type Shard struct{ I, Of int }

// ParseShard reads "i/n".
func ParseShard(text string) (Shard, error) {
	i, of, cut := strings.Cut(text, "/")
	part, err := strconv.Atoi(i)
	parts, err2 := strconv.Atoi(of)
	s := Shard{part, parts}
	if !cut || err != nil || err2 != nil || parts == 0 || !s.valid() {
		return Shard{}, fmt.Errorf("the shard %q: want i/n, with i from 1 to n", text)
	}
	return s, nil
}

func (s Shard) valid() bool { return s == Shard{} || 1 <= s.I && s.I <= s.Of }

// String writes "i/n", and nothing of all.
func (s Shard) String() string {
	if s.Of == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.I, s.Of)
}

// MarshalText writes what String does.
func (s Shard) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (s *Shard) UnmarshalText(text []byte) (err error) {
	if len(text) == 0 {
		*s = Shard{}
		return nil
	}
	*s, err = ParseShard(string(text))
	return err
}

// of returns the part of a list.
func of[T any](s Shard, all []T) []T {
	if s.Of == 0 {
		return all
	}
	var part []T
	for i := s.I - 1; i < len(all); i += s.Of {
		part = append(part, all[i])
	}
	return part
}
