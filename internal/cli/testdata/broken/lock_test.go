package broken

import "github.com/lockstorm/lockstorm/locktest"

var _ = locktest.NoSuchThing
