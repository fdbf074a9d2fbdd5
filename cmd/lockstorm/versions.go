package main

import (
	"runtime"
	"runtime/debug"
)

// versions says what a run was made with.
func versions() map[string]string {
	v := map[string]string{"go": runtime.Version(), "lockstorm": "(unknown)"}
	if info, ok := debug.ReadBuildInfo(); ok {
		v["lockstorm"] = info.Main.Version
		for _, dep := range info.Deps {
			switch dep.Path {
			case "github.com/redis/go-redis/v9", "github.com/Shopify/toxiproxy/v2", "github.com/anishathalye/porcupine":
				v[dep.Path] = dep.Version
			}
		}
	}
	return v
}
