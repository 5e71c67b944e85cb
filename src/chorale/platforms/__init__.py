"""Clients of recruitment, payment, e-mail and model services, and the simulated crowd."""
