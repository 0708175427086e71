"""Everything worth telling: one class per event, the catalogue of their names, and the form in which they are kept."""
