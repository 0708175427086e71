"""What a request does to the records: (state, request, now) in, a Decision out, or a domain error.

Commands run the trigger tables and leave everything that follows from facts alone to `evaluate`.
"""
