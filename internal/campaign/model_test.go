package campaign_test

import (
	"math"
	"testing"
	"time"
)

// engineModel is the engine as a closed queueing network: each slot makes a shard, and then asks the
// servers for the next one. The servers handle one such request at a time.
type engineModel struct {
	demand time.Duration // of the servers per shard
	delay  time.Duration // of a slot per shard that no other slot lengthens
}

// fitted returns the model whose throughput is, in shards per second, that of one slot with empty shards
// and of very many.
func fitted(one, most float64) engineModel {
	demand := seconds(1 / most)
	return engineModel{demand, seconds(1/one) - demand}
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// throughput returns the shards per second of so many slots whose shards take so long: mean value analysis
// of one queueing station and a delay (Reiser and Lavenberg, Journal of the ACM 27(2), 1980).
func (m engineModel) throughput(slots int, shard time.Duration) float64 {
	demand, think := m.demand.Seconds(), (m.delay + shard).Seconds()
	queue, rate := 0.0, 0.0
	for n := range slots {
		response := demand * (1 + queue)
		rate = float64(n+1) / (think + response)
		queue = rate * response
	}
	return rate
}

// efficiency returns the share of their time in which slots make shards.
func (m engineModel) efficiency(slots int, shard time.Duration) float64 {
	return m.throughput(slots, shard) * shard.Seconds() / float64(slots)
}

// The model is right where the answer is known.
func TestEngineModel(t *testing.T) {
	m := fitted(100, 1000) // 10 ms and 1 ms a shard
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"one slot", m.throughput(1, 0), 100},
		{"very many slots", m.throughput(10_000, 0), 1000},
		{"one slot with long shards", m.efficiency(1, 990*time.Millisecond), 0.99},
		{"too many slots", m.efficiency(10_000, time.Second), 0.1},
		// Two customers of a station with service s and think time z: 2/(z+s+s*s/(z+s)).
		{"two slots", m.throughput(2, 0), 2 / (0.010 + 0.001*0.001/0.010)},
	} {
		if math.Abs(c.got-c.want) > 1e-3*c.want {
			t.Errorf("%s: %g; want %g", c.name, c.got, c.want)
		}
	}
}
