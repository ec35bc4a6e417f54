"""The virtual ESP32 on a DevKitC: ROM boot loader, reset circuit, SPI flash, and QEMU as the core."""
