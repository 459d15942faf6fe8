"""What a policy declares, and the budgets that follow from it."""
