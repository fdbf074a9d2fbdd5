package tune

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Load reads a question from a YAML file; files of samples are named relative to it. It may
// leave out what a flag will say: whoever has the whole calls [Question.Validate]. An error
// names the file, and where it can the line.
func Load(path string) (q Question, err error) {
	file, err := os.Open(path)
	if err != nil {
		return q, err
	}
	defer func() { _ = file.Close() }()
	text, err := scenarios.ReadText(file)
	if err == nil {
		err = scenarios.Decode(text, "question", &q)
	}
	if err == nil {
		err = scenarios.Locate(text, nemesis.Bounded(&q))
	}
	if err == nil {
		err = scenarios.Locate(text, q.readSamples(filepath.Dir(path)))
	}
	if err != nil {
		return q, fmt.Errorf("%s: %w", path, err)
	}
	return q, nil
}

// readSamples puts the samples of the files that are named into their distributions.
func (q *Question) readSamples(dir string) error {
	for _, d := range q.distributions() {
		if d.of.SamplesFrom == "" {
			continue
		}
		path := d.of.SamplesFrom
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		samples, err := ReadSamples(path)
		if err != nil {
			return nemesis.InField(d.name+".samples_from", err)
		}
		d.of.Samples, d.of.SamplesFrom = append(d.of.Samples, samples...), ""
	}
	return nil
}

// ReadSamples reads a file of durations, one a line: as in 1.2ms, or a mere number of
// milliseconds, as ping prints them. What stands behind a # does not count. An error names the
// file and the line.
func ReadSamples(path string) ([]time.Duration, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return scenarios.ReadSamples(path, file, parseSample)
}

// parseSample reads a duration or a number of milliseconds.
func parseSample(text string) (time.Duration, error) {
	number, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return time.ParseDuration(text)
	}
	ns := number * float64(time.Millisecond)
	if math.IsNaN(ns) || math.Abs(ns) > float64(nemesis.MaxDuration) {
		return 0, fmt.Errorf("%s is no time", text)
	}
	return time.Duration(ns), nil
}
