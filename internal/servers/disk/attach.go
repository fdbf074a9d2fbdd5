package disk

import (
	"path/filepath"

	"github.com/lockstorm/lockstorm/internal/servers/child"
)

// Attach returns a directory for the data of a server. With lossy set that is on a new disk, which goes with
// the group; else it is on the machine's, and d is nil.
func Attach(lossy bool, g *child.Group, server *child.Daemon) (d *Disk, dir string, err error) {
	if !lossy {
		return nil, server.Dir, nil
	}
	d, err = Mount(filepath.Join(server.Dir, "disk"), g.Report)
	if err != nil {
		return nil, "", err
	}
	g.OnClose(d.Close)
	return d, d.Dir(), nil
}
