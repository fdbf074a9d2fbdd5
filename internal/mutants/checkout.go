package mutants

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// module is the path of the module that mutants are planted in.
const module = "github.com/lockstorm/lockstorm"

// Checkout is a checkout of the project, and what builds it.
type Checkout struct {
	root   string
	goTool string
}

// FindCheckout returns the checkout that a directory lies in. Without one, or without
// the Go toolchain, no mutant can be built.
func FindCheckout(dir string) (Checkout, error) {
	goTool, err := exec.LookPath("go")
	if err != nil {
		return Checkout{}, errors.New("mutants are built from source, and there is no Go toolchain in PATH (https://go.dev/dl)")
	}
	at, err := filepath.Abs(dir)
	if err != nil {
		return Checkout{}, err
	}
	for {
		if text, err := os.ReadFile(filepath.Join(at, "go.mod")); err == nil && strings.HasPrefix(string(text), "module "+module+"\n") {
			return Checkout{root: at, goTool: goTool}, nil
		}
		up := filepath.Dir(at)
		if up == at {
			return Checkout{}, fmt.Errorf("mutants are built from source, and %s is not in a checkout of %s", dir, module)
		}
		at = up
	}
}

// Check returns a [MovedOnError] if a mutant can no longer be planted.
func (c Checkout) Check(m Mutant) error {
	_, err := m.sources(c.root)
	return err
}
