package cli

import (
	"fmt"
	"runtime"
)

// supported returns an error if what the user chose needs Linux and this is another system.
func supported(choice string, needsLinux bool) error {
	return supportedOn(runtime.GOOS, choice, needsLinux)
}

func supportedOn(system, choice string, needsLinux bool) error {
	if !needsLinux || system == "linux" {
		return nil
	}
	return fmt.Errorf("%s: needs Linux, not %s (the image ghcr.io/lockstorm/lockstorm:servers has all it needs; --backend sim runs everywhere)", choice, system)
}
