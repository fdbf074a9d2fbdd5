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

// maxSamples is how many durations a file of samples may have: each is kept
// with every stored run.
const maxSamples = 1_000_000

// readSamples puts the samples of the file that a distribution names into it.
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

// parseSamples reads one duration a line, as in "1.2ms". Blank lines, and what
// stands behind a #, are left out. Errors name the file, as it is called, and
// the line.
func parseSamples(name string, r io.Reader) ([]time.Duration, error) {
	var samples []time.Duration
	lines := bufio.NewScanner(r)
	number := 1
	for ; lines.Scan(); number++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		sample, err := time.ParseDuration(text)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s:%d: %q is not a duration: want one a line, as in 1.2ms", name, number, text)
		case sample < 0:
			return nil, fmt.Errorf("%s:%d: %v is negative", name, number, sample)
		case len(samples) == maxSamples:
			return nil, fmt.Errorf("%s:%d: more than %d samples", name, number, maxSamples)
		}
		samples = append(samples, sample)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", name, number, err)
	}
	if len(samples) == 0 {
		return nil, fmt.Errorf("%s: there are no samples in it", name)
	}
	return samples, nil
}
