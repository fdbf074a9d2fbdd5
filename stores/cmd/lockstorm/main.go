// Command lockstorm is the one of the root module, with the real servers of all stores.
package main

import (
	"github.com/lockstorm/lockstorm/internal/cli"
	"github.com/lockstorm/lockstorm/stores"
)

func main() { cli.Main(stores.Products()...) }
