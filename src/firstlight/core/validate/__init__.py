"""Rules for single fields of a request: each check returns the value to keep or raises Invalid with a sentence.

Every check takes time linear in the length of its input; regular expressions never nest their repetitions.
"""
