"""What is promised: step-size conditions, rates and recommended parameters of the theorems."""
