// Package drift is the sweeps of how wrong clocks may be, with the formulas for it.
package drift
