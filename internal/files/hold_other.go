//go:build !unix || aix || solaris

package files

import (
	"errors"
	"os"
)

// Hold cannot be had here.
func Hold(string) (*os.File, error) { return nil, errors.ErrUnsupported }
