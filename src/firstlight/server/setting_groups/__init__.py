"""The settings by what they are about; `server/settings.py` puts them together."""
