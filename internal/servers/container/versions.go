//go:build linux

package container

import (
	"context"
	"strings"

	"github.com/moby/moby/client"
)

// Versions say what a run is made with: the engine, the image, and its Redis as far as
// the image tells. What cannot be found out is left out.
func (b Backend) Versions() map[string]string {
	ctx, cancel := context.WithTimeout(context.Background(), pullPatience)
	defer cancel()
	v := map[string]string{}
	e, err := connect(ctx)
	if err != nil {
		return v
	}
	if told, err := e.client.ServerVersion(ctx, client.ServerVersionOptions{}); err == nil {
		v["docker"] = told.Version
	}
	if b.Image == "" || e.named(ctx, b.Image) != nil {
		return v
	}
	if image, err := e.client.ImageInspect(ctx, b.Image); err == nil {
		v["image "+b.Image] = image.ID
		for _, line := range image.Config.Env {
			if version, is := strings.CutPrefix(line, "REDIS_VERSION="); is {
				v["redis-server"] = version
			}
		}
	}
	return v
}
