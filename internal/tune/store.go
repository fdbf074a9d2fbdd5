package tune

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/lockstorm/lockstorm/scenarios"
)

// AdviceFile is the file of an advice in its directory.
const AdviceFile = "tune.json"

// MarshalJSON writes what a file says in YAML as JSON, which [Load] reads too.
func (q Question) MarshalJSON() ([]byte, error) {
	type plain Question // without this method
	return scenarios.AsJSON(plain(q))
}

// UnmarshalJSON reads what MarshalJSON writes.
func (q *Question) UnmarshalJSON(text []byte) error {
	type plain Question
	var p plain
	err := scenarios.Decode(text, "question", &p)
	*q = Question(p)
	return err
}

// LoadAdvice reads the advice in a directory: all but the scenarios, which are files of their
// own. An error names the file.
func LoadAdvice(dir string) (a Advice, err error) {
	path := filepath.Join(dir, AdviceFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return a, fmt.Errorf("%s has no %s: it is not the directory of an advice", dir, AdviceFile)
	}
	if err == nil {
		err = json.Unmarshal(text, &a)
	}
	if err == nil && a.Question.Nodes == 0 {
		err = errors.New("it does not say what was asked: an older version of this program has made it")
	}
	if err != nil {
		return a, fmt.Errorf("%s: %w", path, err)
	}
	return a, nil
}
