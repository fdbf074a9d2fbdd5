// Package restart is the sweeps of how long a node must stay away after it has lost its
// keys, with the formulas for it.
package restart
