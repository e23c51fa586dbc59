"""What tests of every folder share: builders, fakes, and clients of the local stack."""
