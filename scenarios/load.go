package scenarios

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/lockstorm/lockstorm/nemesis"
)

// Load reads the scenario in a file, and the files of samples that it names;
// their names are relative to the directory of the scenario. The scenario that
// it returns holds the samples and names no file any more. check may find more
// to object to. An error names the file and, where it is known, the line.
func Load(path string, check func(Scenario) error) (Scenario, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Scenario{}, err
	}
	s, err := decode(text)
	if err == nil {
		err = Locate(text, s.complete(filepath.Dir(path), check))
	}
	if err != nil {
		return Scenario{}, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// complete puts the samples of files into a scenario, and checks it.
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
