package main

import (
	"errors"
	"maps"

	"github.com/spf13/pflag"

	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/servers/container"
)

// containerFlags are those with which a user says what runs in the containers.
func containerFlags(set *pflag.FlagSet) func() (runner.Backend, error) {
	var b container.Backend
	set.StringVar(&b.Image, "redis-image", "", "run this image, which has redis-server in its PATH, as redis:7 (default: one that is built of the redis-server here)")
	set.StringVar(&b.Preload, "redis-preload", "", "what redis-server has to preload in that image for a clock of its own, libfaketime.so.1:libc.so.6 with their paths (default: nothing, and clocks of nodes cannot be set)")
	return func() (runner.Backend, error) {
		if b.Preload != "" && b.Image == "" {
			return runner.Backend{}, errors.New("--redis-preload is for an image that --redis-image names")
		}
		return contained(b), nil
	}
}

// contained is a backend of containers as storm knows it.
func contained(b container.Backend) runner.Backend {
	return runner.Backend{Ability: ability(b), Open: runner.Opener(b.Open), Versions: func() map[string]string {
		v := b.Versions()
		if b.Image == "" {
			maps.Copy(v, ofLocalServer())
		}
		return v
	}}
}
