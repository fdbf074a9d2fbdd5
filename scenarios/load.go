package scenarios

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/lockstorm/lockstorm/nemesis"
)

// Load reads the scenario in a file, and the files of samples that it names,
// relative to the directory of the scenario. The result contains the samples and
// names no files. check may reject the scenario for further reasons. An error names the file
// and, if known, the line.
func Load(path string, check func(Scenario) error) (Scenario, error) {
	file, err := os.Open(path)
	if err != nil {
		return Scenario{}, err
	}
	defer func() { _ = file.Close() }()
	text, err := ReadText(file)
	if err != nil {
		return Scenario{}, err
	}
	s, err := parse(text, filepath.Dir(path), check)
	if err != nil {
		return Scenario{}, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// Read is [Load] for a text from r without a name. Files of samples are relative to dir.
func Read(r io.Reader, dir string, check func(Scenario) error) (Scenario, error) {
	text, err := ReadText(r)
	if err != nil {
		return Scenario{}, err
	}
	return parse(text, dir, check)
}

// maxText is the largest size of a scenario. A scenario has some kilobytes, or
// ten megabytes with the largest number of samples. Reading much more takes gigabytes of memory.
const maxText = 32 << 20

// ReadText reads a text up to the size that [Decode] rejects.
func ReadText(r io.Reader) ([]byte, error) {
	return io.ReadAll(io.LimitReader(r, maxText+1))
}

func parse(text []byte, dir string, check func(Scenario) error) (Scenario, error) {
	f, err := decodeFile(text)
	if err == nil {
		err = Locate(text, f.complete(dir, check))
	}
	if err == nil {
		err = Locate(text, cmp.Or(f.validateDebate(), f.validatePublished()))
	}
	if err != nil {
		return Scenario{}, err
	}
	return f.Scenario, nil
}

// complete inserts the samples of files into a scenario, and checks it.
func (s *Scenario) complete(dir string, check func(Scenario) error) error {
	err := s.Setting.EachDistribution(func(d *nemesis.Distribution) error {
		return readSamples(dir, d)
	})
	if err != nil {
		return err
	}
	if err := s.Validate(); err != nil {
		return err
	}
	return check(*s)
}
