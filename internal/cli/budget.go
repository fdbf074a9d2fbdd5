package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
)

// checkBudget returns an error for a --budget that is given and not positive.
func checkBudget(cmd *cobra.Command, budget time.Duration) error {
	if cmd.Flags().Changed("budget") && budget <= 0 {
		return fmt.Errorf("--budget %v: want more than 0", budget)
	}
	return nil
}

// withBudget returns a context that ends after the budget; 0: it does not.
func withBudget(ctx context.Context, budget time.Duration) (context.Context, context.CancelFunc) {
	if budget == 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, budget)
}

// shareOf returns a context that ends after an equal share of the time that ctx has left, if that is limited.
func shareOf(ctx context.Context, shares int) (context.Context, context.CancelFunc) {
	end, limited := ctx.Deadline()
	if !limited {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, time.Until(end)/time.Duration(shares))
}
