"""In-memory implementations of the ports. They pass the contract tests of the DynamoDB stores."""
