"""`harness worker`."""

from __future__ import annotations

import ipaddress
import platform
from pathlib import Path
from urllib.parse import urlsplit

import click

from harness.errors import PluginError, UsageError

_LOOPBACK = "127.0.0.1"


@click.command()
@click.argument("scheduler", default=f"tcp://{_LOOPBACK}:8786")
@click.option(
    "--bench", required=True, type=click.Path(path_type=Path), help="File that lists the units of this machine."
)
@click.option("--name", help="Name of this worker; its units are called NAME/UNIT.  [default: the machine's]")
@click.option("--listen", default=_LOOPBACK, show_default=True, help="Address of this machine to listen at.")
def command(*, scheduler: str, bench: Path, name: str | None, listen: str) -> int:
    """Offer the units of this machine to sweeps on other machines, until Ctrl-C.

    SCHEDULER is the address of a dask scheduler, by default on this machine. Whoever can reach a scheduler or worker
    can run anything on it: between machines use tls://, with dask's settings for TLS (distributed.comm.tls).
    """
    from harness.bench.file import read_bench

    try:
        from harness.cluster.worker import serve
    except ImportError as error:
        raise PluginError(f"dask cannot be loaded: {error}", hint="pip install 'harness[cluster]'") from error
    from harness.sweep.claims import claim_duts

    duts = read_bench(bench)
    if not duts:
        raise UsageError("the bench file lists no unit", where=bench)
    scheduler = scheduler if "://" in scheduler else f"tcp://{scheduler}"
    if not scheduler.startswith("tls://") and not (_is_loopback(listen) and _is_loopback(urlsplit(scheduler).hostname)):
        click.echo("warning: not encrypted, and open to whoever reaches this machine; use tls://", err=True)
    with claim_duts(duts, lambda text: click.echo(text, err=True)) as free:
        click.echo(f"offering {', '.join(dut.name for dut in free)} to {scheduler}", err=True)
        serve(free, scheduler, name or platform.node(), listen)
    return 0


def _is_loopback(host: str | None) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host or "").is_loopback
    except ValueError:
        return False
