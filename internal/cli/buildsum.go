package cli

import (
	"os"

	"github.com/lockstorm/lockstorm/internal/files"
)

// buildSum identifies the code of this program: by the commit of its sources if it was built from just these, and
// otherwise by the executable itself.
func buildSum() (string, error) {
	if revision := setting("vcs.revision"); revision != "" && setting("vcs.modified") == "false" {
		return revision, nil
	}
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	sum, err := files.Sum(path)
	if err != nil {
		return "", err
	}
	return sum[:40], nil // as long as the revision of a commit
}
