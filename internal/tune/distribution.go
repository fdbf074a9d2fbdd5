package tune

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// ParseDistribution reads a distribution as a flag has it: 500us, always as long; 1ms..5ms,
// uniform between both; or in braces as in a file, {max: 5ms, log_normal: {median: 500us,
// sigma: 0.4}}. A file of samples that it names has a name relative to where the program runs.
func ParseDistribution(text string) (d nemesis.Distribution, err error) {
	if strings.HasPrefix(strings.TrimSpace(text), "{") {
		if err := scenarios.Decode([]byte(text), "distribution", &d); err != nil {
			return d, err
		}
		if d.SamplesFrom != "" {
			d.Samples, err = ReadSamples(d.SamplesFrom)
			d.SamplesFrom = ""
		}
		return d, err
	}
	low, high, isRange := strings.Cut(text, "..")
	if !isRange {
		high = low
	}
	var bad error
	d.Min, err = time.ParseDuration(low)
	d.Max, bad = time.ParseDuration(high)
	if errors.Join(err, bad) != nil {
		return d, fmt.Errorf("%q is no distribution: want 500us, 1ms..5ms or {max: 5ms, log_normal: {median: 500us, sigma: 0.4}}", text)
	}
	return d, nil
}
