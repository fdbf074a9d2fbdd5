package fuzz

import (
	"fmt"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// Near is how close runs came to granting a lock twice, in what people can follow of
// what guides a hunt. The zero value says that nothing was measured.
type Near struct {
	votes, gap, validity distance
}

// distance is how far something was from a violation: one more than that, so that 0 is
// nothing measured.
type distance int64

// told tells of one run.
func (c *closeness) told() (n Near) {
	for _, one := range []struct {
		to      *distance
		measure measure
		unit    int64
	}{{&n.votes, rivalVotes, 1 << timeBits}, {&n.gap, gap, 1}, {&n.validity, remaining, 1}} {
		if d := c.near[one.measure]; d < far {
			*one.to = distance(max(d/one.unit, 0) + 1)
		}
	}
	return n
}

// closer is the closer one of both, each way by itself.
func (n Near) closer(than Near) Near {
	return Near{n.votes.closer(than.votes), n.gap.closer(than.gap), n.validity.closer(than.validity)}
}

func (d distance) closer(than distance) distance {
	if d == 0 || than != 0 && than < d {
		return than
	}
	return d
}

// String tells it as in "1 vote short, 3ms apart, validity 5ms": votes that a
// second holder lacked, the time between two holds, the least validity at a grant; empty: nothing
// was measured.
func (n Near) String() string {
	var parts []string
	if n.votes > 0 {
		parts = append(parts, textfmt.Count(int(n.votes-1), "vote")+" short")
	}
	if n.gap > 0 {
		parts = append(parts, fmt.Sprintf("%s apart", textfmt.Duration(time.Duration(n.gap-1))))
	}
	if n.validity > 0 {
		parts = append(parts, fmt.Sprintf("validity %s", textfmt.Duration(time.Duration(n.validity-1))))
	}
	return strings.Join(parts, ", ")
}
