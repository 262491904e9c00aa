"""``ngym completion``."""

from __future__ import annotations

import click

SHELLS = ("bash", "zsh", "fish")


@click.command(short_help="Print a script that completes commands and task names in a shell.")
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell: str) -> None:
    """Print a script that completes commands and task names in a shell.

    Completing imports no task package. To use it:

    \b
    bash   eval "$(ngym completion bash)"        in ~/.bashrc
    zsh    eval "$(ngym completion zsh)"         in ~/.zshrc
    fish   ngym completion fish | source         in ~/.config/fish/config.fish
    """
    from click.shell_completion import get_completion_class

    from neurogym_core.cli._main import main

    found = get_completion_class(shell)
    assert found is not None  # click.Choice let nothing else through
    click.echo(found(main, {}, "ngym", "_NGYM_COMPLETE").source())
