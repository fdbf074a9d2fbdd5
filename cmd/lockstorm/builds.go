//go:build !simulated

package main

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/lockstorm/lockstorm/internal/campaign"
)

// thisBuild identifies this program: by the commit of its sources if it was built from just these, and
// otherwise by the executable itself.
func thisBuild() (campaign.Build, error) {
	b := campaign.Build{Version: version(), Go: runtime.Version(), Arch: runtime.GOARCH}
	info, _ := debug.ReadBuildInfo()
	settings := map[string]string{}
	if info != nil {
		for _, s := range info.Settings {
			settings[s.Key] = s.Value
		}
	}
	if revision := settings["vcs.revision"]; revision != "" && settings["vcs.modified"] == "false" {
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
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // it was only read
	hash := sha256.New()
	if _, err := io.Copy(hash, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)[:20]), nil
}
