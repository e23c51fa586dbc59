"""Ports in memory. They pass the same contract tests as the stores on DynamoDB."""
