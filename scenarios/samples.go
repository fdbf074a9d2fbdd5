package scenarios

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/nemesis"
)

// maxSamples is the largest number of durations in a file of samples. Every stored run contains
// them.
const maxSamples = 1_000_000

// readSamples inserts the samples of the file that a distribution names.
func readSamples(dir string, d *nemesis.Distribution) error {
	if d.SamplesFrom == "" {
		return nil
	}
	wrong := func(err error) error { return &nemesis.FieldError{Path: "samples_from", Err: err} }
	if len(d.Samples) > 0 {
		return wrong(errors.New("samples and samples_from exclude each other"))
	}
	path := d.SamplesFrom
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	file, err := os.Open(path)
	if err != nil {
		return wrong(err)
	}
	defer func() { _ = file.Close() }()
	samples, err := parseSamples(path, file)
	if err != nil {
		return wrong(err)
	}
	d.Samples, d.SamplesFrom = samples, ""
	return nil
}

// parseSamples reads one duration per line. It ignores blank lines and text after a #. Durations must not be
// negative, and there must be at least one. Errors name the file and the line.
func parseSamples(name string, r io.Reader) ([]time.Duration, error) {
	var samples []time.Duration
	lines := bufio.NewScanner(r)
	number := 1
	for ; lines.Scan(); number++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		one, err := time.ParseDuration(text)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s:%d: %q is not a duration: want one a line, as in 1.2ms", name, number, text)
		case one < 0:
			return nil, fmt.Errorf("%s:%d: %v is negative", name, number, one)
		case len(samples) == maxSamples:
			return nil, fmt.Errorf("%s:%d: more than %d samples", name, number, maxSamples)
		}
		samples = append(samples, one)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", name, number, err)
	}
	if len(samples) == 0 {
		return nil, fmt.Errorf("%s: there are no samples in it", name)
	}
	return samples, nil
}
