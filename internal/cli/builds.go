//go:build !simulated

package cli

import (
	"runtime"

	"github.com/lockstorm/lockstorm/internal/campaign"
)

// thisBuild identifies this program.
func thisBuild() (campaign.Build, error) {
	sum, err := buildSum()
	return campaign.Build{Version: version(), Go: runtime.Version(), Arch: runtime.GOARCH, Sum: sum}, err
}
