// Command lockstorm puts distributed locks into a storm and says what holds.
package main

import "github.com/lockstorm/lockstorm/internal/cli"

func main() { cli.Main() }
