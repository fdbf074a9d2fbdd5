// Package rare estimates the probability that a run of a scenario violates a property, down to 10⁻⁹,
// by multilevel splitting.
//
// A run is a function of its random numbers, each of which is uniform. Its distance says how far it is
// from a violation: see [Distance]. Levels divide the distances. A population of runs is drawn; those
// that reach the next level are copied until the population is whole again; each is moved by a Markov
// kernel that changes some of its random numbers and rejects what falls behind the level; and so on,
// until the level of the violation. The product of the shares that reached each level is an unbiased
// estimate of the probability, if the levels were fixed before (Cérou, Del Moral, Furon and Guyader,
// Sequential Monte Carlo for rare event estimation, Statistics and Computing 22, 2012; for the kernel
// Au and Beck, Estimation of small failure probabilities in high dimensions by subset simulation,
// Probabilistic Engineering Mechanics 16, 2001).
//
// So a pilot population chooses the levels, and several independent populations estimate. Their
// spread gives the interval. Where the populations disagree, or do not reach a level, there is no
// figure.
package rare
