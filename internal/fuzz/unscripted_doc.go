// Package unscripted hunts for what the rows of the debate show, without being told how
// they show it: each around its lock and its world, with the kinds of faults that its
// plan has and those of the network, and with no plan.
package fuzz
