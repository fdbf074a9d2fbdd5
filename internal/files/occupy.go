package files

import (
	"errors"
	"fmt"
	"os"
)

// Occupy creates a directory if necessary and locks it for this process, on systems with such locks,
// until release is called. who says in the error who is there if another process has locked it, as in
// "another campaign".
func Occupy(dir, who string) (release func() error, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	held, err := Hold(dir)
	switch {
	case errors.Is(err, ErrHeld):
		return nil, fmt.Errorf("%s: %s is writing to it", dir, who)
	case errors.Is(err, errors.ErrUnsupported):
		return func() error { return nil }, nil
	case err != nil:
		return nil, err
	}
	return held.Close, nil
}
