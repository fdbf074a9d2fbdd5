//go:build !simulated

package main

import (
	"os"
	"runtime"

	"github.com/lockstorm/lockstorm/internal/campaign"
	"github.com/lockstorm/lockstorm/internal/files"
)

// thisBuild identifies this program: by the commit of its sources if it was built from just these, and
// otherwise by the executable itself.
func thisBuild() (campaign.Build, error) {
	b := campaign.Build{Version: version(), Go: runtime.Version(), Arch: runtime.GOARCH}
	if revision := setting("vcs.revision"); revision != "" && setting("vcs.modified") == "false" {
		b.Sum = revision
		return b, nil
	}
	sum, err := sumOfExecutable()
	b.Sum = sum
	return b, err
}

func sumOfExecutable() (string, error) {
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
