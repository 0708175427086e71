"""The program that installs one host from the live system: disk, image, boot order, bootstrap, reboot."""
