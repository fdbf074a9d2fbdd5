package report

import (
	"bufio"
	"fmt"

	"github.com/lockstorm/lockstorm/internal/jepsen"
	"github.com/lockstorm/lockstorm/internal/show/runpage"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// LoadHistory checks the history in a file.
func LoadHistory(path string) (runpage.Shown, error) {
	command := textfmt.Command("check", path)
	open := runpage.OpenHistory(path)
	text, err := open()
	if err != nil {
		return runpage.Shown{}, err
	}
	begin, _ := bufio.NewReader(text).Peek(512)
	_ = text.Close()
	if jepsen.Looks(begin) {
		return runpage.Shown{}, fmt.Errorf("%s: a Jepsen history, and reports show histories of Lockstorm: %s checks it", path, command)
	}
	s, err := runpage.Judged(TitleOf([]string{path}), open)
	s.Command = command
	if err != nil {
		return s, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}
