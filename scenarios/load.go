package scenarios

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/lockstorm/lockstorm/internal/form"
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
	s, err := Read(file, filepath.Dir(path), check)
	if err != nil {
		return Scenario{}, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// Read is [Load] for a text from r without a name. Files of samples are relative to dir.
func Read(r io.Reader, dir string, check func(Scenario) error) (Scenario, error) {
	text, err := form.ReadText(r)
	if err != nil {
		return Scenario{}, err
	}
	f, err := parse(text, func(s *Scenario) error {
		err := s.Setting.EachDistribution(func(d *nemesis.Distribution) error { return readSamples(dir, d) })
		if err == nil {
			err = s.Validate()
		}
		if err == nil {
			err = check(*s)
		}
		return err
	})
	return f.Scenario, err
}

// Parse reads one scenario in YAML, or in JSON, which is part of YAML. An
// error names the line; unknown fields are errors.
func Parse(text []byte) (Scenario, error) {
	f, err := parseFile(text)
	return f.Scenario, err
}

// parseFile is [Parse] for the whole content of a scenario file.
func parseFile(text []byte) (File, error) {
	return parse(text, func(s *Scenario) error { return s.Validate() })
}

// parse reads a scenario file. complete checks the scenario, and may complete it.
func parse(text []byte, complete func(*Scenario) error) (f File, err error) {
	if err := form.Decode(text, "scenario", &f); err != nil {
		return File{}, err
	}
	err = complete(&f.Scenario)
	if err == nil {
		err = f.validateNotes()
	}
	if err != nil {
		return File{}, form.Locate(text, err)
	}
	return f, nil
}

// Print writes the scenario as YAML.
func (s Scenario) Print(w io.Writer) error { return form.Print(w, s) }

// Words describes the lock on one line, by the fields that a file would set.
func (l Lock) Words() string { return flow(l) }

// Words describes the client on one line, by the fields that a file would set.
func (c Client) Words() string { return flow(c) }

// flow prints a value on one line, as in "kind: redlock, ttl: 1s".
func flow(v any) string {
	var n yaml.Node
	if err := n.Encode(v); err != nil {
		return fmt.Sprint(err)
	}
	n.Style = yaml.FlowStyle
	for _, child := range n.Content {
		child.Style &^= yaml.LiteralStyle
		if child.Kind == yaml.MappingNode {
			child.Style = yaml.FlowStyle
		}
	}
	text, err := yaml.Marshal(&n)
	if err != nil {
		return fmt.Sprint(err)
	}
	line := strings.Join(strings.Fields(string(text)), " ") // the printer breaks long lines
	return strings.TrimSuffix(strings.TrimPrefix(line, "{"), "}")
}
