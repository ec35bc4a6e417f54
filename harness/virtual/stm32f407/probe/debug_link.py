"""The debug probe's requests to a virtual board: memory accesses, the reset pin, and transfers that move no memory."""

from __future__ import annotations

from harness.virtual.link import Client, Operation, Request


class DebugLink:
    """The link to a board, as its debug probe uses it.

    All methods raise WaitError, NoAckError or DisconnectedError where the link fails.

    Args:
        client: the connection to the board.
    """

    def __init__(self, client: Client) -> None:
        self._client = client

    def close(self) -> None:
        """End the connection; the board goes on."""
        self._client.close()

    def read_memory(self, address: int, size_bytes: int, width_bytes: int = 4) -> bytes:
        """Read as a debugger does through the memory access port.

        Args:
            address: where to start, a multiple of the width.
            size_bytes: how much, a multiple of the width.
            width_bytes: size of each bus access: 1, 2 or 4.

        Raises:
            BusFaultError: with the address.
        """
        return self._client.ask(Request(Operation.READ, address, size_bytes, width_bytes)).payload

    def write_memory(self, address: int, data: bytes, width_bytes: int = 4) -> None:
        """Write as a debugger does through the memory access port.

        Args:
            address: where to start, a multiple of the width.
            data: the bytes, a multiple of the width.
            width_bytes: size of each bus access: 1, 2 or 4.

        Raises:
            BusFaultError: with the address.
        """
        self._client.ask(Request(Operation.WRITE, address, 0, width_bytes, bytes(data)))

    def set_reset(self, asserted: bool) -> None:
        """Pull the nRST pin low, or let it go."""
        self._client.ask(Request(Operation.SET_RESET, int(asserted)))

    def is_reset_asserted(self) -> bool:
        """Whether the nRST pin is low."""
        return bool(self._client.ask(Request(Operation.GET_RESET)).address)

    def touch(self) -> None:
        """Count one transfer that moves no memory; fails where a fault is injected."""
        self._client.ask(Request(Operation.TOUCH))
