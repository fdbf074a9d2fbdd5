// Package tune finds settings of a lock for what an operator knows and wants.
package tune
